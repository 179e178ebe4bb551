//! The images, run: on the project's files and the real ones, on both devices, on bare metal.

use super::build::{Built, Variant, build, folder};
use super::layout;
use super::ledger::Ledger;
use super::toolchain::Toolchain;
use loader_core::container::{Algorithm, Extent, Hasher, Layer};
use loader_core::limits::Limits;
use loader_core::plan::pages::Page;
use loader_core::policy::Policy;
use loader_std::needs::image::{ImageNeeds, image_needs, within as measured};
use memory_layouts::Layout;
use neffload_agent::{Buffers, Options, digest_of, load};
use neffload_tests::build::edit_json;
use neffload_tests::command::Scratch;
use neffload_tests::{fixture, fixture_files, fixtures, python, real_files, shared, skip, workspace};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim, Slot};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The image of a layout, built once for all tests.
fn image(name: &'static str) -> &'static Path {
    static AGENT: OnceLock<Built> = OnceLock::new();
    static SMALL: OnceLock<Built> = OnceLock::new();
    let cell = if name == "agent-256k" { &AGENT } else { &SMALL };
    let built = cell.get_or_init(|| {
        let (path, layout) = layout(Path::new(name)).unwrap();
        build(&path, &layout, Variant::default()).unwrap()
    });
    &built.stripped
}

fn run(name: &'static str, file: &Path, arguments: &[&str]) -> Output {
    Command::new(image(name)).arg(file).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The line that begins so.
fn line<'t>(text: &'t str, start: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start}: {text}"))
}

/// `kbins N bytes, md5 X` of a load on this host with the same library.
fn kbins_here(file: &[u8]) -> String {
    within(file, (1 << 20, 1 << 20)).unwrap()
}

/// A load on this host with arenas of these sizes.
fn within(mut file: &[u8], (members, arena): (usize, usize)) -> Result<String, usize> {
    let (mut members, mut arena) = (vec![0; members], vec![0; arena]);
    let (mut layers, mut pages) = (vec![Layer::new()], [None::<Page>; 16]);
    let layers: &mut [Layer; 1] = layers.as_mut_slice().try_into().unwrap();
    let extents: &mut [Extent] = &mut [];
    let mut slots = vec![Slot::EMPTY; 1024];
    let mut buffers = Buffers {
        members: &mut members,
        arena: &mut arena,
        input: &mut [0; 4096],
        layers,
        names: &mut [0; 768],
        extents,
        scratch: &mut [0; 2048],
        pages: &mut pages,
    };
    let options = Options { limits: Limits::DEFAULT, policy: Policy::DEFAULT, keep: 4096, core: 0 };
    let slots = &mut slots;
    let found = load(
        &mut file,
        &mut buffers,
        &options,
        |arch| {
            let config = Config { cores: 8, content: Content::Digest, ..Config::flat(arch) };
            Ok(LocalSim::new(config, Fixed::new(slots, &mut [], &mut [])))
        },
        |loaded| {
            let digest: String = digest_of(loaded).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("kbins {} bytes, md5 {digest}", loaded.kbin_bytes)
        },
    );
    found.map_err(|refused| refused.least)
}

/// Files that are refused because they are for NeuronCore-v1.
fn is_legacy(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("inf1"))
}

#[test]
fn agent_256k_loads_every_file_onto_sim() {
    let mut loaded = 0;
    for file in fixture_files().iter().chain(&real_files()).filter(|file| !is_legacy(file)) {
        let output = run("agent-256k", file, &[]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{}: {said}", file.display());
        assert!(line(&said, "core 0 ").contains(": ready, "), "{said}");
        assert_eq!(line(&said, "kbins "), kbins_here(&fs::read(file).unwrap()), "{}", file.display());
        let passes = line(&said, "members ").rsplit(' ').next().unwrap();
        assert!(passes.parse::<u32>().unwrap() <= 6, "{said}");
        loaded += 1;
    }
    assert!(loaded >= 4, "{loaded}");
}

#[test]
fn the_opaque_slots_of_real_files_are_reported() {
    let opaque = [("cayman-moe", 313), ("sunda-pointer", 85), ("cayman-lnc2-matmul", 0)];
    for (name, count) in opaque {
        let Some(file) =
            real_files().into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == name))
        else {
            skip!("no real files")
        };
        let said = text(&run("agent-256k", &file, &[]));
        assert!(line(&said, "core 0 ").contains(&format!(" {count} opaque")), "{name}: {said}");
    }
}

