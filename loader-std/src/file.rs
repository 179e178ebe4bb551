//! Files and pipes as sources, and the buffers of one pass over them.

use crate::inflate::Zlib;
use crate::room;
use loader_core::container::{AnyLayer, Extent, Layer, Layers, Workspace};
use loader_core::error::{Code, ContainerCode, Error, Stage};
use loader_core::source::Source;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The system's refusal to read, as an error of the loader.
fn unreadable(error: &io::Error, offset: u64) -> Error {
    let errno = error.raw_os_error().and_then(|errno| u64::try_from(errno).ok()).unwrap_or(0);
    Error::new(Stage::Unpack, ContainerCode::Read).numbers(errno, 0).offset(offset)
}

/// A file that can be read anywhere. It is read with `pread`, never mapped: a file that another process
/// cuts makes a read fail instead of killing this one.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    /// File offset of the NEFF's first byte.
    base: u64,
    len: u64,
}

impl FileSource {
    /// The NEFF that starts `base` bytes into a file and may reach up to its end.
    ///
    /// # Errors
    /// The system's refusal; `base` behind the end.
    pub fn new(file: File, base: u64) -> io::Result<Self> {
        let all = file.metadata()?.len();
        let len = all.checked_sub(base).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("offset {base} lies behind the end ({all})"))
        })?;
        Ok(Self { file, base, len })
    }

    /// The same without what follows the first `len` bytes.
    #[must_use]
    pub fn cut(self, len: u64) -> Self {
        Self { len: self.len.min(len), ..self }
    }
}

impl Source for FileSource {
    fn len(&self) -> Option<u64> {
        Some(self.len)
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = left.min(out.len());
        loop {
            match self.file.read_at(&mut out[..count], self.base.saturating_add(offset)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&error, offset)),
                Ok(count) => return Ok(count),
            }
        }
    }
}

/// A pipe: its length is known at its end, and it is read once, in order.
#[derive(Debug)]
pub struct PipeSource<R> {
    pipe: R,
    at: u64,
}

impl<R: Read> PipeSource<R> {
    /// A pipe that has not been read from.
    pub const fn new(pipe: R) -> Self {
        Self { pipe, at: 0 }
    }
}

impl<R: Read> Source for PipeSource<R> {
    fn len(&self) -> Option<u64> {
        None
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        if offset != self.at {
            return Err(Error::new(Stage::Unpack, ContainerCode::NotSeekable).offset(offset));
        }
        loop {
            match self.pipe.read(out) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&error, offset)),
                Ok(count) => {
                    self.at = self.at.saturating_add(count as u64);
                    return Ok(count);
                }
            }
        }
    }
}

/// What a command line names: a file, a NEFF inside a file (`FILE@OFFSET`), or standard input (`-`).
#[derive(Debug)]
pub enum Input {
    /// A regular file.
    File(FileSource),
    /// Standard input, or something else that can be read once.
    Pipe(PipeSource<Box<dyn ReadOnce>>),
}

/// Something to read once.
pub trait ReadOnce: Read + std::fmt::Debug + Send {}
impl<T: Read + std::fmt::Debug + Send> ReadOnce for T {}

impl Input {
    /// Opens a file that was found in a folder. What is no regular file any more is refused instead of waited for.
    ///
    /// # Errors
    /// The system's refusal; something that is no regular file.
    pub fn open_found(path: &Path) -> io::Result<Self> {
        // Without O_NONBLOCK, a pipe in the file's place would wait for one who writes to it.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        FileSource::new(file, 0).map(Self::File)
    }

    /// Opens what `name` names. `FILE@OFFSET` is tried if no file has the whole name. A pipe is opened as any
    /// program opens one: that waits for its other end.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn open(name: &Path) -> io::Result<Self> {
        if name == Path::new("-") {
            return Ok(Self::Pipe(PipeSource::new(Box::new(io::stdin()))));
        }
        Self::open_path(name)
    }

    /// As [`Input::open`], with `-` for a file of that name.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn open_path(name: &Path) -> io::Result<Self> {
        let (path, base) = match split_offset(name) {
            Some((path, base)) if !name.exists() => (path, base),
            _ => (name.to_path_buf(), 0),
        };
        let file = File::open(path)?;
        let facts = file.metadata()?;
        let kind = facts.file_type();
        if kind.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        // A file without a length, as those of `/proc` are, may have content all the same: only reading tells.
        if (kind.is_file() && facts.len() > 0) || base > 0 {
            return FileSource::new(file, base).map(Self::File);
        }
        Ok(Self::Pipe(PipeSource::new(Box::new(file))))
    }
}

