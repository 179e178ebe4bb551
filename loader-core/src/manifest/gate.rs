//! The two gates between a file and a host: architecture and number of cores (manifests.md §5.4, §5.6).

use super::Manifest;
use super::build::fault;
use crate::arch::Arch;
use crate::error::{Error, ManifestCode, Stage};
use crate::policy::Policy;

/// The architecture gate. A remark where the policy lets the file pass all the same. A NeuronCore-v1 file has
/// no architecture (R22); a tool that names no host reads it.
pub(super) fn arch(file: Option<Arch>, policy: &Policy) -> Result<Option<Error>, Error> {
    let Some(file) = file else {
        let read = policy.tooling() && policy.host_arch().is_none();
        return if read { Ok(None) } else { Err(fault(ManifestCode::NeuronCoreV1)) };
    };
    let Some(host) = policy.host_arch().filter(|&host| host != file) else { return Ok(None) };
    let numbers = (u64::from(file.number()), u64::from(host.number()));
    if policy.allow_legacy() {
        let note = Error::new(Stage::Manifest, ManifestCode::ArchIgnored);
        return Ok(Some(note.numbers(numbers.0, numbers.1)));
    }
    Err(fault(ManifestCode::ArchMismatch).numbers(numbers.0, numbers.1))
}

/// The number of subgraphs must be 1 or that of the logical core's physical cores.
pub(super) fn cores(graphs: u32, lnc: Option<u32>) -> Result<(), Error> {
    match lnc {
        Some(available) if graphs != 1 && graphs != available => {
            Err(fault(ManifestCode::CoreCount).numbers(u64::from(graphs), u64::from(available)))
        }
        _ => Ok(()),
    }
}

impl Manifest<'_> {
    /// Whether the host that the policy names would take the file: what a load checks while it reads, for one who
    /// read it as a tool (`Policy::tooling`), which refuses nothing for the host's sake.
    ///
    /// # Errors
    /// E203 or E204 for the architecture, E208 for the number of cores, at the KELF.
    pub fn judge(&self, policy: &Policy) -> Result<(), Error> {
        let gates = arch(self.kelf().arch(), policy).and_then(|_| cores(self.graph_count(), policy.lnc));
        gates.map_err(|error| error.member(self.kelf_member()).offset(0))
    }
}

#[cfg(test)]
mod tests;
