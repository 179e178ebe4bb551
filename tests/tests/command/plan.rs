//! `neffload plan`, and loads within the memory that it names.

use loader_core::arena::Arena;
use loader_core::container::{Header, HeaderView};
use loader_core::error::Error;
use loader_std::file::{BufferSizes, FileSource};
use loader_std::loader::{StreamMemory, prepare_streamed};
use loader_std::needs::{Needs, needs};
use loader_std::{LoadError, LoadOptions, Loader};
use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::container::tar::Tar;
use neffload_tests::container::{self, gzip, judge};
use neffload_tests::{file_stem, fixture, loadable_files as files};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

fn command(name: &str, file: &Path, options: &[&str]) -> Output {
    run([name, "--json"].iter().chain(options).map(AsRef::as_ref).chain([file.as_os_str()]))
}

fn plan(file: &Path) -> Value {
    let output = command("plan", file, &[]);
    assert_eq!(status(&output), 0, "{}", file.display());
    document(&output)
}

fn load_within(file: &Path, bytes: u64) -> (i32, Value) {
    let output = command("load", file, &["--max-memory", &bytes.to_string()]);
    (status(&output), document(&output))
}

#[test]
fn a_file_loads_within_what_plan_says_and_not_within_a_byte_less() {
    for file in files() {
        let plan = plan(&file);
        let least = plan["arena_bytes"].as_u64().unwrap();
        let parts = plan["needs"]["buffers"].as_object().unwrap();
        assert_eq!(parts.values().map(|bytes| bytes.as_u64().unwrap()).sum::<u64>(), least);
        let stages = plan["needs"]["stages"].as_object().unwrap();
        let peaks: Vec<u64> = stages.values().map(|stage| stage["peak"].as_u64().unwrap()).collect();
        assert!(peaks.len() == 4 && peaks.is_sorted());
        assert_eq!(peaks.last().copied(), parts["arena"].as_u64());

        let (status, loaded) = load_within(&file, least);
        assert_eq!((status, &loaded["mode"]), (0, &"streamed".into()), "{}", file.display());
        assert_eq!(loaded["peak"]["arena_bytes"], parts["arena"]);
        assert!(loaded["passes"].as_u64().unwrap() <= 6, "{}: {}", file.display(), loaded["passes"]);
        let (status, refused) = load_within(&file, least - 1);
        let verdict = &refused["verdict"];
        let code = verdict["code"].as_str().unwrap();
        assert_eq!((status, &code[1..]), (1, "801"), "{}: {verdict}", file.display());
        assert_eq!(verdict["status_name"], "NRT_RESOURCE");
    }
}

fn sim(arch: loader_core::arch::Arch) -> HostSim {
    HostSim::new(Config { content: Content::Digest, ..Config::flat(arch) }, Growing::new(false))
}

fn source(file: &Path) -> FileSource {
    FileSource::new(File::open(file).unwrap(), 0).unwrap()
}

fn needs_of(source: &mut FileSource, options: &LoadOptions) -> Needs {
    needs(source, options, sim).unwrap_or_else(|error| panic!("{error}")).0
}

/// One streamed load within `budget` bytes.
fn attempt(
    source: &mut FileSource,
    loader: &Loader<HostSim>,
    budget: usize,
    sizes: BufferSizes,
    options: &LoadOptions,
) -> Result<u32, LoadError> {
    let mut memory = StreamMemory::within(budget, sizes);
    Ok(loader.place(prepare_streamed(source, &mut memory, options)?)?.facts().passes)
}

/// The error says that an arena is too small, and its `needed` is more than there was.
fn is_truthful(error: &Error) -> bool {
    error.id().to_string().ends_with("801") && error.at().a > error.at().b
}