/// `FILE@OFFSET` as its parts; the offset is decimal, or hexadecimal after `0x`.
#[must_use]
pub fn split_offset(name: &Path) -> Option<(PathBuf, u64)> {
    let bytes = name.as_os_str().as_bytes();
    let at = bytes.iter().rposition(|&byte| byte == b'@')?;
    let digits = std::str::from_utf8(&bytes[at + 1..]).ok()?;
    let offset = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((PathBuf::from(OsStr::from_bytes(&bytes[..at])), offset))
}

impl Source for Input {
    fn len(&self) -> Option<u64> {
        match self {
            Self::File(file) => file.len(),
            Self::Pipe(pipe) => pipe.len(),
        }
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::File(file) => file.read_at(offset, out),
            Self::Pipe(pipe) => pipe.read_at(offset, out),
        }
    }
}

/// Decoders made when a file needs them, up to a number.
#[derive(Debug)]
struct GrowingLayers {
    made: Vec<Layer<Zlib>>,
    most: usize,
}

impl GrowingLayers {
    /// The decoders, at least those up to layer `at` if there may be so many.
    fn up_to(&mut self, at: usize) -> &mut [Layer<Zlib>] {
        if (self.made.len()..self.most).contains(&at) {
            // What the host has no memory for is not made, and a file that needs it is refused.
            while self.made.len() <= at && room::grow(&mut self.made, 1).is_ok() {
                self.made.push(Layer::with(Zlib::new()));
            }
        }
        &mut self.made
    }
}

impl Layers for GrowingLayers {
    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer> {
        self.up_to(at).layer(at)
    }

    fn with_outer(&mut self, at: usize) -> Option<(&mut AnyLayer, &mut AnyLayer)> {
        self.up_to(at).with_outer(at)
    }
}

/// How large the buffers of a [`Workspace`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSizes {
    /// Bytes of a file that are read at a time.
    pub input: usize,
    /// Nested gzip layers.
    pub layers: usize,
    /// Longest name of an extension record; there is room for three.
    pub name: usize,
    /// Extents of one sparse member.
    pub extents: usize,
}

impl BufferSizes {
    /// Buffers that read every file the reference reads.
    pub const MOST: Self = Self { input: 64 << 10, layers: 24, name: 1 << 20, extents: 8192 };
    /// Buffers that read every known file.
    pub const LEAST: Self = Self { input: 16 << 10, layers: 1, name: 512, extents: 0 };

    /// Bytes of the buffers together.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.input + self.inflate_bytes() + 3 * self.name + self.extent_bytes()
    }

    /// Bytes of the decoders, windows included.
    #[must_use]
    pub const fn inflate_bytes(self) -> usize {
        self.layers * (size_of::<Layer<Zlib>>() + Zlib::HEAP)
    }

    /// Bytes of the extents.
    #[must_use]
    pub const fn extent_bytes(self) -> usize {
        self.extents * size_of::<Extent>()
    }

    /// Enlarges the buffer that was too small for a file; false if none was, or it has its largest size.
    pub fn grow(&mut self, error: &Error) -> bool {
        let (size, most) = match error.code() {
            Code::Container(ContainerCode::LayerLimit) => (&mut self.layers, Self::MOST.layers),
            Code::Container(ContainerCode::NameLimit) => (&mut self.name, Self::MOST.name),
            Code::Container(ContainerCode::SparseLimit) => (&mut self.extents, Self::MOST.extents),
            _ => return false,
        };
        let larger = if *size == 0 { 16 } else { *size * 2 }.min(most);
        std::mem::replace(size, larger) != larger
    }
}

/// The buffers of a [`Workspace`], owned.
#[derive(Debug)]
pub struct Buffers {
    /// Made when it is first lent.
    input: Vec<u8>,
    input_bytes: usize,
    layers: GrowingLayers,
    names: Vec<u8>,
    extents: Vec<Extent>,
}

impl Buffers {
    /// Bytes that are read from a file at a time.
    pub const INPUT: usize = BufferSizes::MOST.input;

