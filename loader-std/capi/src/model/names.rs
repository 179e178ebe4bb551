//! Names that the interface can carry: C strings that fit the record of the tensor information.

use crate::failure::{Answer, Failure};

/// Bytes of a record's name, the final NUL included.
pub(crate) const FIELD: usize = 256;

/// Longest name that a program can be told, and that it can give.
pub(crate) const LONGEST: usize = FIELD - 1;

/// Refuses a tensor whose name is none that a program can be told. Cut short it would name another tensor.
pub(crate) fn carried(name: &[u8], kind: &str) -> Answer {
    let why = match name.len() {
        long if long > LONGEST => format!("is {long} bytes long and the interface carries {LONGEST}"),
        _ if name.contains(&0) => "holds a NUL, which ends a name of the interface".to_owned(),
        _ => return Ok(()),
    };
    // NUL is no text for a log either.
    let name = String::from_utf8_lossy(name).replace('\0', "\\0");
    Err(Failure::invalid(format_args!("the model's {kind} `{name}` has a name that {why}")))
}

#[cfg(test)]
mod tests {
    use super::carried;

    #[test]
    fn what_a_record_holds_is_carried_and_nothing_else() {
        for name in ["", "x", &"é".repeat(127), &"i".repeat(255)] {
            carried(name.as_bytes(), "input").unwrap();
        }
        for (name, why) in
            [("é".repeat(128), "256 bytes"), ("i".repeat(300), "300 bytes"), ("a\0b".into(), "NUL")]
        {
            let refused = carried(name.as_bytes(), "output").unwrap_err();
            assert_eq!(refused.status.number(), 2);
            assert!(refused.text.contains(why) && refused.text.contains("output"), "{}", refused.text);
            assert!(!refused.text.contains('\0'));
        }
    }
}