#[test]
fn agent_64k_loads_the_two_small_real_files() {
    for name in ["cayman-lnc2-matmul", "cayman-attention-dge"] {
        let Some(file) =
            real_files().into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == name))
        else {
            skip!("no real files")
        };
        let output = run("agent-64k", &file, &[]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        assert_eq!(line(&said, "kbins "), kbins_here(&fs::read(&file).unwrap()), "{name}");
    }
}

#[test]
fn a_refusal_ends_with_the_status_number() {
    let output = run("agent-256k", &fixture("inf1-1core"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).starts_with("refused, status 2: E204 "), "{}", text(&output));
    let none = Command::new(image("agent-256k")).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).starts_with("usage: "));
}

#[test]
fn usage_and_lost_output_are_told_by_the_status() {
    let file = fixture("cayman-2core");
    for words in [
        &["--core", "+1"][..],
        &["--core", "0", "--core", "0"],
        &["--device", "sim", "--device", "sim"],
        &["--allow-opaque", "--allow-opaque"],
        &["another"],
    ] {
        let output = run("agent-256k", &file, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "), "{words:?}");
    }
    let folder = run("agent-256k", &workspace(), &[]);
    assert_eq!(folder.status.code(), Some(2), "{}", text(&folder));
    assert!(String::from_utf8_lossy(&folder.stderr).ends_with("errno 21\n"));
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let status = Command::new(image("agent-256k")).arg(&file).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(1));
    }
}

/// A fixture with so many variables more on its first core.
fn with_variables(count: u64) -> Vec<u8> {
    let mut file = fixtures::named("cayman-2core");
    edit_json(&mut file.tree, "sg00/def.json", |definition| {
        let vars = definition["var"].as_object_mut().unwrap();
        let first = vars.len() as u64;
        for number in 0..count {
            let var = json!({ "type": "virtual", "size": 64, "offset": 0, "var_id": first + number });
            vars.insert(format!("more{number:05}"), var);
        }
    });
    file.bytes()
}

#[test]
fn a_file_that_needs_more_is_refused_with_the_exact_need() {
    let scratch = Scratch::new("image-need");
    let (file, bytes) = (scratch.join("large.neff"), with_variables(2000));
    fs::write(&file, &bytes).unwrap();
    let output = run("agent-256k", &file, &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let (_, rest) = said.split_once("(memory.arena: at least ").unwrap_or_else(|| panic!("{said}"));
    let need: usize = rest.split(' ').next().unwrap().parse().unwrap();
    // The step that failed passes with exactly that much, and with 8 bytes less it asks for the same.
    assert_eq!(within(&bytes, (1 << 20, need - 8)), Err(need));
    assert!(within(&bytes, (1 << 20, need)).err().is_none_or(|more| more > need), "{need}");
}

/// Files, and what an image needs for each.
fn needs() -> Vec<(PathBuf, Vec<u8>, ImageNeeds)> {
    let files = fixture_files().into_iter().chain(real_files()).filter(|file| !is_legacy(file));
    files
        .map(|file| {
            let bytes = fs::read(&file).unwrap();
            let needs = image_needs(&mut bytes.as_slice(), Limits::DEFAULT, Policy::DEFAULT).unwrap();
            (file, bytes, needs)
        })
        .collect()
}

#[test]
fn what_plan_says_of_an_image_is_exact() {
    let options = |keep| Options { limits: Limits::DEFAULT, policy: Policy::DEFAULT, keep, core: 0 };
    for (file, bytes, ImageNeeds { members, members_kept, arena }) in needs() {
        let file = file.display();
        let load = |keep, members, arena| {
            measured(&mut bytes.as_slice(), &options(keep), members, arena).map_err(|(error, least)| {
                assert!(error.to_string().contains("the arena is full"), "{file}: {error}");
                least
            })
        };
        for keep in [0, 4096] {
            assert!(load(keep, members, arena).is_ok(), "{file}");
            assert_eq!(load(keep, members - 8, arena).unwrap_err(), members, "{file}");
            assert_eq!(load(keep, members, arena - 8).unwrap_err(), arena, "{file}");
        }
        // With all that is kept, passes are saved; with a little less the load goes on without.
        assert!(members_kept > members);
        assert_eq!(load(4096, members_kept, arena).unwrap().members, members_kept, "{file}");
        assert!(load(4096, members_kept - 8, arena).is_ok(), "{file}");
    }
}

/// The images' own numbers, which they print, are those. Their member table has no index of names, so that long names of
/// models find room where it would be.
#[test]
fn images_take_what_plan_says() {
    for (file, _, needs) in needs() {
        let said = text(&run("agent-256k", &file, &[]));
        let numbers: Vec<usize> =
            line(&said, "members ").split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        let [members, arena, _] = numbers[..] else { panic!("{said}") };
        assert_eq!(arena, needs.arena, "{}: {said}", file.display());
        assert!(
            members <= needs.members_kept && members + 256 > needs.members_kept,
            "{}: {said}",
            file.display()
        );
    }
}

/// The stack that an image declares is all it writes to: it runs where the system gives little more.
#[test]
fn the_declared_stack_is_enough() {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -s 32; exec \"$0\" \"$1\""])
        .arg(image("agent-256k"))
        .arg(fixture("cayman-2core"));
    let output = command.env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let stack: u64 = line(&said, "stack ").split(' ').nth(1).unwrap().parse().unwrap();
    assert!((1024..16384).contains(&stack), "{said}");
}

