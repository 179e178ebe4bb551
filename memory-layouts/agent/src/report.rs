//! What a load says, line by line.

use crate::load::{Loaded, Refused};
use crate::text::Text;
use core::fmt;
use loader_core::arch::Engine;
use loader_core::container::{Algorithm, Hasher};
use loader_core::error::Error;
use loader_core::plan::CoreView;

/// The verdict on one core, as one line.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'m>(pub CoreView<'m>);

impl Verdict<'_> {
    /// The line, without its end.
    #[inline(never)]
    pub fn write(&self, out: &mut Text<'_>) {
        let core = &self.0;
        let mut sums = [0u32; 4];
        for (image, _) in Engine::ALL.into_iter().filter_map(|engine| core.image(engine)) {
            let counts = [image.main, image.patched, image.bound, image.opaque];
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = sum.saturating_add(count.get());
            }
        }
        out.text("core ")
            .number(core.core().0)
            .text(" ")
            .escaped(core.kbin.subgraph_name())
            .text(": ready, ");
        out.count(core.allocations().len()).text(" blocks, ");
        for (sum, what) in sums.into_iter().zip([" slots, ", " patched, ", " bound, ", " opaque, "]) {
            out.number(sum).text(what);
        }
        out.number(core.tally().approximate.get()).text(" approximate");
    }
}

/// Shows on a host what an image writes.
fn shown(f: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Text<'_>)) -> fmt::Result {
    let mut outcome = Ok(());
    write(&mut Text::new(&mut |piece: &[u8]| {
        let piece = core::str::from_utf8(piece).unwrap_or("?");
        outcome = outcome.and_then(|()| f.write_str(piece));
    }));
    outcome
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(f, |out| self.write(out))
    }
}

/// MD5 of the kbins of all cores: the first bytes of the product, the same on every host.
#[must_use]
pub fn digest_of<D>(loaded: &Loaded<'_, '_, D>) -> [u8; 16] {
    let mut hasher = Hasher::new(Algorithm::Md5);
    hasher.update(loaded.plan.kbins().head().bytes());
    let [digest @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = hasher.finish();
    digest
}

/// Prints a load: one line per core, then the kbins' digest and what was used.
#[inline(never)]
pub fn print<D>(out: &mut Text<'_>, loaded: &Loaded<'_, '_, D>) {
    for core in loaded.plan.cores() {
        Verdict(core).write(out);
        out.text("\n");
    }
    out.text("kbins ").count(loaded.kbin_bytes).text(" bytes, md5 ");
    for byte in digest_of(loaded) {
        out.digits(u64::from(byte), 16, 2);
    }
    out.text("\nmembers ").count(loaded.peaks.members).text(", arena ").count(loaded.peaks.arena);
    out.text(", passes ").number(loaded.passes).text("\n");
}

impl Refused {
    /// The refusal, as one line without words, which take memory for text: the code, what the words would name, and the
    /// place. Where an arena ran out, also which, and how large it must be at least, for the step that failed;
    /// `neffload plan` says what suffices for all.
    #[inline(never)]
    pub fn write(&self, out: &mut Text<'_>) {
        out.text("refused, status ").number(self.error.status().number()).text(": ");
        brief(&self.error, self.member.as_bytes(), out);
        if self.least > 0 {
            out.text(" (memory.").text(self.arena()).text(": at least ").count(self.least);
            out.text(" bytes; `neffload plan` says all)");
        }
    }

    /// The layout's key of the arena that ran out.
    const fn arena(&self) -> &'static str {
        if self.of_members { "members" } else { "arena" }
    }
}

/// The refusal, as one line without the remedy; where an arena ran out, also which, and how large it must be at least.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused, status {}: {}", self.error.status().number(), self.error.in_brief(self))?;
        if self.least == 0 {
            return Ok(());
        }
        write!(f, " (memory.{}: at least {} bytes; `neffload plan` says all)", self.arena(), self.least)
    }
}

/// `E361 sg01/SP0.bin a=2 (sg01/SP0.json, byte 0, subgraph 1)`: a name that a part lacks, or a number that is 0, is left out.
fn brief(error: &Error, member: &[u8], out: &mut Text<'_>) {
    let (id, at) = (error.id(), error.at());
    out.name(&[u8::try_from(id.letter).unwrap_or(b'?')]).digits(u64::from(id.number), 10, 3);
    named(out, at.name.as_bytes(), at.name.is_cut());
    named(out, at.name2.as_bytes(), at.name2.is_cut());
    let not_zero = |number: u64| (number != 0).then_some(number);
    out.given(" a=", not_zero(at.a)).given(" b=", not_zero(at.b)).given(" c=", not_zero(at.c)).text(" (");
    match at.member {
        Some(_) if !member.is_empty() => out.escaped(member),
        Some(id) => out.text("member ").number(id.0),
        None => out.text(error.stage().name()),
    };
    out.given(", byte ", at.offset)
        .given(", element ", at.element.map(u64::from))
        .given(", subgraph ", at.subgraph.map(u64::from))
        .text(")");
}

/// A name within an error, with a sign if it was longer.
#[inline(never)]
fn named(out: &mut Text<'_>, name: &[u8], cut: bool) {
    if !name.is_empty() {
        out.text(" ").name(name);
    }
    if cut {
        out.text("…");
    }
}
