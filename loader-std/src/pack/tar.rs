//! Tar headers as compilers write them: ustar, pax where a name or a size needs it, GNU on demand.

use super::{Options, PackError};

/// Bytes of a tar block.
pub(super) const BLOCK: u64 = 512;
/// Most bytes of a user or group name.
pub(super) const OWNER_LIMIT: usize = 31;
/// First size that eleven octal digits cannot hold.
const OCTAL_END: u64 = 1 << 33;
const NAME_FIELD: usize = 100;
const PREFIX_FIELD: usize = 155;

/// How headers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ustar only; what does not fit is refused.
    Ustar,
    /// ustar, with pax records where a name or a size needs them.
    Pax,
    /// GNU tar: long names in `L` members, large sizes in base 256.
    Gnu,
}

/// Times of a pax record, in whole seconds, as older compilers write before every member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaxTimes {
    /// `atime`.
    pub accessed: u64,
    /// `ctime`.
    pub changed: u64,
    /// `mtime`.
    pub modified: u64,
}

/// Longest name that readers take from a header of its own, the NUL or the record around it included (container.md
/// §11.4).
const NAME_LIMIT: usize = 1 << 20;
/// Most that goes around a name in a pax header: the other records that are written here, and the record's own frame.
const PAX_FRAME: usize = 256;

/// Everything before a member's content: special headers and its own header.
pub(super) fn member_head(name: &[u8], size: u64, options: &Options) -> Result<Vec<u8>, PackError> {
    // Readers take an entry whose name ends with a slash as a folder, and a NUL as the name's end.
    if name.is_empty() || name.ends_with(b"/") || name.contains(&0) || name.len() + PAX_FRAME > NAME_LIMIT {
        return Err(PackError::Unreadable { name: name.to_vec() });
    }
    // They drop one `./` in front of a name.
    let dotted = name.starts_with(b"./").then(|| [b"./", name].concat());
    let name = dotted.as_deref().unwrap_or(name);
    match options.dialect {
        Dialect::Gnu => Ok(gnu_head(name, size, &options.owner)),
        Dialect::Ustar => {
            let refused = || PackError::DoesNotFit { name: name.to_vec() };
            let (prefix, rest) = split(name).filter(|_| size < OCTAL_END).ok_or_else(refused)?;
            Ok(Block { dialect: Dialect::Ustar, prefix, name: rest, size, kind: b'0', owner: &options.owner }
                .emit())
        }
        Dialect::Pax => Ok(pax_head(name, size, options)),
    }
}

fn gnu_head(name: &[u8], size: u64, owner: &[u8]) -> Vec<u8> {
    let block =
        |name, size, kind| Block { dialect: Dialect::Gnu, prefix: b"", name, size, kind, owner }.emit();
    let mut out = Vec::new();
    if name.len() > NAME_FIELD {
        out.extend(block(b"././@LongLink", name.len() as u64 + 1, b'L'));
        out.extend_from_slice(name);
        out.push(0);
        pad(&mut out);
    }
    out.extend(block(cut(name), size, b'0'));
    out
}

fn pax_head(name: &[u8], size: u64, options: &Options) -> Vec<u8> {
    let (fits, records) = pax_records(name, size, options.pax_times);
    let (prefix, rest) = fits.unwrap_or((b"", cut(name)));
    let dialect = Dialect::Pax;
    let owner = &options.owner;
    let mut out = Vec::new();
    if !records.is_empty() {
        let tail = name.get(name.len().saturating_sub(80)..).unwrap_or(name);
        let label = [b"PaxHeader/", tail].concat();
        let size = records.len() as u64;
        out.extend(Block { dialect, prefix: b"", name: &label, size, kind: b'x', owner }.emit());
        out.extend(records);
        pad(&mut out);
    }
    out.extend(Block { dialect, prefix, name: rest, size, kind: b'0', owner }.emit());
    out
}

type Split<'a> = Option<(&'a [u8], &'a [u8])>;

