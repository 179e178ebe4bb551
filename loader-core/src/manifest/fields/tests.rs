#![allow(clippy::unwrap_used)]
use super::*;
use crate::manifest::record::QueueRecord;
use zerocopy::FromZeros;

fields! {
    Key for QueueRecord {
        Type = b"type": Type::Word(Words::Role) => role,
        Owner = b"owner": Type::Word(Words::Engine) => owner,
        NumQueues = b"num_queues": Type::U32 => num_queues,
        Pinned = b"pinned": Type::Flag => flags,
        Offset = b"offset": Type::I32 => scratch_offset,
        Size = b"size": Type::U8,
        Set = b"set": Type::Own,
    }
}

fn said(text: &str) -> (Fields<Key>, Option<Wrong>) {
    let mut said = Fields::NONE;
    let object = Element::parse(text.as_bytes(), &Default::default()).unwrap();
    let wrong = said.object(object, &mut |value| value.as_u64());
    (said, wrong)
}

#[test]
fn values_go_where_their_rows_say_and_the_first_counts() {
    let (said, wrong) = said(
        r#"{"x": {"type": 1}, "num_\u0071ueues": 4, "num_queues": 9, "type": "act_load", "owner": "sp",
            "pinned": true, "offset": -2, "size": 255, "set": 7}"#,
    );
    assert_eq!(wrong.map(|wrong| wrong.offset), None);
    let mut record = QueueRecord::new_zeroed();
    said.place(&mut record);
    assert_eq!((record.role, record.owner, record.flags, record.num_queues.get()), (3, 4, 1, 4));
    assert_eq!(record.scratch_offset.get(), u32::MAX - 1);
    assert_eq!((said.get(Key::Size), said.get(Key::Set)), (Some(255), Some(7)));
    assert_eq!(said.first_absent(Key::Type, Key::Set), None);
    assert_eq!(said.first_bad(Key::Type, Key::Set), None);
}

#[test]
fn what_was_not_met_leaves_the_record_as_it_is() {
    let (said, _) = said(r#"{"type": "data"}"#);
    let mut record = QueueRecord::new_zeroed();
    (record.owner, record.num_queues) = (255, 1.into());
    said.place(&mut record);
    assert_eq!((record.role, record.owner, record.num_queues.get()), (2, 255, 1));
    assert!(said.has(Key::Type) && said.is_absent(Key::Owner) && !said.is_set(Key::Pinned));
    assert_eq!(said.first_absent(Key::Type, Key::Set), Some(&b"owner"[..]));
}

#[test]
fn a_word_that_is_not_known_is_no_value_and_is_remembered() {
    let (said, wrong) = said(r#"{"type": "da\u0074e", "owner": "pe"}"#);
    assert!(wrong.is_none());
    assert!(said.is_unknown(Key::Type) && !said.is_wrong(Key::Type) && !said.has(Key::Type));
    assert_eq!(said.shown(Key::Type), b"date");
    assert_eq!(said.first_bad(Key::Type, Key::Set), Some(&b"type"[..]));
    assert_eq!(said.first_bad(Key::Owner, Key::Set), None);
}

#[test]
fn the_first_wrong_value_is_named() {
    for (text, key, found) in [
        (r#"{"owner": "pe", "size": 256, "type": 1}"#, "size", Kind::Number),
        (r#"{"type": null}"#, "type", Kind::Null),
        (r#"{"pinned": 2}"#, "pinned", Kind::Number),
        (r#"{"num_queues": -1}"#, "num_queues", Kind::Number),
        (r#"{"set": "x"}"#, "set", Kind::String),
        (r#"[1]"#, "", Kind::Array),
    ] {
        let wrong = said(text).1.unwrap();
        assert_eq!((wrong.key, wrong.found), (key.as_bytes(), found), "{text}");
    }
}

#[test]
fn every_list_has_the_words_of_its_type() {
    let words = |words: Words| (0..).map_while(move |at| words.nth(at));
    assert!(words(Words::Role).eq(Role::ALL.map(Role::name)));
    assert!(words(Words::Fabric).eq(Fabric::ALL.map(Fabric::name)));
    assert!(words(Words::Backing).eq(Backing::ALL.map(Backing::name)));
    assert!(words(Words::Engine).eq(Engine::ALL.map(Engine::key)));
    assert!(words(Words::Class).eq(VarClass::ALL.map(VarClass::name).into_iter().chain(["local", "shared"])));
}
