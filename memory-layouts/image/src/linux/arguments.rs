//! The command line.

use crate::layout;
use core::ffi::CStr;

/// Where to load to.
#[derive(Clone, Copy)]
pub enum Target {
    /// The simulated device.
    Simulated,
    /// The device of that number.
    Real(u32),
}

/// What was asked.
pub struct Arguments {
    pub file: &'static CStr,
    pub target: Target,
    pub allow_opaque: bool,
    pub core: u16,
}

/// Digits only: no sign.
fn number(text: &[u8]) -> Option<u32> {
    let digit = |&byte: &u8| char::from(byte).to_digit(10);
    let more = |number: u32, digit: u32| number.checked_mul(10)?.checked_add(digit);
    text.iter().try_fold(None, |number, byte| more(number.unwrap_or(0), digit(byte)?).map(Some))?
}

fn target(text: &[u8]) -> Option<Target> {
    if text == b"sim" {
        return Some(Target::Simulated);
    }
    text.strip_prefix(b"/dev/neuron").and_then(number).map(Target::Real)
}

impl Arguments {
    /// Reads the kernel's argument pointers; `None` for wrong usage.
    pub fn read(pointers: &[*const u8]) -> Option<Self> {
        // SAFETY: the kernel ends each argument with a zero byte; they live as long as the process.
        let mut words = pointers.iter().skip(1).map(|&at| unsafe { CStr::from_ptr(at.cast()) });
        let target_of_layout =
            if layout::DEVICE_KIND == "neuron" { Target::Real(0) } else { Target::Simulated };
        let mut all = Self { file: c"", target: target_of_layout, allow_opaque: false, core: 0 };
        // A bit for each thing that was said: none may be said twice.
        let mut said = 0u8;
        while let Some(word) = words.next() {
            // Comparisons of whole slices: a match would compare byte by byte.
            let text = word.to_bytes();
            let bit = if text == b"--device" {
                all.target = target(words.next()?.to_bytes())?;
                2
            } else if text == b"--core" {
                all.core = number(words.next()?.to_bytes())?.try_into().ok()?;
                4
            } else if text == b"--allow-opaque" {
                all.allow_opaque = true;
                8
            } else if text.starts_with(b"-") {
                return None;
            } else {
                all.file = word;
                1
            };
            if said & bit != 0 {
                return None;
            }
            said |= bit;
        }
        (said & 1 == 1).then_some(all)
    }
}
