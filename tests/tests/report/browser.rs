//! The pages in headless Chromium: not empty, not wider than the window, not a word on the console.

use super::figures::report;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use neffload_tests::command::Scratch;
use neffload_tests::{fixture_files, real_files, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Widths that people have: a phone and a desk.
const WIDTHS: [u32; 2] = [390, 1440];

/// A headless Chromium: `$CHROMIUM`, or one of the names that Debian gives it.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let mut names =
        named.into_iter().chain(["chromium-headless-shell", "chromium", "chrome"].map(PathBuf::from));
    names
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

fn browse(chromium: &Path, arguments: &[String], page: &Path) -> Output {
    let mut command = Command::new(chromium);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]);
    command.args(arguments).arg(format!("file://{}", page.display()));
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "{}: {said:?}", page.display());
    output
}

/// The width of the content in a window of that width, as the page's own layout says.
fn content_width(chromium: &Path, page: &str, folder: &Scratch, width: u32) -> (u32, u32) {
    let probe = "<script>document.title=`${innerWidth} ${document.documentElement.scrollWidth}`</script>";
    let path = folder.join("probe.html");
    std::fs::write(&path, page.replace("</body>", &format!("{probe}</body>"))).unwrap();
    let arguments = ["--dump-dom".to_owned(), format!("--window-size={width},900")];
    let output = browse(chromium, &arguments, &path);
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split('<').next()).unwrap();
    let (window, content) = title.split_once(' ').unwrap_or_else(|| panic!("no widths in `{title}`"));
    (window.parse().unwrap(), content.parse().unwrap())
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
    let (page, _) = report(file, &folder);
    for width in WIDTHS {
        let (window, content) = content_width(chromium, &page, &folder, width);
        assert_eq!(window, width, "the browser's window");
        assert!(content <= width, "{name}: {content} pixels of content in a window of {width}");
        let shot = folder.join("shot.png");
        let arguments = [format!("--window-size={width},2400"), format!("--screenshot={}", shot.display())];
        browse(chromium, &arguments, &folder.join("page.html"));
        let png = std::fs::read(&shot).unwrap();
        assert!(busy(&png) > 0.002, "{name} at {width}: an empty picture");
        if let Some(keep) = keep {
            std::fs::write(keep.join(format!("{name}-{width}.png")), png).unwrap();
        }
    }
}

#[test]
fn pages_fit_their_windows() {
    let Some(chromium) = chromium() else {
        skip!("there is no headless Chromium (Debian: chromium-headless-shell)");
    };
    let keep = std::env::var_os("NEFFLOAD_SHOTS").map(PathBuf::from);
    for file in fixture_files().into_iter().chain(real_files()) {
        look(&chromium, &file, keep.as_deref());
    }
}
