//! The getters by their names, for a command line (manifests.md §19.2).

use super::{DEFINITION, KELF, NeffInfo, TENSOR_MAP};
use crate::members::Members;
use crate::refusal::Refusal;
use loader_core::error::ToolCode;
use serde_json::{Value, json};

/// Every getter's name, in the order of the roster. Only `findInNeff` takes an argument.
pub const GETTERS: [&str; 17] = [
    "findInNeff",
    "getNeffFile",
    "getKelf",
    "getInfoJson",
    "getNeffJson",
    "getDefJson",
    "getTensorMapJson",
    "getTensorMap",
    "getAliasInfo",
    "hasMustAlias",
    "getArchType",
    "hasCC",
    "getCCRankWorldSize",
    "getNumNc",
    "getNumNeuronCores",
    "kelfNodes",
    "members",
];

/// What a getter answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The value. `findInNeff` gives text, or lower-case hex if the bytes are not UTF-8.
    pub value: Value,
    /// How `findInNeff` gives the bytes: `utf-8` or `hex`.
    pub encoding: Option<&'static str>,
    /// The member that it was read from, if the getter reads one.
    pub member: Option<String>,
}

impl<M: Members> NeffInfo<M> {
    /// Asks a getter by its name.
    ///
    /// # Errors
    /// The getter's own refusals; N112 for a name that is none, N113 for a missing argument, N116 for one too many.
    pub fn get(&self, getter: &str, argument: Option<&str>) -> Result<Answer, Refusal> {
        if getter == "findInNeff" {
            return self.found(argument);
        }
        if argument.is_some() && GETTERS.contains(&getter) {
            return Err(Refusal::named(ToolCode::NoParameter, getter.as_bytes()));
        }
        let value = self.value(getter)?;
        let member = self.member_of(getter);
        Ok(Answer { value, member, encoding: None })
    }

    /// The text of a getter that gives a document, with every number as the file has it; `None` for another one.
    /// Lines after the first are indented by `depth` levels.
    ///
    /// # Errors
    /// The getter's own refusals.
    pub fn text(&self, getter: &str, depth: usize) -> Result<Option<String>, Refusal> {
        let root = match getter {
            "getKelf" => self.exactly(KELF)?,
            "getInfoJson" => self.exactly("info.json")?,
            "getNeffJson" => self.exactly("neff.json")?,
            "getDefJson" => self.definition()?.1,
            "getTensorMapJson" => self.tensor_map()?.1,
            _ => return Ok(None),
        };
        Ok(Some(super::value::text(root, depth)))
    }

    fn found(&self, argument: Option<&str>) -> Result<Answer, Refusal> {
        let pattern = argument.ok_or_else(|| Refusal::named(ToolCode::NoArgument, b"findInNeff"))?;
        let selected = self.find_in_neff(pattern)?;
        let (value, encoding) = match str::from_utf8(selected.content) {
            Ok(text) => (text.into(), "utf-8"),
            Err(_) => (crate::container::hex(selected.content).into(), "hex"),
        };
        Ok(Answer { value, member: Some(lossy(selected.name)), encoding: Some(encoding) })
    }

    fn value(&self, getter: &str) -> Result<Value, Refusal> {
        Ok(match getter {
            "getNeffFile" => json!(self.get_neff_file()),
            "getKelf" => self.get_kelf()?,
            "getInfoJson" => self.get_info_json()?,
            "getNeffJson" => self.get_neff_json()?,
            "getDefJson" => self.get_def_json()?,
            "getTensorMapJson" => self.get_tensor_map_json()?,
            "getTensorMap" => json!(self.get_tensor_map()?),
            "getAliasInfo" => json!(self.get_alias_info()?),
            "hasMustAlias" => self.has_must_alias()?.into(),
            "getArchType" => self.get_arch_type()?.into(),
            "hasCC" => self.has_cc()?.into(),
            "getCCRankWorldSize" => json!(self.get_cc_rank_world_size()?),
            "getNumNc" => self.get_num_nc()?.into(),
            "getNumNeuronCores" => self.get_num_neuron_cores()?.into(),
            "kelfNodes" => self.kelf_nodes()?.into(),
            "members" => self.members.names().map(lossy).collect::<Vec<_>>().into(),
            _ => return Err(Refusal::named(ToolCode::NoGetter, getter.as_bytes())),
        })
    }

    fn member_of(&self, getter: &str) -> Option<String> {
        let selected = |pattern| self.find_in_neff(pattern).ok().map(|found| lossy(found.name));
        match getter {
            "getKelf" | "getArchType" => Some(KELF.to_owned()),
            "getInfoJson" => Some("info.json".to_owned()),
            "getNeffJson" => Some("neff.json".to_owned()),
            "getDefJson" | "hasCC" | "getCCRankWorldSize" => selected(DEFINITION),
            "getTensorMapJson" | "getTensorMap" | "getAliasInfo" | "hasMustAlias" => selected(TENSOR_MAP),
            _ => None,
        }
    }
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
