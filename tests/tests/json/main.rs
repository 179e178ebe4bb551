//! The JSON reader: JSONTestSuite, a second reader, and hostile documents.

mod extremes;
mod reader;
mod suite;