#[test]
fn what_is_beyond_the_layout_is_refused() {
    let (_, layout) = layout(Path::new("agent-256k")).unwrap();
    image("agent-256k");
    let (whole, stripped) = (folder().join("agent-256k.elf"), folder().join("agent-256k"));
    let ledger = Ledger::of(&layout, &whole, &stripped, &super::rules().unwrap()).unwrap();
    assert_eq!(ledger.beyond(&layout), [""; 0]);
    let text = fs::read_to_string(workspace().join("memory-layouts/agent-256k.toml")).unwrap();
    for key in ["stack", "most_bytes", "most_static"] {
        let number = layout.number("image", key).unwrap();
        let less = text
            .replace(&format!("{key} = {number}"), &format!("{key} = 16384"))
            .replace("stack = 16384", "stack = 8192");
        let less = Layout::parse("less", &less).unwrap();
        let found = ledger.beyond(&less).join("\n");
        assert!(found.contains(&format!("image.{key} allows ")), "{key}: {found}");
    }
}

/// The simulated driver's command, built beside this test.
fn simdrv() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let found = test.parent()?.parent()?.join("neffload-simdrv");
    found.is_file().then_some(found)
}

#[test]
fn agent_256k_loads_through_the_kernel_driver() {
    let Some(simdrv) = simdrv() else { skip!("neffload-simdrv is not built") };
    for file in fixture_files().iter().chain(&real_files()).filter(|file| !is_legacy(file)) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let arch = name.split('-').next().unwrap().to_string();
        let mut command = Command::new(&simdrv);
        command.args(["--arch", &arch, "--"]).arg(image("agent-256k")).arg(file);
        let output = command.args(["--device", "/dev/neuron0", "--allow-opaque"]).output().unwrap();
        let said = text(&output);
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("not permitted") || errors.contains("seccomp") {
            skip!("the simulated driver cannot run here: {errors}");
        }
        assert_eq!(output.status.code(), Some(0), "{name}: {said}{errors}");
        assert!(line(&said, "device ").starts_with("device /dev/neuron0 "), "{said}");
        assert_eq!(line(&said, "kbins "), kbins_here(&fs::read(file).unwrap()), "{name}");
    }
}

#[test]
fn a_real_device_takes_no_opaque_slots_unasked() {
    let Some(simdrv) = simdrv() else { skip!("neffload-simdrv is not built") };
    let mut command = Command::new(simdrv);
    command.args(["--arch", "sunda", "--"]).arg(image("agent-256k")).arg(fixture("sunda-1core"));
    let output = command.args(["--device", "/dev/neuron0"]).output().unwrap();
    let said = text(&output);
    assert!(output.status.code() != Some(0) && said.starts_with("refused, status "), "{said}");
}

