//! JSON: a strict, streaming lexer of our own, a cutter on top of it, and getters.
//!
//! `serde-json-core` is a binder, not a judge. So the [`Lexer`] validates every byte in pieces of
//! any length, in constant memory and without recursion; the [`Cutter`] walks the containers that
//! its [`Reader`] enters and cuts out the values that it takes; an [`Element`] is such a value,
//! whole and validated. Small values are read by its getters, objects with many fields are bound
//! to a struct by [`Element::bind`].
//!
//! Nothing depends on key order, on white space, or on a document fitting in memory. What must fit
//! is one taken element and the keys of one path.
//!
//! ```
//! use loader_core::error::{Error, ManifestCode, Stage};
//! use loader_core::json::{self, Cutter, Element, Kind, Memory, Path, Reader, Shape, Type, Want};
//! use serde::Deserialize;
//!
//! /// One variable, as far as this example cares.
//! #[derive(Deserialize)]
//! struct Variable<'a> {
//!     var_id: u32,
//!     #[serde(borrow)]
//!     r#type: json::Text<'a>,
//!     size: Option<u64>,
//! }
//! const VARIABLE: Shape = Shape {
//!     fields: &[("var_id", json::U32), ("type", Type::Text), ("size", json::U64)],
//!     repeats: json::Repeats::Refused,
//! };
//!
//! struct Sizes {
//!     scratch: [u8; 256],
//!     total: u64,
//! }
//!
//! impl Reader for Sizes {
//!     fn value(&mut self, path: &Path<'_>, _: Kind, _: u64) -> Result<Want, Error> {
//!         Ok(match path.depth() {
//!             0 => Want::Enter,
//!             1 if path.is(&["var"]) => Want::EnterUnique,
//!             2 => Want::Take, // only inside `var`: nothing else at depth 1 is entered
//!             _ => Want::Skip,
//!         })
//!     }
//!
//!     fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
//!         let bound = element.bind::<Variable<'_>>(&VARIABLE, &mut self.scratch);
//!         let variable = bound.map_err(|why| {
//!             path.name(why.error(Stage::Manifest, ManifestCode::JsonMalformed))
//!         })?;
//!         if variable.r#type.is(b"file") {
//!             self.total += variable.size.unwrap_or(0) << variable.var_id;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let document = br#"{"x": [1, 2], "var": {"a": {"type": "file", "size": 8, "var_id": 0},
//!                     "b": {"size": 16, "var_id": 1, "new": {"deep": []}, "type": "fi\u006ce"}}}"#;
//! let (mut element, mut keys) = ([0u8; 256], [0u8; 256]);
//! let mut sizes = Sizes { scratch: [0; 256], total: 0 };
//! let memory = Memory { element: &mut element, keys: &mut keys };
//! let mut cutter = Cutter::new(&Default::default(), memory);
//! for piece in document.chunks(7) {
//!     cutter.feed(piece, &mut sizes).unwrap();
//! }
//! cutter.finish(&mut sizes).unwrap();
//! assert_eq!(sizes.total, 8 + (16 << 1));
//! ```

mod cutter;
mod element;
mod fault;
mod float;
mod integer;
mod kind;
mod lexer;
mod shape;
mod text;
mod walk;

pub use cutter::{Cutter, ENTERED_MAX, Memory, Path, Reader, Segment, Want};
pub use element::Element;
pub use fault::{Expected, Fault, Found, Mismatch};
pub use integer::{Integer, Integers};
pub use kind::Kind;
pub use lexer::{DEPTH_MAX, Event, Lexer};
pub use shape::{Repeats, Shape, Type, U8, U32, U64, Unbound};
pub use text::Text;
pub use walk::{Fields, Items};

use crate::error::{Error, ManifestCode, Stage};
use crate::limits::Limits;

/// Refuses a JSON member that is larger than the limit, before a byte of it is read.
///
/// # Errors
/// E120 with the name, the size and the maximum.
pub fn check_size(name: &[u8], size: u64, limits: &Limits) -> Result<(), Error> {
    if size <= limits.json_bytes {
        return Ok(());
    }
    let error = Error::new(Stage::Manifest, ManifestCode::JsonTooLarge);
    Err(error.name(name).numbers(size, limits.json_bytes))
}

#[cfg(test)]
mod tests;
