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
        map.insert("schema".to_owned(), Self::schema(subcommand).into());
        Self(map)
    }

    /// The first value of a document of a subcommand.
    pub(super) fn schema(subcommand: &str) -> String {
        format!("neffload.{subcommand}/1")
    }

    /// A document of a subcommand with these keys.
    pub(crate) fn of(subcommand: &str, keys: Map<String, Value>) -> Self {
        let mut document = Self::new(subcommand);
        document.0.extend(keys);
        document
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

    /// The whole document.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
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
