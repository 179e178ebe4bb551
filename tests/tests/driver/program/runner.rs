//! `neffload-simdrv` as a parent: limits, signals, usage, and what it says.

use super::clients::{has_python, script};
use super::simdrv::{binary, simdrv};
use crate::real;
use neffload_tests::command::{Scratch, neffload, status};
use neffload_tests::fixture;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A program that many processes crowd, with few descriptors for the supervisor.
#[test]
fn few_descriptors() {
    if real::is_in_use("few_descriptors")
        || !has_python("few_descriptors")
        || simdrv(&[], &["true"]).is_none()
    {
        return;
    }
    let line = "ulimit -n 64; exec \"$0\" --faithful --books -- python3 \"$1\" crowd";
    let output = Command::new("sh").args(["-c", line]).arg(binary()).arg(script()).output().unwrap();
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(
        said(&output).contains("0 cores claimed") && said(&output).contains(" 0 open files"),
        "{}",
        said(&output)
    );
}

/// Whether a process exists and is no zombie.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Whether this process ignores SIGINT, as shells have it for programs in the background; what it starts does so too.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() & 1 << 1 != 0
}

/// The program ends with its supervisor, however that ends.
#[test]
fn the_program_ends_with_it() {
    if real::is_in_use("the_program_ends_with_it") || simdrv(&[], &["true"]).is_none() {
        return;
    }
    let scratch = Scratch::new("simdrv-signals");
    for (signal, own) in [("TERM", Some(143)), ("INT", Some(130)), ("KILL", None)] {
        if signal == "INT" && ignores_interrupts() {
            crate::rig::skipped("the_program_ends_with_it", "this process ignores SIGINT");
            continue;
        }
        let note = scratch.join(signal);
        let line = "echo $$ > \"$0\"; mv \"$0\" \"$0.pid\"; exec sleep 100";
        let mut command = Command::new(binary());
        command.args(["--", "sh", "-c", line]).arg(&note).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        let noted = note.with_extension("pid");
        while !noted.exists() {
            assert!(start.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = fs::read_to_string(&noted).unwrap().trim().to_owned();
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let ended = child.wait().unwrap();
        assert_eq!((ended.code(), ended.signal()), (own, own.is_none().then_some(9)), "{signal}");
        let start = Instant::now();
        while lives(&pid) {
            assert!(start.elapsed() < Duration::from_secs(10), "{signal}: the program goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn what_it_says() {
    if real::is_in_use("what_it_says") {
        return;
    }
    let nodes = "test -c no/where/neuron0 && test -c \"$PWD/no/where/neuron0\"";
    let Some(output) = simdrv(&["--device-dir", "./no/where/"], &["sh", "-c", nodes]) else { return };
    assert_eq!(status(&output), 0, "{}", said(&output));
    let Some(output) = simdrv(&[], &["sh", "-c", "kill -9 $$"]) else { return };
    assert_eq!(status(&output), 137);
    assert!(said(&output).contains("ended by signal 9"), "{}", said(&output));
    for (program, words) in [
        (&["/etc/passwd"][..], "/etc/passwd: the program does not start: Permission denied"),
        (&["/no/such/program"], "/no/such/program: the program does not start: No such file"),
    ] {
        let output = simdrv(&[], program).unwrap();
        assert_eq!(status(&output), 2);
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    let inner = binary().to_string_lossy().into_owned();
    let nested = Command::new(binary()).args(["--", &inner, "--", "true"]).output().unwrap();
    assert_eq!(status(&nested), 2);
    assert!(said(&nested).contains("another harness"), "{}", said(&nested));
    for bad in [["--driver", ""], ["--driver", "2"], ["--driver", "2.2"], ["--fault", "0"], ["--fault", "30"]]
    {
        let output = simdrv(&bad, &["true"]).unwrap();
        assert_eq!(status(&output), 2, "{bad:?}");
    }
    assert_eq!(status(&simdrv(&["--driver", "2.27.4.0"], &["true"]).unwrap()), 0);
    // Arguments are bytes.
    let odd = OsStr::from_bytes(b"\xff");
    let output = Command::new(binary()).args(["--", "printf", "%s"]).arg(odd).output().unwrap();
    assert_eq!((status(&output), output.stdout), (0, b"\xff".to_vec()));
    let output = Command::new(binary()).arg(odd).output().unwrap();
    assert_eq!(status(&output), 2, "{}", said(&output));
}

#[test]
fn faults_from_the_command_line() {
    if real::is_in_use("faults_from_the_command_line") {
        return;
    }
    let tool = neffload().get_program().to_string_lossy().into_owned();
    let file = fixture("cayman-2core").to_string_lossy().into_owned();
    let load = [&tool, "load", "--allow-opaque", "--device", "/dev/neuron0", &file];
    for (fault, code) in [("9@2", "D101"), ("4", "D206"), ("28@1", "D203")] {
        let Some(output) = simdrv(&["--fault", fault], &load) else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output);
        assert!(status(&output) == 1 && text.contains(code), "{fault}: {text}");
    }
}

/// Traces and remarks that nobody reads, or that do not fit on the disk, end nothing.
#[test]
fn unread_traces() {
    if real::is_in_use("unread_traces") {
        return;
    }
    let tool = neffload().get_program().to_string_lossy().into_owned();
    let file = fixture("cayman-2core").to_string_lossy().into_owned();
    let load = "\"$1\" load --trace --allow-opaque --device /dev/neuron0 \"$2\"";
    let lines = [
        // Closed before anything is written: the reader is gone when `true` is.
        format!("{{ sleep 0.2; {load} 2>&1 >/dev/null; echo $? >&3; }} | true"),
        format!("{load} 2>/dev/full >/dev/null; echo $? >&3"),
        format!("{{ sleep 0.2; \"$0\" --trace --books -- {load} 2>&1 >/dev/null; echo $? >&3; }} | true"),
        format!("\"$0\" --trace --books -- {load} 2>/dev/full >/dev/null; echo $? >&3"),
    ];
    for (at, line) in lines.into_iter().enumerate() {
        let whole = format!("exec 3>&1; {line}");
        let output = if at < 2 {
            let mut command = Command::new(binary());
            command.args(["--", "sh", "-c", &whole]).arg(binary()).args([&tool, &file]);
            command.output().unwrap()
        } else {
            Command::new("sh").args(["-c", &whole]).arg(binary()).args([&tool, &file]).output().unwrap()
        };
        if said(&output).contains("no seccomp user notification") {
            return;
        }
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0", "{whole}: {}", said(&output));
    }
}