#[test]
fn large_constants_stream_through_the_same_memory() {
    let script = shared().map(|folder| folder.join("bench/make_big.py")).filter(|script| script.is_file());
    let (Some(script), Some(python)) = (script, python()) else { skip!("no make_big.py in the shared data") };
    // The large one is minutes of work; what it shows does not depend on the size.
    let mebibytes = if std::env::var_os("NEFFLOAD_FULL").is_some() { "512" } else { "32" };
    let scratch = Scratch::new("image-stream");
    let file = scratch.join("big.neff");
    let made = Command::new(python)
        .arg(script)
        .arg(&file)
        .args(["--mib", mebibytes, "--level", "1", "--blocks", "128"])
        .status();
    assert!(made.unwrap().success());
    let output = run("agent-256k", &file, &[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{mebibytes} MiB: {said}");
    println!("{mebibytes} MiB: {}", line(&said, "members "));
}

#[test]
fn the_bare_metal_image_loads_its_file_under_qemu() {
    let (path, layout) = layout(Path::new("cortex-m4")).unwrap();
    let built = match build(&path, &layout, Variant::default()) {
        Ok(built) => built,
        Err(error) if error.to_string().starts_with("no compiler") => skip!("{error}"),
        Err(error) => panic!("{error}"),
    };
    let machine = layout.text("image", "machine").unwrap();
    let mut command = Command::new("qemu-system-arm");
    command.args(["-M", machine, "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"]);
    let Ok(output) = command.arg(&built.whole).output() else { skip!("qemu-system-arm is not installed") };
    let said = text(&output) + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let carried = fs::read(fixture("cayman-2core")).unwrap();
    assert_eq!(line(&said, "kbins "), kbins_here(&carried));
    // The device holds the same bytes, too.
    let host = text(&run("agent-256k", &fixture("cayman-2core"), &[]));
    assert_eq!(line(&said, "device sim "), line(&host, "device sim "));
    let stack: u64 = line(&said, "stack ").split(' ').nth(1).unwrap().parse().unwrap();
    assert!(stack <= layout.number("image", "stack").unwrap(), "{said}");
    let ledger = Ledger::of(&layout, &built.whole, &built.stripped, &super::rules().unwrap()).unwrap();
    assert!(ledger.text + ledger.rodata + ledger.data <= layout.number("image", "most_bytes").unwrap());
}

#[test]
fn nonsense_layouts_fail_while_the_image_is_built() {
    let scratch = Scratch::new("image-nonsense");
    let text = fs::read_to_string(workspace().join("memory-layouts/agent-256k.toml")).unwrap();
    let path = scratch.join("agent-none.toml");
    fs::write(&path, text.replace("arena = 180224", "arena = 180225")).unwrap();
    // The whole build, not only the reader: cargo is asked directly.
    image("agent-256k");
    let target = "x86_64-unknown-linux-gnu";
    let toolchain = Toolchain::find(target).unwrap();
    let mut command = toolchain.cargo();
    command.args(["build", "--release", "--target", target, "--manifest-path"]);
    command.arg(workspace().join("memory-layouts/image/Cargo.toml"));
    command.arg("--target-dir").arg(folder().join("build").join("nonsense"));
    let output = command.env("NEFFLOAD_LAYOUT", &path).env("RUSTFLAGS", toolchain.flags()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let sentence = "agent-none.toml: memory.arena is 180225; it must be a multiple of 8";
    assert!(errors.contains(sentence), "{errors}");
}

#[test]
fn the_page_on_embedding_shows_what_is_there() {
    let page = fs::read_to_string(workspace().join("docs/EMBEDDING.md")).unwrap();
    let block = |mark: &str| {
        let (_, rest) = page.split_once(mark).unwrap();
        let (_, code) = rest.split_once('\n').unwrap();
        code.split_once("```").unwrap().0.to_string()
    };
    let (rust, c) = (block("```rust"), block("```c"));
    assert!(rust.lines().count() < 40 && c.lines().count() < 40);
    let example = fs::read_to_string(workspace().join("memory-layouts/agent/examples/embed.rs")).unwrap();
    assert!(example.ends_with(&rust), "the example differs from the page");
    assert_eq!(fs::read_to_string(workspace().join("memory-layouts/embed/main.c")).unwrap(), c);
}

#[test]
fn the_examples_on_embedding_load() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // The tests of the whole workspace have built it; a test alone has not.
    let made = std::env::current_exe().unwrap().with_file_name("../examples/embed");
    let mut rust = Command::new(&made);
    if !made.is_file() {
        rust = Command::new(&cargo);
        rust.args(["run", "--quiet", "--package", "neffload-agent", "--example", "embed", "--"]);
    }
    let output = rust.arg(fixture("cayman-2core")).current_dir(workspace()).output().unwrap();
    let said = text(&output) + &String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("core 0 sg00: ready, "), "{said}");
    let embed = workspace().join("memory-layouts/embed");
    let built = Command::new(&cargo)
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(embed.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder().join("embed"))
        .status();
    assert!(built.unwrap().success());
    let program = folder().join("embed/main");
    let library = folder().join("embed/release/libneffload_embed.a");
    let Ok(compiled) =
        Command::new("cc").arg(embed.join("main.c")).arg(library).arg("-o").arg(&program).status()
    else {
        skip!("no C compiler")
    };
    assert!(compiled.success());
    let output = Command::new(program).arg(fixture("cayman-2core")).output().unwrap();
    assert_eq!(text(&output), "status 0, 2 cores\n");
}

/// The digest of the host is what the images print: MD5 as everybody computes it.
#[test]
fn digests_are_md5() {
    let mut hasher = Hasher::new(Algorithm::Md5);
    hasher.update(b"abc");
    assert_eq!(hasher.finish()[..4], [0x90, 0x01, 0x50, 0x98]);
}
