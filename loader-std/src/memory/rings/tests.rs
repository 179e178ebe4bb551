use super::count;
use crate::memory::variables::Variables;

fn descriptors(text: &str) -> u64 {
    count(text.as_bytes(), &Variables::default()).unwrap().descriptors()
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
