use super::Layout;
use std::path::Path;

const HOST: &str = "[core]\njson_element = 8192 # a\njson_keys = 8192 # b\nsources = 32 # b\nsmall = 0 # c\n\n[device]\nkind = \"sim\" # d\nprofile = \"FLAT\" # e\n";

fn with(from: &str, to: &str) -> String {
    let text = HOST.replace(from, to);
    assert_ne!(text, HOST, "{from}");
    Layout::parse("mine", &text).unwrap_err()
}

#[test]
fn every_layout_of_the_project_makes_sense() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut images = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            images += usize::from(Layout::read(&path).unwrap().is_image());
        }
    }
    assert_eq!(images, 3);
}

#[test]
fn a_number_without_a_reason_is_refused() {
    assert_eq!(
        with("8192 # a", "8192"),
        "mine: line 2: core.json_element has no reason: say why in a comment"
    );
    let above = HOST.replace("json_element = 8192 # a", "# a\njson_element = 8192");
    assert_eq!(Layout::parse("mine", &above).unwrap().number("core", "json_element"), Some(8192));
}

#[test]
fn nonsense_is_a_sentence() {
    assert_eq!(
        with("json_element = 8192", "json_element = 12"),
        "mine: core.json_element is 12; it must be 512 to 65536: Bytes of the buffer for one JSON value: on the stack of S2 and S3, in the arena where `small` is 1."
    );
    assert_eq!(with("json_keys", "json_kays"), "mine: there is no key core.json_kays");
    assert_eq!(
        with("8192 # a", "many # a"),
        "mine: line 2: core.json_element is `many`, which is no number of bytes or things"
    );
    assert_eq!(
        with("\"FLAT\"", "\"ROUND\""),
        "mine: device.profile is `ROUND`; it must be one of FLAT, DRIVER"
    );
    assert_eq!(with("\"FLAT\"", "7"), "mine: device.profile must be a name in quotes");
    assert_eq!(with("small = 0", "json_keys = 0"), "mine: line 5: core.json_keys is there twice");
    assert!(with("small = 0 # c\n", "").starts_with("mine: core.small is missing: "));
    assert!(with("[device]", "[device").ends_with("a section ends with `]`"));
    assert!(with("kind = \"sim\"", "kind = \"sim").contains("has no closing quote"));
}

#[test]
fn an_image_needs_its_memory() {
    let image = format!("{HOST}[image]\ntarget = \"x86_64-unknown-linux-gnu\" # f\n");
    assert!(Layout::parse("mine", &image).unwrap_err().starts_with("mine: memory.arena is missing: "));
}

#[test]
fn numbers_are_judged_together() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cortex-m4.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let small = text.replace("ram = 4_194_304", "ram = 131072");
    assert_eq!(
        Layout::parse("mine", &small).unwrap_err(),
        "mine: memory.arena, memory.members and image.stack take 163840 bytes of image.ram 131072"
    );
    // Both arenas fit, but not with the stack.
    let tight = text.replace("ram = 4_194_304", "ram = 163840");
    assert!(Layout::parse("mine", &tight).unwrap_err().contains("image.stack take 163840 bytes"));
    let room = text.replace("ram = 4_194_304", "ram = 163841");
    assert!(Layout::parse("mine", &room).is_ok());
    let large = text.replace("json_element = 1536", "json_element = 65536");
    assert!(Layout::parse("mine", &large).unwrap_err().contains("more than half of memory.arena"));
}

#[test]
fn constants_have_types_and_reasons() {
    let layout = Layout::parse("mine", HOST).unwrap();
    let text = layout.constants(&["core", "device"]);
    assert!(text.contains("pub const CORE_JSON_ELEMENT: usize = 8192;\n"), "{text}");
    assert!(text.contains("pub const DEVICE_KIND: &str = \"sim\";\n"), "{text}");
}

#[test]
fn bare_metal_needs_its_machine() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cortex-m4.toml");
    let text = std::fs::read_to_string(path).unwrap();
    for key in ["embed", "linker", "ram"] {
        let without: String = text
            .lines()
            .filter(|line| !line.starts_with(&format!("{key} =")))
            .map(|line| line.to_string() + "\n")
            .collect();
        let sentence = Layout::parse("mine", &without).unwrap_err();
        assert!(sentence.starts_with(&format!("mine: image.{key} is missing: ")), "{sentence}");
    }
    let deep = text.replace("stack = 16384", "stack = 4194304");
    assert!(
        Layout::parse("mine", &deep)
            .unwrap_err()
            .starts_with("mine: image.stack is 4194304; it must be 4096 to 1048576")
    );
}

/// Whatever is wrong with a key, the sentence names it, and the file.
#[test]
fn sentences_name_key_and_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cortex-m4.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut section = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_string();
        }
        let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else { continue };
        for value in ["", "-1", "1.5", "true", "0x10", "99999999999999999999999", "\"open", "\"\"", "0"] {
            let changed = text.replace(line, &format!("{key} = {value} # a"));
            let Err(sentence) = Layout::parse("dir/mine.toml", &changed) else { continue };
            let named = format!("{section}.{key} ");
            assert!(sentence.starts_with("dir/mine.toml: ") && sentence.contains(&named), "{sentence}");
        }
    }
}
