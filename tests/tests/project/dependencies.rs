//! Every crate that a manifest of the workspace names is approved in `docs/DEPENDENCIES.md`.

use neffload_tests::workspace;

/// Names in the `[dependencies]`, `[dev-dependencies]` and `[build-dependencies]` of a manifest.
fn named(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies");
        } else if inside && let Some((name, _)) = line.split_once(['=', '.', ' ']) {
            names.push(name.trim().to_owned());
        }
    }
    names
}

#[test]
fn every_dependency_is_approved() {
    let page = std::fs::read_to_string(workspace().join("docs").join("DEPENDENCIES.md")).unwrap();
    let members = [
        "memory-layouts",
        "neffload-agent",
        "loader-core",
        "loader-std",
        "neuron-drivers",
        "neffload-tests",
        "neffload-capi",
        "xtask",
    ];
    let folders =
        ["loader-core", "loader-std", "drivers", "tests", "xtask", "loader-std/capi", "loader-std/python"];
    let mut seen = 0;
    for folder in folders {
        let Ok(manifest) = std::fs::read_to_string(workspace().join(folder).join("Cargo.toml")) else {
            continue;
        };
        for name in named(&manifest).iter().filter(|name| !members.contains(&name.as_str())) {
            assert!(
                page.contains(&format!("`{name}`")),
                "{folder} uses {name}, which docs/DEPENDENCIES.md does not approve"
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "the manifests were read");
}