#[test]
fn every_smaller_budget_is_an_arena_that_is_full() {
    for file in files() {
        let mut source = source(&file);
        let options = LoadOptions::default();
        let needs = needs_of(&mut source, &options);
        let loader = Loader::new(sim(needs.facts.arch));
        let before = loader.device().hash();
        let (sizes, total) = (needs.buffers, needs.total());
        let fixed = total - needs.arena;
        let stride = (needs.arena / 97) & !7;
        let spread = (0..=needs.arena).step_by(stride).map(|arena| fixed + arena);
        let ends = needs
            .facts
            .usage
            .iter()
            .flat_map(|usage| (0..6).map(move |eighths| fixed + usage.peak.saturating_sub(8 * eighths)));
        for budget in spread.chain(ends).chain([0, 1, fixed, fixed + 8, total - 8]) {
            match attempt(&mut source, &loader, budget, sizes, &options) {
                Ok(_) => assert!(budget >= total, "{}: {budget} of {total}", file.display()),
                Err(error) => {
                    assert!(budget < total && is_truthful(&error), "{}: {budget}: {error}", file.display());
                }
            }
            assert_eq!(loader.device().hash(), before, "{}: {budget}", file.display());
        }
    }
}

/// A number of a layout, by section and key.
fn entry(layout: &str, section: &str, key: &str) -> usize {
    let body = layout.split_once(&format!("[{section}]\n")).unwrap().1;
    let body = body.split("\n[").next().unwrap();
    let line = body.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
    line.split('#').next().unwrap().trim().parse().unwrap()
}

#[test]
fn a_written_layout_suffices_and_one_byte_less_does_not() {
    let scratch = Scratch::new("plan-suffices");
    let path = scratch.join("layout.toml");
    for file in files() {
        let output = run(["plan".as_ref(), "-o".as_ref(), path.as_os_str(), file.as_os_str()]);
        assert_eq!(status(&output), 0);
        let layout = std::fs::read_to_string(&path).unwrap();
        let memory = |key| entry(&layout, "memory", key);
        let buffer = |key| entry(&layout, "memory.buffers", key);
        let sizes = BufferSizes {
            input: buffer("input"),
            layers: buffer("gzip_layers"),
            name: buffer("name"),
            extents: buffer("extents"),
        };
        assert_eq!(memory("total"), memory("arena") + memory("scratch") + sizes.bytes(), "{layout}");
        let mut source = source(&file);
        let options = LoadOptions::default();
        let loader = Loader::new(sim(needs_of(&mut source, &options).facts.arch));
        let (name, total) = (file_stem(&file), memory("total"));
        let passes = attempt(&mut source, &loader, total, sizes, &options).unwrap();
        assert!(passes <= 6, "{name}");
        let error = attempt(&mut source, &loader, total - 1, sizes, &options).unwrap_err();
        assert!(is_truthful(&error), "{name}: {error}");
    }
}