    /// Buffers that read every file the reference reads. Memory that a file does not need is not touched.
    #[must_use]
    pub fn new() -> Self {
        Self::sized(BufferSizes::MOST)
    }

    /// Buffers of these sizes; those for rare records are smaller where the host has no memory for them, so that a file
    /// which needs them is refused.
    #[must_use]
    pub fn sized(sizes: BufferSizes) -> Self {
        Self {
            input: Vec::new(),
            input_bytes: sizes.input,
            layers: GrowingLayers { made: Vec::new(), most: sizes.layers },
            names: names(sizes.name),
            extents: room::zeroed(sizes.extents).unwrap_or_default(),
        }
    }

    /// The buffers on loan.
    pub fn workspace(&mut self) -> Workspace<'_> {
        let Self { input, input_bytes, layers, names, extents } = self;
        input.resize(*input_bytes, 0);
        Workspace { input, layers, names, extents }
    }

    /// The same without an input buffer, for one who brings the file's bytes along.
    pub fn without_input(&mut self) -> Workspace<'_> {
        let Self { layers, names, extents, .. } = self;
        Workspace { input: &mut [], layers, names, extents }
    }
}

/// Room for three names of `most` bytes, or at least of the usual length.
fn names(most: usize) -> Vec<u8> {
    let least = || room::zeroed(3 * BufferSizes::LEAST.name.min(most));
    room::zeroed(3 * most).or_else(|_| least()).unwrap_or_default()
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferSizes, FileSource, PipeSource, split_offset};
    use loader_core::error::{ContainerCode, Error, Stage};
    use loader_core::source::Source;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_cut_file_ends_there() {
        let file = || std::fs::File::open(file!().trim_start_matches("loader-std/")).unwrap();
        let (mut cut, mut out) = (FileSource::new(file(), 4).unwrap().cut(3), [0; 8]);
        assert_eq!((cut.len(), cut.read_at(1, &mut out), cut.read_at(3, &mut out)), (Some(3), Ok(2), Ok(0)));
        let whole = FileSource::new(file(), 0).unwrap();
        let size = whole.len();
        assert_eq!(whole.cut(u64::MAX).len(), size);
    }

    #[test]
    fn offsets_in_names() {
        let parts = |name| split_offset(Path::new(name));
        assert_eq!(parts("a.pt@230"), Some((PathBuf::from("a.pt"), 230)));
        assert_eq!(parts("a@b@0x10"), Some((PathBuf::from("a@b"), 16)));
        assert_eq!(parts("a@b"), None);
        assert_eq!(parts("plain"), None);
    }

    #[test]
    fn a_pipe_is_read_in_order_only() {
        let mut pipe = PipeSource::new(&b"abc"[..]);
        let mut out = [0; 2];
        assert_eq!(pipe.read_at(0, &mut out).unwrap(), 2);
        assert_eq!(pipe.read_at(0, &mut out).unwrap_err().id().to_string(), "C702");
        assert_eq!(pipe.read_at(2, &mut out).unwrap(), 1);
        assert_eq!(pipe.read_at(3, &mut out).unwrap(), 0);
    }

    #[test]
    fn a_file_begins_at_its_base() {
        let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        let all = file.metadata().unwrap().len();
        let mut source = FileSource::new(file.try_clone().unwrap(), 1).unwrap();
        let mut out = [0; 7];
        assert_eq!(source.read_at(0, &mut out).unwrap(), 7);
        assert_eq!(&out, b"package");
        assert_eq!(source.read_at(all - 2, &mut out).unwrap(), 1);
        assert!(FileSource::new(file, all + 1).is_err());
    }

    #[test]
    fn the_buffer_that_lacks_grows() {
        let mut sizes = BufferSizes::LEAST;
        let error = |code: ContainerCode| Error::new(Stage::Unpack, code);
        assert!(
            sizes.grow(&error(ContainerCode::SparseLimit)) && sizes.grow(&error(ContainerCode::LayerLimit))
        );
        assert_eq!(sizes, BufferSizes { layers: 2, extents: 16, ..BufferSizes::LEAST });
        assert!(!sizes.grow(&error(ContainerCode::Checksum)));
        let names = std::iter::from_fn(|| sizes.grow(&error(ContainerCode::NameLimit)).then_some(())).count();
        assert_eq!((names, sizes.name), (11, BufferSizes::MOST.name));
    }
}
