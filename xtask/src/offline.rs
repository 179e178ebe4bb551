//! What could not be fetched: a host without a network skips, everything else is a fault.

use anyhow::{Result, bail};

/// What cargo and pip say where a registry cannot be reached.
const SIGNS: [&str; 8] = [
    "spurious network error",
    "Could not resolve",
    "Couldn't resolve",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "Connection refused",
    "Connection timed out",
    "Network is unreachable",
];

fn is_offline(said: &str) -> bool {
    SIGNS.iter().any(|sign| said.contains(sign))
}

/// Says that something skips because of the network, by the errors of the program that fetches.
///
/// # Errors
/// The errors, if they are of another kind.
pub(crate) fn skip(what: &str, errors: &[u8]) -> Result<()> {
    let said = String::from_utf8_lossy(errors);
    if !is_offline(&said) {
        bail!("{what}: {}", said.trim());
    }
    println!("skipped: {what}: {}", said.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::skip;

    #[test]
    fn only_the_network_is_an_excuse() {
        let offline = b"warning: spurious network error (3 tries remaining): [6] Could not resolve hostname";
        assert!(skip("crates", offline).is_ok());
        for fault in [
            &b"error: cannot update the lock file because --locked was passed"[..],
            b"error: failed to verify the checksum of `a v1.0.0`",
            b"ERROR: No matching distribution found for maturin==99",
        ] {
            assert!(skip("crates", fault).is_err());
        }
    }
}
