//! The pages in headless Chromium: not empty, nothing wider than its place, text that can be read in light and dark, the
//! memory map answers a pointer, and not a word on the console.

use super::figures::report;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use neffload_tests::command::Scratch;
use neffload_tests::{fixture_files, real_files, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Widths that people have: a phone and a desk.
const WIDTHS: [u32; 2] = [390, 1440];
/// What the system prefers, by the number that the browser has for it.
const SCHEMES: [(&str, u32); 2] = [("dark", 0), ("light", 1)];
/// Least contrast of text (WCAG 2.1, level AA).
const CONTRAST: f64 = 4.5;
/// Put before the page's end: says what the page looks like from the inside.
const PROBE: &str = include_str!("probe.js");

/// A headless Chromium: `$CHROMIUM`, or one of the names that Debian gives it.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let mut names =
        named.into_iter().chain(["chromium-headless-shell", "chromium", "chrome"].map(PathBuf::from));
    names
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// Takes a picture of a page and gives what its probe said.
fn browse(chromium: &Path, page: &Path, shot: &Path, width: u32, scheme: u32) -> Value {
    let mut command = Command::new(chromium);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]);
    command.arg(format!("--window-size={width},2400"));
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("--screenshot={}", shot.display())).arg(format!("file://{}", page.display()));
    let output: Output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    let [probe] = said[..] else { panic!("{}: {said:?}", page.display()) };
    let found = probe.split("PROBE ").nth(1).and_then(|rest| rest.split(" END").next());
    let found = found.unwrap_or_else(|| panic!("{}: {probe}", page.display()));
    serde_json::from_str(found).unwrap_or_else(|error| panic!("{error}: {found}"))
}

/// The share of a picture's bytes that differ from their neighbours, from the PNG's own filters.
fn busy(png: &[u8]) -> f64 {
    let mut data = Vec::new();
    let mut at = 8;
    while at + 8 <= png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        if &png[at + 4..at + 8] == b"IDAT" {
            data.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let bytes = decompress_to_vec_zlib(&data).unwrap();
    let changes = bytes.windows(4).filter(|window| window[0] != window[3]).count();
    changes as f64 / bytes.len() as f64
}

fn look(chromium: &Path, file: &Path, keep: Option<&Path>) {
    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = Scratch::new(&format!("browser-{name}"));
    let (page, document) = report(file, &folder);
    let probed = folder.join("probed.html");
    std::fs::write(&probed, page.replace("</body>", &format!("<script>{PROBE}</script></body>"))).unwrap();
    let has_map = document["load"]["cores"].as_array().is_some_and(|cores| !cores.is_empty());
    for width in WIDTHS {
        let mut backgrounds = Vec::new();
        for (scheme, number) in SCHEMES {
            let what = format!("{name} at {width}, {scheme}");
            let shot = folder.join("shot.png");
            let found = browse(chromium, &probed, &shot, width, number);
            assert_eq!(found["width"], width, "{what}: the browser's window");
            assert_eq!(found["content"], width, "{what}: the content is wider than the window");
            assert_eq!(found["cut"], Value::Array(Vec::new()), "{what}: something is wider than its place");
            assert!(found["contrast"].as_f64().unwrap() >= CONTRAST, "{what}: {}", found["faintest"]);
            assert!(found["texts"].as_u64().unwrap() > 30, "{what}: {} texts", found["texts"]);
            assert_eq!(found["answers"], has_map, "{what}: the map does not answer the pointer");
            backgrounds.push(found["background"].clone());
            let png = std::fs::read(&shot).unwrap();
            assert!(busy(&png) > 0.002, "{what}: an empty picture");
            if let Some(keep) = keep {
                std::fs::write(keep.join(format!("{name}-{width}-{scheme}.png")), png).unwrap();
            }
        }
        assert_ne!(backgrounds[0], backgrounds[1], "{name}: one look for both preferences");
    }
}

#[test]
fn pages_fit_their_windows_and_can_be_read() {
    let Some(chromium) = chromium() else {
        skip!("there is no headless Chromium (Debian: chromium-headless-shell)");
    };
    let keep = std::env::var_os("NEFFLOAD_SHOTS").map(PathBuf::from);
    for file in fixture_files().into_iter().chain(real_files()) {
        look(&chromium, &file, keep.as_deref());
    }
}
