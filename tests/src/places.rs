//! Every refusal says where: what an error's place must hold, by its code.

use loader_core::error::{Code, Error};

/// Refusals that are about no part of a file: the request, the device, the memory, the library itself.
const NO_FILE: [&str; 21] = [
    "L801", "L901", "L902", "L903", "L904", "L905", "L906", "L908", "L909", "S101", "S102", "S103", "S105",
    "S108", "S107", "S301", "S304", "S305", "S513", "S801", "S901",
];

/// Refusals that are about a whole manifest.
const WHOLE: [&str; 17] = [
    "L104", "L201", "L301", "L306", "L313", "L402", "L405", "L501", "L505", "L601", "L602", "L702", "L802",
    "S104", "S106", "S214", "S412",
];

/// What lowering and planning must state.
///
/// # Panics
/// If the member, the element or the subgraph of a refusal is missing, or its texts do not print.
pub fn assert_placed(error: &Error) {
    let id = error.id().to_string();
    let stated = matches!(error.code(), Code::Lower(_) | Code::Stage(_));
    if !stated || NO_FILE.contains(&id.as_str()) {
        return;
    }
    assert!(error.at().member.is_some(), "{id} lacks its member: {error}");
    assert!(error.at().subgraph.is_some(), "{id} lacks its subgraph: {error}");
    let whole = WHOLE.contains(&id.as_str()) || id == "S215" || id == "S216";
    assert!(whole || error.at().element.is_some(), "{id} lacks its element: {error}");
    assert!(error.status().number() > 0, "{id} is a success");
    for text in [error.log().to_string(), error.expected().to_string()] {
        assert!(!text.contains('{') && !text.contains('}'), "{id}: {text}");
    }
    assert!(!error.log().to_string().is_empty());
}
