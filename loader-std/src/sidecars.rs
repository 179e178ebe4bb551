//! Remarks on members that no load needs: `info.json`, the tensor map, `hlo_stats.json` (manifests.md §16 to §18).
//!
//! Nothing that they say, or fail to say, refuses a file.

use crate::info::Selector;
use loader_core::error::{Error, ManifestCode, Stage, StageCode};
use loader_core::json::{Element, Kind};
use loader_core::limits::Limits;
use loader_core::manifest::sidecar::TensorMap;
use loader_core::source::{MemberId, Payload};
use loader_core::stage::register::{MEMBER, mac_count};
use std::collections::BTreeMap;

/// A remark if `info.json` is there and is no JSON object. One that is not at hand is not looked at.
#[must_use]
pub fn info<'m, P: Payload<'m>>(payload: &P, limits: &Limits) -> Option<Error> {
    let member = payload.table().find(&[b"info.json"])?;
    let bytes = payload.borrow(member.id)?;
    let malformed = Error::new(Stage::Manifest, ManifestCode::InfoMalformed).member(member.id);
    match Element::parse(bytes, limits) {
        Ok(root) if root.kind() == Kind::Object => None,
        Ok(root) => Some(malformed.offset(root.offset())),
        Err(error) => Some(malformed.offset(error.at().offset.unwrap_or(0))),
    }
}

/// Remarks on the first tensor map, as the tools select it: outputs that take the buffers of several inputs. The
/// reference does not check that (§17.2).
#[must_use]
pub fn tensor_map<'m, P: Payload<'m>>(payload: &P, limits: &Limits) -> Vec<Error> {
    let Ok(selector) = Selector::new(crate::info::TENSOR_MAP, false) else { return Vec::new() };
    let table = payload.table();
    let first = table.iter().filter(|member| selector.finds(member.name)).min_by_key(|member| member.name);
    let document = first.and_then(|member| Some((member.id, payload.borrow(member.id)?)));
    let parsed = document.and_then(|(id, bytes)| Some((id, Element::parse(bytes, limits).ok()?)));
    parsed.map_or_else(Vec::new, |(id, root)| aliases(root).into_iter().map(|note| note.member(id)).collect())
}

/// The same for the map itself.
pub(crate) fn aliases(root: Element<'_>) -> Vec<Error> {
    let mut inputs: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut notes = Vec::new();
    for alias in TensorMap::read(root).aliases() {
        let (input, output): (Vec<u8>, Vec<u8>) =
            (alias.input.bytes().collect(), alias.output.bytes().collect());
        match inputs.get(&output) {
            Some(other) if *other != input => {
                let note = Error::new(Stage::Manifest, ManifestCode::AliasShared);
                notes.push(note.name(&output).name2(&input));
            }
            Some(_) => {}
            None => drop(inputs.insert(output, input)),
        }
    }
    notes
}

/// The multiply-accumulate count, or the remark that there is none.
///
/// # Errors
/// W802 without `hlo_stats.json`, W803 if it states no count.
pub fn statistics<'m, P: Payload<'m>>(payload: &P, limits: &Limits) -> Result<u64, Error> {
    let note = |code| Error::new(Stage::Register, code);
    let member = payload.table().find(&[MEMBER]).ok_or_else(|| note(StageCode::NoStatistics))?;
    let count = payload.borrow(member.id).and_then(|bytes| mac_count(bytes, limits));
    let unread = |id: MemberId| note(StageCode::StatisticsUnread).member(id);
    count.ok_or_else(|| unread(member.id))
}

#[cfg(test)]
mod tests {
    use super::aliases;
    use loader_core::json::Element;
    use loader_core::limits::Limits;

    #[test]
    fn two_inputs_of_one_output_are_remarked_on() {
        let map = br#"{"inputs": [], "alias_map": [
            {"input_name": "a", "output_name": "x"}, {"input_name": "b", "output_name": "y"},
            {"input_name": "a", "output_name": "x"}, {"input_name": "c", "output_name": "x"}]}"#;
        let notes = aliases(Element::parse(map, &Limits::DEFAULT).unwrap());
        let texts: Vec<String> = notes.iter().map(|note| note.log().to_string()).collect();
        assert_eq!(texts, ["output x takes the buffer of c and of another input"]);
        assert_eq!(notes[0].id().to_string(), "W392");
    }
}
