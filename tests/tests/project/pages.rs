//! Pages that follow the code: what they name is there.

use neffload_tests::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// Words in backticks; blocks of code are left out.
fn quoted(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// All sources below a folder, and the file that has its name.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.with_extension("rs")];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false => found.push(path),
        }
    }
    found.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// Records are declared by a macro: their name, a colon, their size.
fn defines(source: &str, item: &str) -> bool {
    let record = source.contains("records! {") && source.contains(&format!("\n    {item}: "));
    let keyword = ["fn", "struct", "trait", "enum", "type", "const"].iter().any(|kind| {
        let start = format!("{kind} {item}");
        source
            .split(start.as_str())
            .skip(1)
            .any(|rest| rest.starts_with(|next: char| !next.is_alphanumeric() && next != '_'))
    });
    record || keyword
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// `module::item` of a folder, or an item anywhere below it.
fn names_an_item(folder: &Path, word: &str) -> bool {
    let (modules, item) = word.rsplit_once("::").unwrap_or(("", word));
    if modules.is_empty() {
        return sources(folder).iter().any(|file| defines(&read(file), item));
    }
    let module = folder.join(modules.replace("::", "/"));
    let mut files = vec![module.with_extension("rs")];
    // A type of a record's module may lie in a file of its own below it.
    if item.starts_with(char::is_uppercase) {
        files.extend(sources(&module));
    }
    files.iter().any(|file| defines(&read(file), item))
}

/// What is checked of a word in backticks: nothing of commands, options and names inside a NEFF.
fn check(folder: Option<&Path>, word: &str) -> Result<(), &'static str> {
    let there = |path: PathBuf| if path.exists() { Ok(()) } else { Err("does not exist") };
    if word.contains('<') {
        return Ok(());
    }
    if ["loader-", "drivers/", "memory-layouts/", "tests/", "docs/"]
        .iter()
        .any(|start| word.starts_with(start))
    {
        return there(workspace().join(word.trim_end_matches('/')));
    }
    let Some(folder) = folder else { return Ok(()) };
    if word.ends_with(".rs") {
        return there(folder.join(word));
    }
    if word.split("::").all(is_name) && !["Copy", "opaque", "approximate"].contains(&word) {
        return if names_an_item(folder, word) { Ok(()) } else { Err("is not defined there") };
    }
    Ok(())
}

/// Sections of a page with the folder that their heading names.
fn sections(text: &str) -> impl Iterator<Item = (Option<PathBuf>, &str)> {
    text.split("\n## ").map(|section| {
        let heading = section.lines().next().unwrap_or_default();
        let folder = heading.split('`').nth(1).map(|folder| workspace().join(folder));
        (folder, section)
    })
}

#[test]
fn the_load_can_be_followed_in_the_code() {
    let page = read(&workspace().join("docs/LOAD.md"));
    let mut checked = 0;
    for (folder, section) in sections(&page) {
        for word in quoted(section) {
            let found = check(folder.as_deref(), &word);
            // A section may name what another part of the program defines by the path of its file.
            let elsewhere = folder.is_some() && ["Loader", "Device"].contains(&word.as_str());
            assert!(found.is_ok() || elsewhere, "docs/LOAD.md: `{word}` {}", found.unwrap_err());
            checked += usize::from(folder.is_some());
        }
    }
    assert!(checked > 40, "{checked} names");
    let device = read(&workspace().join("loader-core/src/device.rs"));
    let (_, methods) = device.split_once("pub trait Device").unwrap();
    let methods = methods.split("\n}").next().unwrap();
    let required = methods
        .split("    fn ")
        .skip(1)
        .filter(|method| method.find(';').is_some_and(|end| method.find('{').is_none_or(|body| end < body)));
    assert_eq!(required.count(), 9, "the pages say how many methods a device has");
}

#[test]
fn pages_name_files_that_exist() {
    for page in
        ["docs/EMBEDDING.md", "docs/DEVICES.md", "CONTRIBUTING.md", "README.md", "loader-std/capi/README.md"]
    {
        for word in quoted(&read(&workspace().join(page))) {
            assert!(check(None, &word).is_ok(), "{page}: `{word}` is not there");
        }
    }
}

#[test]
fn a_wrong_name_is_found() {
    let container = workspace().join("loader-core/src/container");
    for wrong in
        ["guard::no_such_function", "no_such_type", "guards.rs", "loader-core/src/guard.rs", "guard::Reader"]
    {
        assert!(check(Some(&container), wrong).is_err(), "{wrong}");
    }
    for right in
        ["guard::preflight", "tar/block.rs", "Container", "loader-core/src/container", "FILE", "--json"]
    {
        assert!(right == "FILE" || check(Some(&container), right).is_ok(), "{right}");
    }
}

/// What a host uses first shows how it is used.
#[test]
fn the_public_types_have_runnable_examples() {
    for (name, file) in [
        ("Loader", "loader-std/src/loader.rs"),
        ("LoadOptions", "loader-std/src/loader.rs"),
        ("Model", "loader-std/src/loader/model.rs"),
        ("NeffInfo", "loader-std/src/info.rs"),
    ] {
        let source = read(&workspace().join(file));
        let (before, _) = source.split_once(&format!("pub struct {name}<")).unwrap_or_else(|| {
            source
                .split_once(&format!("pub struct {name} {{"))
                .unwrap_or_else(|| panic!("{file} has no {name}"))
        });
        let comment: Vec<&str> = before
            .lines()
            .rev()
            .take_while(|line| line.starts_with("///") || line.starts_with("#["))
            .collect();
        assert_eq!(comment.iter().filter(|line| line.trim_end() == "/// ```").count(), 2, "{name}");
    }
}
