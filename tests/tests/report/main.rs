//! `neffload report`: the page says what the document says, needs neither network nor script, and a browser shows it.

mod bounds;
mod browser;
mod figures;
