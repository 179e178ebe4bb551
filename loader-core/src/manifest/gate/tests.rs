#![allow(clippy::unwrap_used)]
extern crate std;
use super::*;
use crate::error::Status;
use std::string::ToString;

#[test]
fn core_counts() {
    assert!(cores(1, Some(2)).is_ok());
    assert!(cores(2, Some(2)).is_ok());
    assert!(cores(2, None).is_ok());
    let error = cores(2, Some(1)).unwrap_err();
    assert_eq!(error.log().to_string(), "Insufficient number of pncs, required 2, available 1");
    assert_eq!(error.status(), Status::LoadNotEnoughNc);
    assert_eq!(cores(3, Some(2)).unwrap_err().id().to_string(), "E208");
}

#[test]
fn architectures() {
    let host = |host_arch| Policy { host_arch, ..Policy::DEFAULT };
    let id = |file, policy: Policy| arch(file, &policy).map_err(|error| error.id().to_string());
    assert_eq!(id(Some(Arch::Sunda), host(None)), Ok(None));
    assert_eq!(id(Some(Arch::Sunda), host(Some(Arch::Sunda))), Ok(None));
    assert_eq!(id(Some(Arch::Sunda), host(Some(Arch::Cayman))).unwrap_err(), "E203");
    let legacy = Policy { allow_legacy: true, ..host(Some(Arch::Cayman)) };
    let note = id(Some(Arch::Sunda), legacy).unwrap().unwrap();
    assert_eq!((note.id().to_string().as_str(), note.at().a, note.at().b), ("W203", 2, 3));
    // A NeuronCore-v1 file: for no host that can be named, and for a tool that names none.
    assert_eq!(id(None, host(None)).unwrap_err(), "E204");
    let tool = |host_arch| Policy { tooling: true, ..host(host_arch) };
    assert_eq!(id(None, tool(None)), Ok(None));
    assert_eq!(id(None, tool(Some(Arch::Sunda))).unwrap_err(), "E204");
}
