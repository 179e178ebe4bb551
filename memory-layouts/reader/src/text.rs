//! The lines of a layout.

use super::Value;
use std::collections::BTreeMap;

type Entries = BTreeMap<(String, String), Value>;

/// Every `key = value` with its section; a value without a reason is refused.
pub(crate) fn entries(text: &str) -> Result<Entries, String> {
    let mut entries = Entries::new();
    let (mut section, mut reason_above) = (String::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let at = |sentence: String| format!("line {number}: {sentence}");
        if line.is_empty() {
            reason_above = false;
        } else if line.starts_with('#') {
            reason_above = line.len() > 2;
        } else if let Some(name) = line.strip_prefix('[') {
            section = name.strip_suffix(']').ok_or_else(|| at("a section ends with `]`".into()))?.to_string();
            reason_above = false;
        } else {
            let (key, value, reason) = entry(&section, line).map_err(at)?;
            if !reason && !reason_above {
                return Err(at(format!("{section}.{key} has no reason: say why in a comment")));
            }
            if entries.insert((section.clone(), key.clone()), value).is_some() {
                return Err(at(format!("{section}.{key} is there twice")));
            }
            reason_above = false;
        }
    }
    Ok(entries)
}

/// `key = value # reason`.
fn entry(section: &str, line: &str) -> Result<(String, Value, bool), String> {
    let (key, rest) = line.split_once('=').ok_or_else(|| format!("`{line}` is no `key = value`"))?;
    let (key, rest) = (key.trim(), rest.trim());
    let (value, comment) = match rest.strip_prefix('"') {
        Some(open) => {
            let (text, after) = open
                .split_once('"')
                .ok_or_else(|| format!("{section}.{key} is `{rest}`, which has no closing quote"))?;
            (Value::Name(text.to_string()), after.trim())
        }
        None => {
            let (digits, comment) = rest.find('#').map_or((rest, ""), |at| rest.split_at(at));
            let digits = digits.trim().replace('_', "");
            let number = digits.parse().map_err(|_| {
                format!("{section}.{key} is `{digits}`, which is no number of bytes or things")
            })?;
            (Value::Number(number), comment)
        }
    };
    Ok((key.to_string(), value, comment.strip_prefix('#').is_some_and(|why| !why.trim().is_empty())))
}
