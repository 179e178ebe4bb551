//! Tar archives, block by block.

/// One 512-byte header that can be edited before it is used.
#[derive(Clone, Copy, Debug)]
pub struct Head(pub [u8; 512]);

impl Head {
    /// A ustar header.
    #[must_use]
    pub fn new(name: &[u8], kind: u8, size: u64) -> Self {
        let mut head = Self([0; 512]);
        head.put(0, &name[..name.len().min(100)]);
        head.put(100, b"0000644\0").put(108, b"0000000\0").put(116, b"0000000\0");
        head.put(124, format!("{size:011o}\0").as_bytes()).put(136, b"00000000000\0");
        head.put(156, &[kind]).put(257, b"ustar\x0000");
        head.sign();
        head
    }

    /// A GNU header.
    #[must_use]
    pub fn gnu(name: &[u8], kind: u8, size: u64) -> Self {
        let mut head = Self::new(name, kind, size);
        head.put(257, b"ustar  \0").sign();
        head
    }

    /// Overwrites bytes; the checksum is left as it is.
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Sum of the header's bytes with the checksum field taken as blanks.
    #[must_use]
    pub fn sum(&self) -> u32 {
        let all = |range: &[u8]| range.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        all(&self.0) - all(&self.0[148..156]) + 8 * 32
    }

    /// Writes the right checksum.
    pub fn sign(&mut self) -> Self {
        let text = format!("{:06o}\0 ", self.sum());
        self.put(148, text.as_bytes());
        *self
    }
}

/// An archive that grows.
#[derive(Clone, Debug, Default)]
pub struct Tar(pub Vec<u8>);

impl Tar {
    /// An empty archive.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends a header as it is.
    pub fn head(&mut self, head: &Head) -> &mut Self {
        self.raw(&head.0)
    }

    /// Appends a body and its fill.
    pub fn body(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw(bytes);
        let end = self.0.len().next_multiple_of(512);
        self.0.resize(end, 0);
        self
    }

    /// Appends a header, made for the body, and the body.
    pub fn entry(&mut self, name: &[u8], kind: u8, bytes: &[u8]) -> &mut Self {
        self.head(&Head::new(name, kind, bytes.len() as u64)).body(bytes)
    }

    /// Appends a file.
    pub fn file(&mut self, name: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.entry(name.as_ref(), b'0', bytes.as_ref())
    }

    /// Appends an `x` record with those lines.
    pub fn pax(&mut self, lines: &[(&str, &[u8])]) -> &mut Self {
        let body: Vec<u8> = lines.iter().flat_map(|(key, value)| pax_line(key.as_bytes(), value)).collect();
        self.entry(b"PaxHeader", b'x', &body)
    }

    /// The archive with its end marker.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut out = self.0.clone();
        out.resize(out.len() + 1024, 0);
        out
    }

    /// The archive as it stands.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.clone()
    }
}

/// One pax line with its length.
#[must_use]
pub fn pax_line(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = [b" ", key, b"=", value, b"\n"].concat();
    let mut len = rest.len();
    while len != rest.len() + len.to_string().len() {
        len = rest.len() + len.to_string().len();
    }
    [len.to_string().as_bytes(), &rest].concat()
}

/// The tree of the conformance cases' base file.
#[must_use]
pub fn base() -> Tar {
    let mut tar = Tar::new();
    tar.file("kelf-0.json", "{\"graphs\": []}").file("neff.json", "{}\n");
    tar.file("sg00/def.json", "{\"var\": {}}").file("sg00/pe.bin", (0..64).collect::<Vec<u8>>());
    tar
}

/// The members of [`base`].
#[must_use]
pub fn base_members() -> Vec<(Vec<u8>, Vec<u8>)> {
    let member = |name: &str, bytes: &[u8]| (name.as_bytes().to_vec(), bytes.to_vec());
    vec![
        member("kelf-0.json", b"{\"graphs\": []}"),
        member("neff.json", b"{}\n"),
        member("sg00/def.json", b"{\"var\": {}}"),
        member("sg00/pe.bin", &(0..64).collect::<Vec<u8>>()),
    ]
}
