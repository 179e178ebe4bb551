//! `neffload devices`.

use super::{host, run};
use loader_core::arch::Arch;
use neffload_tests::command::{Scratch, document, neffload, status};
use neuron_drivers::simdrv::{Books, Config, Version};
use std::process::{Command, Output};

fn devices(options: &[&str]) -> Command {
    let mut command = neffload();
    command.arg("devices").args(options);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A host without devices, whatever this one has.
fn nowhere(scratch: &Scratch) -> Vec<String> {
    let path = |name: &str| scratch.join(name).to_string_lossy().into_owned();
    let options = [("--device-dir", "dev"), ("--sysfs", "class"), ("--module", "module"), ("--pci", "pci")];
    options.into_iter().flat_map(|(option, name)| [option.to_owned(), path(name)]).collect()
}

#[test]
fn no_device_is_an_answer() {
    let scratch = Scratch::new("no-device");
    let options = nowhere(&scratch);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = devices(&options).output().unwrap();
    assert_eq!(status(&output), 0);
    assert!(text(&output).starts_with("no device") && text(&output).contains("no driver is loaded"));
    let output = devices(&[&options[..], &["--json"]].concat()).output().unwrap();
    let found = document(&output);
    assert_eq!(found["schema"], "neffload.devices/1");
    assert_eq!((found["driver"].is_null(), &found["devices"]), (true, &serde_json::json!([])));
}

/// Accelerators without a driver are found by their PCI ids; everything else on the bus is left alone.
#[test]
fn accelerators_on_the_bus() {
    let scratch = Scratch::new("pci");
    for (address, vendor, device) in [
        ("0000:20:1e.0", "0x1d0f\n", "0x7364\n"),
        ("0000:10:1e.0", "0x1d0f\n", "0x7164\n"),
        ("0000:00:04.0", "0x1d0f\n", "0xec20\n"),
        ("0000:00:05.0", "0x8086\n", "0x7364\n"),
        ("0000:00:06.0", "nonsense", "0x7364\n"),
    ] {
        let folder = scratch.join("pci").join(address);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("vendor"), vendor).unwrap();
        std::fs::write(folder.join("device"), device).unwrap();
    }
    let options = nowhere(&scratch);
    let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = devices(&options).output().unwrap();
    assert_eq!(status(&output), 0);
    assert!(text(&output).contains("the PCI bus has 2 accelerators"), "{}", text(&output));
    options.push("--json");
    let expected = serde_json::json!([
        {"address": "0000:10:1e.0", "device_id": "0x7164", "arch": "sunda"},
        {"address": "0000:20:1e.0", "device_id": "0x7364", "arch": "cayman"},
    ]);
    assert_eq!(document(&devices(&options).output().unwrap())["pci"], expected);
}

#[test]
fn devices_of_a_host() {
    let host = host(Config { devices: 3, ..Config::with_version(Arch::Cayman, Version::V2_27) });
    let Some(output) = run(&host, devices(&["--json"])) else { return };
    assert_eq!(status(&output), 0, "{}", text(&output));
    let found = document(&output);
    assert_eq!(found["driver"], "2.27.4.0");
    let list = found["devices"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    let device = &list[2];
    assert_eq!((&device["index"], &device["path"]), (&2.into(), &"/dev/neuron2".into()));
    assert_eq!((&device["arch"], &device["cores"]), (&"cayman".into(), &8.into()));
    assert_eq!((&device["generation"], &device["instance"]), (&"NDv3".into(), &"trn2".into()));
    assert_eq!(device["interfaces"], serde_json::json!({"min": 10, "max": 11}));
    assert_eq!((&device["features"], device["error"].is_null()), (&"0x1ff".into(), true));
    assert_eq!(device["physical_cores"], serde_json::json!([4, 5, 6, 7, 2, 3, 0, 1]));
    let Some(output) = run(&host, devices(&[])) else { return };
    assert_eq!(text(&output).lines().filter(|line| line.contains("/dev/neuron")).count(), 3);
    assert!(text(&output).starts_with("driver 2.27.4.0\n"), "{}", text(&output));
    assert_eq!(host.lock().driver.books(), Books::default());
}

/// A device that this loader cannot speak to is listed with the reason, and makes the status 1.
#[test]
fn a_device_that_is_not_understood() {
    let host = host(Config { compat: (90, 99), ..Config::new(Arch::Sunda) });
    let Some(output) = run(&host, devices(&["--json"])) else { return };
    assert_eq!(status(&output), 1);
    let device = &document(&output)["devices"][0];
    assert_eq!((&device["error"]["code"], &device["cores"]), (&"D206".into(), &2.into()));
    assert!(device["arch"].is_null());
    let Some(output) = run(&host, devices(&[])) else { return };
    assert_eq!((status(&output), text(&output).contains("90 to 99")), (1, true), "{}", text(&output));
}
