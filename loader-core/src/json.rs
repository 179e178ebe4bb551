//! A strict RFC 8259 lexer: streaming, depth-bounded without recursion, with byte offsets.
