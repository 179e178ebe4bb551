#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;
use super::*;
use std::vec::Vec;

fn parse(text: &str) -> Element<'_> {
    Element::parse(text.as_bytes(), &Default::default()).unwrap()
}

#[test]
fn info_keeps_what_it_knows() {
    let info = Info::read(parse(
        r#"{"tool_version":"2.23.1","name":"file.neff","num_tpb":1,"num_tpb_requested":"1","num_tpb_per_node":[1,0,0]}"#,
    ));
    assert!(info.tool_version.unwrap().is(b"2.23.1"));
    assert!(info.name.unwrap().is(b"file.neff"));
    assert_eq!((info.num_tpb, info.num_tpb_requested), (Some(1), None));
    assert_eq!(info.num_tpb_per_node().collect::<Vec<_>>(), [1, 0, 0]);
    assert!(info.nki_version.is_none() && info.kelp_version.is_none());
}

#[test]
fn mac_counts_of_both_spellings() {
    assert_eq!(mac_count(parse(r#"{"HloMacCount":7,"mac_count":8}"#)), Some(7));
    assert_eq!(mac_count(parse(r#"{"mac_count":8}"#)), Some(8));
    assert_eq!(mac_count(parse(r#"{"HloMacCount":-1}"#)), None);
}

#[test]
fn metrics_are_rows() {
    let rows = parse(r#"[{"MetricName":"TPBCount","Value":1,"Unit":"Count"},{"Value":2},5]"#);
    let rows: Vec<_> = metrics(rows).collect();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].name.is(b"TPBCount") && rows[0].unit.unwrap().is(b"Count"));
    assert!((rows[0].value - 1.0).abs() < f64::EPSILON);
}

#[test]
fn tensor_maps_of_real_files() {
    for text in [
        r#"{"x":{"kind":"input","dtype":"f"},"y":{"kind":"output"},"c":{"is_const":true}}"#,
        r#"{"tensor_map":{"x":{"kind":"input"},"y":{"kind":"output"},"c":{"is_const":true}}}"#,
    ] {
        let map = TensorMap::read(parse(text));
        assert!(!map.is_listed());
        let kinds: Vec<_> = map.tensors().map(|tensor| tensor.kind).collect();
        assert_eq!(kinds, [TensorKind::Input, TensorKind::Output, TensorKind::Constant]);
        assert_eq!(map.aliases().count(), 0);
    }
}

#[test]
fn tensor_maps_with_aliases() {
    let map = TensorMap::read(parse(
        r#"{"inputs":[{"name":"k"},{"name":"t"}],"outputs":[{"name":"o"}],
            "alias_map":[{"input_name":"k","output_name":"o","must_alias":true},{"input_name":"t","output_name":"o"}]}"#,
    ));
    assert!(map.is_listed());
    assert_eq!(map.tensors().count(), 3);
    let must: Vec<_> = map.aliases().map(|alias| alias.must).collect();
    assert_eq!(must, [true, false]);
}