#[test]
fn a_file_from_a_pipe_has_the_same_plan() {
    let file = fixture("cayman-2core");
    let mut command = neffload();
    command.args(["plan", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(&file).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((status(&output), document(&output)), (0, plan(&file)));
}

#[test]
fn two_answers_do_not_share_one_output() {
    let output = command("plan", &fixture("cayman-2core"), &["-o", "-"]);
    assert_eq!((status(&output), output.stdout.is_empty()), (2, true));
    assert!(String::from_utf8_lossy(&output.stderr).contains("both write to standard output"));
}

#[test]
fn the_layout_is_written_where_one_asks_for_it() {
    let scratch = Scratch::new("plan-layout");
    let path = scratch.join("layout.toml");
    let file = fixture("cayman-2core");
    let output = run(["plan".as_ref(), "-o".as_ref(), path.as_os_str(), file.as_os_str()]);
    assert_eq!(status(&output), 0);
    assert!(String::from_utf8_lossy(&output.stdout).contains("loads within"));
    let layout = std::fs::read_to_string(&path).unwrap();
    let least = plan(&file)["arena_bytes"].as_u64().unwrap();
    assert!(layout.contains(&format!("\ntotal = {least} ")), "{layout}");
    assert!(layout.contains("\narch = \"cayman\"") && layout.contains("\nlnc = 2\n"), "{layout}");
    let printed = run(["plan".as_ref(), "-o".as_ref(), "-".as_ref(), file.as_os_str()]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout), layout);
}

#[test]
fn plan_refuses_as_load_does() {
    let output = command("plan", &fixture("inf1-1core"), &[]);
    let said = document(&output);
    assert_eq!((status(&output), said["verdict"]["code"].as_str()), (1, Some("E204")));
    assert_eq!(said["verdict"]["member"], "kelf-a.json");
}

#[test]
fn an_arena_of_nothing_is_full() {
    assert!(Arena::new(&mut []).is_err());
    let mut memory = [0; 64];
    let mut arena = Arena::new(&mut memory).unwrap();
    arena.require(41).unwrap();
    assert_eq!((arena.high_water(), arena.available()), (64, 48));
    assert_eq!(arena.require(49).unwrap_err().needed, 56);
}

/// A fixture whose archive is written again, with its graph manifest filled up to some size.
fn rewritten(graph_bytes: usize, before: &Tar) -> Vec<u8> {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let mut archive = before.clone();
    for (name, content) in judge(&file).members() {
        let mut content = content.clone();
        if name == b"neff.json" {
            content.resize(content.len().max(graph_bytes), b' ');
        }
        archive.file(name, content);
    }
    archive.finish()
}

/// A file in package 2 with the header of the fixture.
fn packed(payload: Vec<u8>) -> Vec<u8> {
    let mut header = Header::parse(HeaderView::of(&std::fs::read(fixture("cayman-2core")).unwrap()).unwrap());
    let made = container::File::new(2, payload);
    (header.pkg_version, header.data_size, header.hash) = (2, made.header.data_size, made.header.hash);
    container::File { header, ..made }.bytes()
}

#[test]
fn the_graph_manifest_costs_no_pass_of_its_own_up_to_a_size() {
    let mut passes = Vec::new();
    for size in [0, 60_000, 70_000] {
        let file = packed(gzip(&rewritten(size, &Tar::new())));
        let (needs, _) = needs(&mut &file[..], &LoadOptions::default(), sim).unwrap();
        passes.push(needs.facts.passes);
    }
    assert_eq!(passes, [passes[0], passes[0], passes[0] + 1]);
}

#[test]
fn buffers_grow_for_the_file_that_needs_them() {
    let long = "n".repeat(1500);
    let mut before = Tar::new();
    before.pax(&[("path", long.as_bytes())]).file("short", b"content");
    let file = packed(gzip(&gzip(&gzip(&rewritten(0, &before)))));
    let options = LoadOptions::default();
    let (needs, _) = needs(&mut &file[..], &options, sim).unwrap();
    assert_eq!(needs.buffers, BufferSizes { layers: 4, name: 2048, ..BufferSizes::LEAST });
    let attempt = |budget| {
        StreamMemory::enough(budget, |memory, _| {
            let mut source = &file[..];
            let loader = Loader::new(sim(needs.facts.arch));
            let prepared = prepare_streamed(&mut source, memory, &options)?;
            loader.place(prepared).map(drop)
        })
    };
    attempt(needs.total()).unwrap();
    assert!(is_truthful(&attempt(needs.total() - 1).unwrap_err()));
}

/// A load that lacks memory says how much would do: with that it loads, with a byte less it does not.
#[test]
fn a_load_says_what_it_needs_in_all() {
    for name in ["cayman-2core", "mariana-gather", "sunda-1core"] {
        let file = fixture(name);
        let within = |bytes: u64| {
            let bytes = bytes.to_string();
            let words = ["--max-memory".as_ref(), bytes.as_ref(), "--json".as_ref()];
            document(&run([&["load".as_ref(), file.as_os_str()][..], &words].concat()))["verdict"].clone()
        };
        let plan = document(&run(["plan".as_ref(), file.as_os_str(), "--json".as_ref()]));
        let needed = plan["arena_bytes"].as_u64().unwrap();
        for given in [1, 100_000, needed / 2, needed - 1] {
            let refused = within(given);
            let log = format!("the arena is full: {needed} bytes needed, {given} available");
            assert_eq!((&refused["status"], &refused["log"]), (&4.into(), &log.into()), "{name}");
            assert!(refused["remedy"].as_str().unwrap().contains("--max-memory"));
        }
        assert_eq!(within(needed)["accepted"], true, "{name}");
    }
}

#[test]
fn a_core_behind_the_device_is_not_a_matter_of_lnc() {
    let file = fixture("cayman-2core");
    let refused = document(&run([
        "load".as_ref(),
        file.as_os_str(),
        "--core".as_ref(),
        "99".as_ref(),
        "--json".as_ref(),
    ]));
    let verdict = &refused["verdict"];
    assert_eq!((&verdict["status"], &verdict["code"]), (&9.into(), &"S108".into()));
    let remedy = verdict["remedy"].as_str().unwrap();
    assert!(remedy.contains("--core") && !remedy.contains("--lnc"), "{remedy}");
}
