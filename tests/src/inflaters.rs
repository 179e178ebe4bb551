//! The core's decoder of deflate data beside the hosts': whatever they are fed, they must say the same.

use loader_core::container::{Inflate, Inflated, Oxide, Stop};
use loader_std::inflate::Zlib;

/// Deflate's window.
const RING: usize = 32768;
/// Output after which a comparison ends.
const MOST: usize = 1 << 20;

/// What a decoder made of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its output.
    pub out: Vec<u8>,
    /// Bytes of input taken, where the stream ended well.
    pub used: Option<usize>,
    /// The data makes no sense.
    pub damaged: bool,
}

/// Decodes `data` in pieces of `chunk` bytes.
#[must_use]
pub fn decoded(decoder: &mut dyn Inflate, data: &[u8], chunk: usize) -> Decoded {
    let (mut ring, mut at, mut fresh) = ([0; RING], 0, true);
    let mut all = Decoded { out: Vec::new(), used: None, damaged: false };
    let mut taken = 0;
    decoder.reset();
    for mut piece in data.chunks(chunk) {
        loop {
            if at == RING {
                (at, fresh) = (0, false);
            }
            let Inflated { used, made, stop } = decoder.inflate(piece, &mut ring, at..RING, fresh);
            all.out.extend_from_slice(&ring[at..at + made]);
            at += made;
            taken += used;
            piece = &piece[used..];
            match stop {
                Stop::Room if all.out.len() < MOST => {}
                Stop::Input => break,
                Stop::End => all.used = Some(taken),
                Stop::Damage => all.damaged = true,
                Stop::Room => {}
            }
            if stop != Stop::Room || all.out.len() >= MOST {
                return all;
            }
        }
    }
    all
}

/// Compares the decoders; returns what the hosts' makes of the data.
///
/// They may notice at different places that a block's codes make no sense, and nothing else. The hosts' looks at all
/// codes of a block before it decodes with them, as the reference does: it refuses more than 286 and 30 codes and a block
/// that cannot end, where the core's goes on to the first code that is none. The core's refuses at once a block whose
/// codes have no lengths, where the hosts' reads the lengths first, as the reference does, and may lack input for it.
///
/// # Panics
/// If they differ in anything else.
pub fn agree(data: &[u8], chunk: usize) -> Decoded {
    let (core, host) = (decoded(&mut Oxide::new(), data, chunk), decoded(&mut Zlib::new(), data, chunk));
    let differ = format!("the decoders differ: {} and {} bytes", core.out.len(), host.out.len());
    if host.damaged {
        assert!(core.out.starts_with(&host.out), "{differ}");
    } else if core.damaged {
        assert!(host.used.is_none() && core.out == host.out, "{differ}");
    } else {
        assert!(core == host, "{differ}");
    }
    host
}
