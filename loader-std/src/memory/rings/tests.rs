use super::count;
use crate::memory::variables::Variables;

fn descriptors(text: &str) -> u64 {
    let rings = count(text.as_bytes(), &Variables::default()).unwrap();
    rings.io + rings.spill
}

#[test]
fn manifests_z09() {
    let transfers = r#"{"dma": [{"id": 0, "desc": [
        {"from": "a", "to": "b", "from_sizes": [256], "to_sizes": [256]},
        {"to_sizes": [64, 8], "from_sizes": [64, 8], "to": "b", "from": "a"}]}]}"#;
    assert_eq!(descriptors(transfers), 82);
    assert_eq!(descriptors(transfers) * 16, 1312);
}

#[test]
fn parts_take_the_transfers_destination_unless_they_have_their_own() {
    let gather = r#"{"dma": [{"desc": [{"from_arr": [
        {"from": "a", "from_sizes": [4, 2, 3]},
        {"from": "b", "from_sizes": [4], "to_sizes": [4, 5]},
        {"from": "c"}], "to_sizes": [4, 7]}]}]}"#;
    assert_eq!(descriptors(gather), (6 + 7 + 32) + (1 + 5 + 32) + (1 + 7 + 32));
}

#[test]
fn a_transfer_without_sizes_is_one_run_a_side_and_none_without_a_source() {
    assert_eq!(descriptors(r#"{"dma": [{"desc": [{"from": "a"}]}]}"#), 34);
    assert_eq!(descriptors(r#"{"dma": [{"desc": [{}]}], "instr": "x"}"#), 0);
}

#[test]
fn the_first_of_two_equal_keys_counts() {
    let transfer = r#"{"from": "a", "to": "b", "from_sizes": [256], "to_sizes": [256]}"#;
    let twice = format!(
        r#"{{"dma": [{{"desc": [{transfer}], "desc": [{transfer}, {transfer}]}}], "dma": [{{"desc": [{transfer}]}}]}}"#
    );
    assert_eq!(descriptors(&twice), 34);
    let sizes = r#"{"dma": [{"desc": [{"from": "a", "from_sizes": [4, 2], "from_sizes": [4, 9]}]}]}"#;
    assert_eq!(descriptors(sizes), 2 + 1 + 32);
    let parts = r#"{"dma": [{"desc": [{"from_arr": [{"from": "a"}], "from_arr": [{"from": "a"}, {}]}]}]}"#;
    assert_eq!(descriptors(parts), 34);
}

#[test]
fn a_number_of_descriptors_above_64_bits_is_refused() {
    let count = |sizes: &str| {
        let text = format!(r#"{{"dma": [{{"desc": [{{"from": "a", "from_sizes": {sizes}}}]}}]}}"#);
        count(text.as_bytes(), &Variables::default()).map_err(|refusal| refusal.error.id().to_string())
    };
    assert_eq!(count("[1, 4294967296, 4294967295]").map(|rings| rings.spill), Ok(0xFFFF_FFFF_0000_0000 + 33));
    assert_eq!(count("[1, 4294967296, 4294967296]").unwrap_err(), "M105");
    assert_eq!(count("[1, 18446744073709551615]").unwrap_err(), "M105");
}
