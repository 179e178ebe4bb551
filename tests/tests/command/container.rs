//! `neffload verify`, `members`, `cat`, `extract`, `find`.

use neffload_tests::command::{Scratch, document, neffload, run, run_piped, status};
use neffload_tests::container::tar::{Tar, base};
use neffload_tests::container::{File, judge};
use neffload_tests::{fixture, fixture_files};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

fn arguments(words: &[&str], paths: &[&Path]) -> Vec<OsString> {
    words.iter().map(OsString::from).chain(paths.iter().map(|path| path.as_os_str().to_owned())).collect()
}

#[test]
fn verify_names_every_check() {
    let file = fixture("cayman-2core");
    let output = run(arguments(&["verify", "--json"], &[&file]));
    assert_eq!(status(&output), 0);
    let answer = document(&output);
    assert_eq!(answer["schema"], "neffload.verify/1");
    assert_eq!(answer["summary"]["accepted"], 1);
    let checks = answer["files"][0]["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 9);
    assert!(checks.iter().all(|check| check["passed"] == true));
    let text = run(arguments(&["verify"], &[&file]));
    let line = String::from_utf8(text.stdout).unwrap();
    assert!(line.starts_with("ok ") && line.contains("digest(md5") && line.lines().count() == 1, "{line}");
}

#[test]
fn verify_takes_folders_and_says_what_is_wrong() {
    let scratch = Scratch::new("verify");
    let mut bad = File::base();
    bad.header.hash[0] ^= 1;
    std::fs::create_dir(scratch.join("sub")).unwrap();
    std::fs::write(scratch.join("sub/bad.neff"), bad.bytes()).unwrap();
    std::fs::write(scratch.join("good.neff"), File::base().bytes()).unwrap();
    std::fs::write(scratch.join("other.txt"), b"").unwrap();
    let output = run(arguments(&["verify", "--json"], &[&scratch.join(".")]));
    assert_eq!(status(&output), 1);
    let answer = document(&output);
    assert_eq!(
        (answer["summary"]["files"].as_u64(), answer["summary"]["refused"].as_u64()),
        (Some(2), Some(1))
    );
    let verdict = &answer["files"][1]["verdict"];
    assert_eq!((verdict["log"].as_str(), verdict["code"].as_str()), (Some("MD5 mismatch!"), Some("C207")));
    let passed = |name: &str| {
        let checks = answer["files"][1]["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["passed"].clone()
    };
    assert_eq!(
        (passed("package"), passed("digest"), passed("archive")),
        (true.into(), false.into(), Value::Null)
    );
    let text = String::from_utf8(run(arguments(&["verify"], &[&scratch.join(".")])).stdout).unwrap();
    assert!(text.contains("2 files") && text.contains("1 refused") && text.contains("C207"), "{text}");
}

#[test]
fn verify_reads_standard_input() {
    assert_eq!(status(&run_piped(["verify", "-"], &File::base().bytes())), 0);
}

#[test]
fn verify_deep_names_the_member_and_the_way_out() {
    let output = run(arguments(&["verify", "--deep"], &[&fixture("inf1-1core")]));
    assert_eq!(status(&output), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().nth(1).unwrap();
    assert!(line.contains("E204") && line.contains("kelf") && !line.contains("member "), "{line}");
    assert!(line.contains("`verify` without `--deep`"), "{line}");
}

#[test]
fn verify_deep_reads_manifests() {
    for file in fixture_files() {
        let output = run(arguments(&["verify", "--deep", "--json"], &[&file]));
        let answer = document(&output);
        let expected = i32::from(answer["files"][0]["verdict"]["accepted"] != true);
        assert_eq!(status(&output), expected);
        let checks = answer["files"][0]["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 11);
        let passed = |name: &str| checks.iter().any(|check| check["name"] == name && check["passed"] == true);
        assert!(passed("archive"));
        assert_eq!(passed("manifests"), !file.ends_with("inf1-1core.neff"), "{answer}");
    }
    let output = run([
        "verify".into(),
        "--deep".into(),
        "--json".into(),
        "--lnc".into(),
        "1".into(),
        OsString::from(fixture("cayman-2core")),
    ]);
    assert_eq!(status(&output), 1);
    assert!(
        document(&output)["files"][0]["verdict"]["log"].as_str().unwrap().starts_with("Mismatch detected")
    );
}

#[test]
fn members_list_the_table() {
    let file = fixture("sunda-1core");
    let answer = document(&run(arguments(&["members", "--json", "--digests"], &[&file])));
    let judged = judge(&std::fs::read(&file).unwrap());
    let table = answer["table"].as_array().unwrap();
    assert_eq!(table.len(), judged.members().len());
    for (row, (name, content)) in table.iter().zip(judged.members()) {
        assert_eq!(row["name"].as_str().unwrap().as_bytes(), name);
        assert_eq!(row["size"].as_u64(), Some(content.len() as u64));
        let digest = loader_std::container::hex(&neffload_tests::container::sha256(content));
        assert_eq!(row["sha256"].as_str(), Some(digest.as_str()));
    }
    let text = String::from_utf8(run(arguments(&["members"], &[&file])).stdout).unwrap();
    assert!(text.contains("neff.json") && text.contains("members"));
}

#[test]
fn cat_prints_exactly_the_member() {
    let file = fixture("sunda-1core");
    let judged = judge(&std::fs::read(&file).unwrap());
    let output = run([OsString::from("cat"), file.clone().into(), "neff.json".into()]);
    assert_eq!(output.stdout, judged.content(b"neff.json"));
    let absent = run([OsString::from("cat"), file.into(), "no.json".into()]);
    assert_eq!(status(&absent), 1);
    assert!(String::from_utf8(absent.stderr).unwrap().contains("file not found no.json in NEFF"));
}

#[test]
fn extract_writes_plain_names_only() {
    let scratch = Scratch::new("extract");
    let mut tar = base();
    tar.file("../escape", b"x").file("/absolute", b"x").file("a//b", b"x");
    std::fs::write(scratch.join("f.neff"), File::raw(tar.finish()).bytes()).unwrap();
    let run_into = |words: &[&str], folder: &Path| {
        let mut all = arguments(&["extract"], &[&scratch.join("f.neff")]);
        all.extend(words.iter().map(OsString::from));
        all.extend(["-C".into(), folder.as_os_str().to_owned()]);
        run(all)
    };
    let out = scratch.join("out");
    let output = run_into(&[], &out);
    assert_eq!(status(&output), 1);
    assert_eq!(std::fs::read(out.join("sg00/pe.bin")).unwrap(), (0..64).collect::<Vec<u8>>());
    assert!(!scratch.join("escape").exists() && !out.join("a").exists());
    let some = scratch.join("some");
    assert_eq!(status(&run_into(&["sg00/*.bin"], &some)), 0);
    assert!(some.join("sg00/pe.bin").exists() && !some.join("neff.json").exists());
    // Nothing that is there is written over, and no link is followed.
    assert_eq!(status(&run_into(&["neff.json"], &out)), 2);
    let linked = scratch.join("linked");
    std::fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(scratch.join("elsewhere"), linked.join("sg00")).unwrap();
    std::fs::create_dir(scratch.join("elsewhere")).unwrap();
    assert_eq!(status(&run_into(&["sg00/*"], &linked)), 2);
    assert_eq!(std::fs::read_dir(scratch.join("elsewhere")).unwrap().count(), 0);
}

/// What is below a folder, as paths.
fn below(folder: &Path) -> Vec<String> {
    let (mut folders, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn a_name_that_cannot_be_written_keeps_no_other_away() {
    let scratch = Scratch::new("clash");
    let long = "n".repeat(300);
    let mut tar = Tar::new();
    tar.file("a", b"1").file("a/b", b"2").file("c/d", b"4").file("a", b"5");
    tar.pax(&[("path", long.as_bytes())]).file("n", b"3");
    std::fs::write(scratch.join("f.neff"), File::raw(tar.finish()).bytes()).unwrap();
    let out = scratch.join("out");
    let mut words = arguments(&["extract", "--json"], &[&scratch.join("f.neff")]);
    words.extend(["-C".into(), out.as_os_str().to_owned()]);
    let output = run(words);
    let answer = document(&output);
    assert_eq!((status(&output), answer["members"].as_u64()), (2, Some(2)), "{answer}");
    let failed: Vec<&str> =
        answer["failed"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(failed, ["a/b", long.as_str()]);
    assert_eq!(below(&out), ["a", "c", "c/d"], "nothing waits there any more");
    assert_eq!(std::fs::read(out.join("a")).unwrap(), b"5", "the last of a name");
}

#[test]
fn a_file_that_is_refused_at_its_end_leaves_nothing() {
    let scratch = Scratch::new("refused-late");
    let mut tar = Tar::new();
    tar.file("a", vec![1; 100_000]).file("b", b"2");
    let bytes = tar.finish();
    // Without the end of `b`.
    let cut = File::raw(bytes[..bytes.len() - 1024 - 512].to_vec()).bytes();
    std::fs::write(scratch.join("f.neff"), cut).unwrap();
    let out = scratch.join("new/out");
    let mut words = arguments(&["extract"], &[&scratch.join("f.neff")]);
    words.extend(["-C".into(), out.as_os_str().to_owned()]);
    assert_eq!(status(&run(words)), 1);
    assert!(!out.exists());
}

#[test]
fn leftovers_of_an_ended_process_are_in_nobodys_way() {
    let scratch = Scratch::new("leftovers");
    let (program, file) = (neffload().get_program().to_owned(), fixture("sunda-1core"));
    // The shell becomes the command, so the number is the same.
    let script =
        "mkdir out && mkdir out/.neffload.$$.0.part && echo x > .neffload.$$.0.part && exec \"$0\" \"$@\"";
    for words in [["-C", "out"], ["--neff", "cut.neff"]] {
        drop(std::fs::remove_dir_all(scratch.join("out")));
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(&program).arg("extract").arg(&file).args(words);
        let output = shell.current_dir(scratch.join("")).output().unwrap();
        assert_eq!(status(&output), 0, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(std::fs::read(scratch.join("cut.neff")).unwrap(), std::fs::read(&file).unwrap());
}

#[test]
fn no_link_turns_the_way_aside_while_it_is_gone() {
    let scratch = Scratch::new("aside");
    let (out, outside) = (scratch.join("out"), scratch.join("outside"));
    let mut tar = Tar::new();
    for number in 0..300 {
        tar.file(format!("sg00/{number}"), b"x");
    }
    let file = scratch.join("f.neff");
    std::fs::write(&file, File::raw(tar.finish()).bytes()).unwrap();
    std::fs::create_dir(&outside).unwrap();
    for _ in 0..20 {
        std::fs::create_dir_all(out.join("sg00")).unwrap();
        std::os::unix::fs::symlink(&outside, out.join("link")).unwrap();
        let mut words = arguments(&["extract"], &[&file]);
        words.extend(["-C".into(), out.as_os_str().to_owned()]);
        let extract = std::thread::spawn(move || run(words));
        while !extract.is_finished() {
            for (from, to) in [("sg00", "x"), ("link", "sg00"), ("sg00", "link"), ("x", "sg00")] {
                // The command may have made a folder in the gap.
                drop(std::fs::rename(out.join(from), out.join(to)));
            }
        }
        assert!(matches!(status(&extract.join().unwrap()), 0 | 2));
        assert_eq!(below(&outside), [""; 0]);
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_digest_that_does_not_fit_is_remarked_on_by_every_tool() {
    let scratch = Scratch::new("digest");
    let mut file = std::fs::read(fixture("sunda-1core")).unwrap();
    file[0xAC] ^= 1;
    let path = scratch.join("f.neff");
    std::fs::write(&path, file).unwrap();
    let name = path.to_str().unwrap();
    let (out, packed) = (scratch.join("out"), scratch.join("packed.neff"));
    for words in [
        vec!["members", name],
        vec!["cat", name, "neff.json"],
        vec!["extract", name, "-C", out.to_str().unwrap()],
        vec!["pack", name, packed.to_str().unwrap()],
    ] {
        let output = run(words.iter().map(OsString::from));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("W711"), "{words:?}: {said}");
        assert_eq!(status(&output), 0, "{words:?}");
    }
}

/// A carrier: odd bytes, a fixture, a false header, another fixture, more bytes.
fn carrier() -> (Vec<u8>, [(usize, usize); 2]) {
    let first = std::fs::read(fixture("sunda-1core")).unwrap();
    let second = File::raw(Tar::new().file("neff.json", b"{}").finish()).bytes();
    let mut bytes = b"PK\x03\x04 stored \x02\0\0\0".to_vec();
    bytes.resize(1237, 0x04);
    let one = (bytes.len(), first.len());
    bytes.extend(&first);
    bytes.extend(&first[..600]);
    bytes.extend([0; 5000]);
    let two = (bytes.len(), second.len());
    bytes.extend(&second);
    bytes.extend(b"the end");
    (bytes, [one, two])
}

#[test]
fn find_lists_exactly_what_is_there() {
    let scratch = Scratch::new("find");
    let (bytes, places) = carrier();
    let path = scratch.join("carrier.pt");
    std::fs::write(&path, &bytes).unwrap();
    let answer = document(&run(arguments(&["find", "--json"], &[&path])));
    let found: Vec<(usize, usize)> = answer["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["offset"].as_u64().unwrap() as usize, row["size"].as_u64().unwrap() as usize))
        .collect();
    assert_eq!(found, places);
    assert!(answer["found"].as_array().unwrap().iter().all(|row| row["verdict"]["accepted"] == true));
    let named = format!("{}@{}", path.display(), places[0].0);
    assert_eq!(status(&run(["verify", &named])), 0);
    let cut = scratch.join("cut.neff");
    let output = run([OsString::from("extract"), named.into(), "--neff".into(), cut.clone().into()]);
    assert_eq!(status(&output), 0);
    assert_eq!(std::fs::read(cut).unwrap(), std::fs::read(fixture("sunda-1core")).unwrap());
    std::fs::write(scratch.join("nothing"), vec![4; 100_000]).unwrap();
    let text = run(arguments(&["find"], &[&scratch.join("nothing")]));
    assert_eq!(String::from_utf8(text.stdout).unwrap(), "nothing in 1 file\n");
}

/// The carrier is read a window at a time; a NEFF may begin anywhere in one, and its header reach into the next.
#[test]
fn find_sees_across_its_windows() {
    const WINDOW: usize = 256 << 10;
    let scratch = Scratch::new("find-windows");
    let model = std::fs::read(fixture("sunda-1core")).unwrap();
    let path = scratch.join("carrier.bin");
    for edge in [WINDOW, 2 * WINDOW] {
        for before in [0, 1, 2, 9, 10, 15, 16, 17, 63, 1023, 1024, 1025, 1535, 1536, 1537] {
            let at = edge - before;
            let mut bytes = vec![0x04; at];
            bytes.extend(&model);
            std::fs::write(&path, &bytes).unwrap();
            let answer = document(&run(arguments(&["find", "--json"], &[&path])));
            assert_eq!(answer["found"].as_array().unwrap().len(), 1, "{before} before {edge}");
            assert_eq!(answer["found"][0]["offset"], at, "{before} before {edge}");
            assert_eq!(answer["found"][0]["verdict"]["accepted"], true);
        }
    }
}

/// Half a million beginnings of headers, none of which is one: reading a window again for each would take an hour.
#[test]
fn find_reads_a_carrier_of_false_headers_once() {
    let scratch = Scratch::new("find-false");
    let path = scratch.join("false.bin");
    let begin = [2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0];
    let mut bytes = begin.repeat(512 << 10);
    let at = bytes.len();
    bytes.extend(std::fs::read(fixture("sunda-1core")).unwrap());
    std::fs::write(&path, &bytes).unwrap();
    let answer = document(&run(arguments(&["find", "--json"], &[&path])));
    assert_eq!(answer["found"].as_array().unwrap().len(), 1);
    assert_eq!(answer["found"][0]["offset"], at);
}

/// Headers whose payloads all reach to the carrier's end: judging each by its digest would take a time that grows with
/// the square of their number.
#[test]
fn find_does_not_judge_overlapping_headers_without_end() {
    let scratch = Scratch::new("find-overlap");
    let path = scratch.join("overlap.bin");
    const EACH: usize = 1536;
    let mut bytes = vec![0; 1500 * EACH];
    let all = bytes.len();
    for (at, head) in (0..).step_by(EACH).zip(bytes.chunks_mut(EACH)) {
        (head[0], head[9], head[24]) = (2, 4, 1);
        head[16..24].copy_from_slice(&((all - at - 1024) as u64).to_le_bytes());
        head[1024..1027].copy_from_slice(&[0x1F, 0x8B, 8]);
    }
    std::fs::write(&path, &bytes).unwrap();
    let answer = document(&run(arguments(&["find", "--json"], &[&path])));
    let found = answer["found"].as_array().unwrap();
    assert_eq!(found.len(), 1500);
    let code = |at: usize| found[at]["verdict"]["code"].as_str().unwrap();
    assert_ne!(code(0), "C603");
    assert_eq!(code(1499), "C603");
    let judged = found.iter().take_while(|found| found["verdict"]["code"] != "C603");
    let read: u64 = judged.map(|found| found["size"].as_u64().unwrap()).sum();
    let most = 4 * all as u64 + (64 << 20);
    assert!((most..most + all as u64 + 1).contains(&read), "{read} bytes were read, {most} may be");
    let text = run(arguments(&["find"], &[&path]));
    assert!(String::from_utf8_lossy(&text.stdout).contains("not judged"));
}

/// A stored zip of one entry: local header, the bytes as they are, central directory, end.
fn stored_zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let crc = neffload_tests::container::crc32(bytes).to_le_bytes();
    let size = (bytes.len() as u32).to_le_bytes();
    let common =
        [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &crc, &size, &size, &[name.len() as u8, 0, 0, 0]].concat();
    let local = [b"PK\x03\x04", &common[..], name.as_bytes()].concat();
    let central = [b"PK\x01\x02\x14\0", &common[..], &[0; 14], name.as_bytes()].concat();
    let at = ((local.len() + bytes.len()) as u32).to_le_bytes();
    let len = (central.len() as u32).to_le_bytes();
    let end = [b"PK\x05\x06", &[0; 4][..], &[1, 0, 1, 0], &len, &at, &[0, 0]].concat();
    [&local[..], bytes, &central, &end, b"and more bytes"].concat()
}

#[test]
fn find_sees_into_a_stored_zip() {
    let scratch = Scratch::new("find-zip");
    let model = std::fs::read(fixture("cayman-2core")).unwrap();
    let zip = stored_zip("archive/data.neff", &model);
    let offset = 30 + "archive/data.neff".len();
    assert_eq!(offset % 2, 1, "an odd offset");
    std::fs::create_dir(scratch.join("sub")).unwrap();
    std::fs::write(scratch.join("sub/model.pt"), &zip).unwrap();
    std::fs::write(scratch.join("other"), b"nothing here").unwrap();
    let answer = document(&run(arguments(&["find", "--json"], &[&scratch.join(".")])));
    let [found] = &answer["found"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!(
        (found["offset"].as_u64(), found["size"].as_u64()),
        (Some(offset as u64), Some(model.len() as u64))
    );
    assert_eq!(found["verdict"]["accepted"], true);
    let text = String::from_utf8(run(arguments(&["find"], &[&scratch.join(".")])).stdout).unwrap();
    assert!(text.contains("accepted") && text.ends_with("1 NEFF in 2 files\n"), "{text}");
}

/// `FILE@OFFSET` gives what the file itself gives, in every subcommand that takes a FILE.
#[test]
fn an_offset_names_a_file_everywhere() {
    let scratch = Scratch::new("offset");
    let model = fixture("cayman-2core");
    let zip = stored_zip("data.neff", &std::fs::read(&model).unwrap());
    std::fs::write(scratch.join("model.pt"), zip).unwrap();
    let inside = format!("{}@{}", scratch.join("model.pt").display(), 30 + "data.neff".len());
    let inside = Path::new(&inside);
    for words in [
        &["inspect"][..],
        &["verify", "--deep"],
        &["verify"],
        &["members", "--digests"],
        &["memory"],
        &["memory", "--staged"],
        &["plan"],
        &["load"],
        &["load", "--max-memory", "16M"],
        &["disasm"],
    ] {
        let output = run(arguments(words, &[inside]));
        assert_eq!(status(&output), 0, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let both = |before: &[&str], after: &[&str]| {
        let asked = |file: &Path| {
            let output = run(arguments(before, &[file]).into_iter().chain(arguments(after, &[])));
            assert_eq!(status(&output), 0, "{before:?}: {}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        assert_eq!(asked(inside), asked(&model), "{before:?}");
    };
    both(&["members", "--json", "--digests"], &[]);
    both(&["cat"], &["neff.json"]);
    both(&["info", "--json"], &["getKelf"]);
    both(&["pack", "--uncompressed"], &["-"]);
    let output = run(arguments(&["diff", "--exit-code"], &[inside, &model]));
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let page = scratch.join("page.html");
    let output = run(arguments(&["report"], &[inside]).into_iter().chain(arguments(&["-o"], &[&page])));
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(page.is_file());
    let folder = scratch.join("out");
    let output = run(arguments(&["extract"], &[inside]).into_iter().chain(arguments(&["-C"], &[&folder])));
    assert_eq!(status(&output), 0);
    assert!(folder.join("neff.json").is_file());
}
