//! JSON documents with their schema.

use serde_json::{Map, Value};
use std::fmt;

/// A JSON object whose first key is `"schema": "neffload.<subcommand>/1"`.
#[derive(Clone, Debug)]
pub(crate) struct Document(Map<String, Value>);

impl Document {
    /// An empty document of a subcommand.
    pub(crate) fn new(subcommand: &str) -> Self {
        let mut map = Map::new();
        map.insert("schema".to_owned(), format!("neffload.{subcommand}/1").into());
        Self(map)
    }

    /// Sets a key.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// The value of a key; null if it is not set.
    pub(crate) fn get(&self, key: &str) -> &Value {
        self.0.get(key).unwrap_or(&Value::Null)
    }

    /// Appends the items of one array to the array of a key.
    pub(crate) fn append(&mut self, key: &str, items: Value) -> &mut Self {
        let present = self.0.entry(key.to_owned()).or_insert_with(|| Value::Array(Vec::new()));
        if let (Value::Array(present), Value::Array(items)) = (present, items) {
            present.extend(items);
        }
        self
    }
}

impl From<Document> for Value {
    fn from(document: Document) -> Self {
        Self::Object(document.0)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}