/// The name's place in the ustar fields if it has one, and the pax records that the member needs.
fn pax_records(name: &[u8], size: u64, times: Option<PaxTimes>) -> (Split<'_>, Vec<u8>) {
    let mut records = Vec::new();
    let fits = split(name).filter(|_| name.is_ascii() && size < OCTAL_END);
    if fits.is_none() {
        if std::str::from_utf8(name).is_err() {
            records.extend(pax_record(b"hdrcharset", b"BINARY"));
        }
        records.extend(pax_record(b"path", name));
        if size >= OCTAL_END {
            records.extend(pax_record(b"size", size.to_string().as_bytes()));
        }
    }
    if let Some(times) = times {
        let named = [("atime", times.accessed), ("ctime", times.changed), ("mtime", times.modified)];
        for (key, value) in named {
            records.extend(pax_record(key.as_bytes(), value.to_string().as_bytes()));
        }
    }
    (fits, records)
}

/// `<length> <key>=<value>\n`, where the length counts itself.
fn pax_record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    [length.to_string().as_bytes(), b" ", key, b"=", value, b"\n"].concat()
}

/// (prefix, name) for the ustar fields: the last single slash that makes both fit. Readers put one between them.
fn split(name: &[u8]) -> Split<'_> {
    if name.len() <= NAME_FIELD {
        return Some((b"", name));
    }
    let single = |at: usize| name[at] == b'/' && name[at - 1] != b'/' && name.get(at + 1) != Some(&b'/');
    let slashes = (1..name.len()).rev().filter(|&at| single(at));
    slashes
        .map(|at| (&name[..at], &name[at + 1..]))
        .find(|(prefix, rest)| prefix.len() <= PREFIX_FIELD && (1..=NAME_FIELD).contains(&rest.len()))
}

fn cut(name: &[u8]) -> &[u8] {
    name.get(..NAME_FIELD).unwrap_or(name)
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(BLOCK as usize), 0);
}

struct Block<'a> {
    dialect: Dialect,
    prefix: &'a [u8],
    name: &'a [u8],
    size: u64,
    kind: u8,
    owner: &'a [u8],
}

impl Block<'_> {
    /// The 512 bytes: mode 0644, uid, gid and time 0 (container.md §15 step 2).
    fn emit(&self) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, self.name);
        put(100, b"0000644\0");
        put(108, b"0000000\x000000000\0");
        put(124, &size_field(self.size));
        put(136, b"00000000000\0        ");
        put(156, &[self.kind]);
        put(257, if self.dialect == Dialect::Gnu { b"ustar  \0" } else { b"ustar\x0000" });
        put(265, self.owner);
        put(297, self.owner);
        if self.dialect != Dialect::Gnu {
            put(329, b"0000000\x000000000\0");
            put(345, self.prefix);
        }
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        block
    }
}

/// Eleven octal digits and a NUL, or base 256 for what they cannot hold.
fn size_field(size: u64) -> [u8; 12] {
    let mut field = [0; 12];
    if size < OCTAL_END {
        field[..11].copy_from_slice(format!("{size:011o}").as_bytes());
    } else {
        field[0] = 0x80;
        field[4..].copy_from_slice(&size.to_be_bytes());
    }
    field
}

#[cfg(test)]
mod tests {
    use super::{pax_record, size_field, split};

    #[test]
    fn pax_lengths_count_themselves() {
        assert_eq!(pax_record(b"path", b"a"), b"9 path=a\n");
        assert_eq!(pax_record(b"p", b"xxx"), b"8 p=xxx\n");
        let long = pax_record(b"path", &[b'n'; 90]);
        assert_eq!(long.len(), 99);
        assert!(long.starts_with(b"99 path="));
        let longer = pax_record(b"path", &[b'n'; 91]);
        assert!(longer.starts_with(b"101 path=") && longer.len() == 101);
    }

    #[test]
    fn names_split_at_the_last_slash_that_fits() {
        let name = [&[b'd'; 120][..], b"/", &[b'f'; 90]].concat();
        assert_eq!(split(&name).map(|(prefix, rest)| (prefix.len(), rest.len())), Some((120, 90)));
        assert!(split(&[b'x'; 101]).is_none());
        let doubled = [&[b'd'; 90][..], b"//", &[b'f'; 90]].concat();
        assert!(split(&doubled).is_none());
    }

    #[test]
    fn large_sizes_use_base_256() {
        assert_eq!(&size_field(8), b"00000000010\0");
        assert_eq!(size_field(1 << 33), [0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    }
}
