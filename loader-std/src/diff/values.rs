//! Differences of JSON values: a path and both sides.

use super::snapshot::Named;
use serde::Serialize;
use serde_json::Value;

/// One place where two values differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Keys from the outermost, with points between.
    pub key: String,
    /// The first file's value; null if it has none.
    pub a: Value,
    /// The second file's value; null if it has none.
    pub b: Value,
}

/// A thing that both files have, and where it differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// At least one.
    pub differences: Vec<Difference>,
}

/// Things by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Names {
    /// In the second file only.
    pub added: Vec<String>,
    /// In the first file only.
    pub removed: Vec<String>,
    /// In both.
    pub changed: Vec<Changed>,
}

impl Names {
    /// No difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Every place where two values differ, by key. Objects are entered, arrays are compared whole.
pub(super) fn differences(a: &Value, b: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), a, b)];
    while let Some((key, a, b)) = open.pop() {
        match (a, b) {
            (Value::Object(old), Value::Object(new)) => {
                let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
                for inner in keys {
                    let path = if key.is_empty() { inner.clone() } else { format!("{key}.{inner}") };
                    open.push((
                        path,
                        old.get(inner).unwrap_or(&Value::Null),
                        new.get(inner).unwrap_or(&Value::Null),
                    ));
                }
            }
            _ if a == b => {}
            _ => found.push(Difference { key, a: a.clone(), b: b.clone() }),
        }
    }
    found.sort_by(|x, y| x.key.cmp(&y.key));
    found
}

/// What differs between things of the same name, as far as `counts` says of a key that it matters.
pub(super) fn by_name(a: &Named, b: &Named, counts: impl Fn(&str) -> bool) -> Names {
    let only = |of: &Named, not_in: &Named| -> Vec<String> {
        of.keys().filter(|name| !not_in.contains_key(*name)).cloned().collect()
    };
    let changed = a.iter().filter_map(|(name, old)| {
        let mut found = differences(old, b.get(name)?);
        found.retain(|difference| counts(&difference.key));
        (!found.is_empty()).then(|| Changed { name: name.clone(), differences: found })
    });
    Names { changed: changed.collect(), added: only(b, a), removed: only(a, b) }
}
