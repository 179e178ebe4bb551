//! What is packed: the files of a folder, or the members of another NEFF.

use crate::files::hold;
use crate::members::remarks;
use crate::output::{Followed, Output};
use crate::trouble::Trouble;
use loader_core::container::{Container, Header, Order, Resident, unpack};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::{self, Source as _};
use loader_std::container::{Remarks, VecStore};
use loader_std::file::{Buffers, Input};
use loader_std::growing::with_arena;
use loader_std::members::Members;
use loader_std::pack::tree::{self, TreeFile, collect};
use loader_std::pack::{DigestForm, HeaderFields, PackError, subgraphs};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// A member to pack.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: Vec<u8>,
    pub(super) size: u64,
    content: Content,
    /// What a file held, once somebody asked.
    held: OnceCell<io::Result<Vec<u8>>>,
}

#[derive(Debug)]
enum Content {
    /// A file of a folder.
    File(PathBuf),
    /// Bytes of another NEFF.
    Bytes(Vec<u8>),
}

/// The members in the order in which they are written, and what the header takes over.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) members: Vec<Member>,
    pub(super) header: Option<HeaderFields>,
    pub(super) digest_form: DigestForm,
}

impl Source {
    /// Opens a folder or a file. The inner error says why a file is refused.
    pub(super) fn open(path: &Path, output: &Output) -> Result<Result<Self, String>, Trouble> {
        if path.is_dir() { Self::folder(path).map(Ok) } else { Self::neff(path, output) }
    }

    fn folder(path: &Path) -> Result<Self, Trouble> {
        let files = match collect(path) {
            Ok(files) => files,
            Err(PackError::Io(error)) => return Err(Trouble::at(path)(error)),
            Err(refusal) => return Err(Trouble::Usage(refusal.to_string())),
        };
        let members = files.into_iter().map(Member::from).collect();
        Ok(Self { members, header: None, digest_form: DigestForm::Plain })
    }

    fn neff(path: &Path, output: &Output) -> Result<Result<Self, String>, Trouble> {
        let mut input = Input::open(path).map_err(Trouble::at(path))?;
        let mut notes = Remarks::new();
        let read = if let Input::File(file) = &mut input {
            let mut progress = output.progress("reading", file.len());
            Self::read(&mut Followed::new(file, |done| progress.set(done)), &mut notes)
        } else {
            // A file whose member table outgrows the arena is read again: what can be read once is held.
            Self::read(&mut hold(path, &mut input, output)?.as_slice(), &mut notes)
        };
        remarks(path, &notes, output);
        Ok(read.map_err(|error| error.to_string()))
    }

    fn read<S: source::Source>(source: &mut S, notes: &mut Remarks) -> Result<Self, Error> {
        let policy = Policy { verify_digest: false, report_digest: true, ..Policy::DEFAULT };
        let (mut buffers, limits) = (Buffers::new(), Limits::DEFAULT);
        with_arena(|arena| {
            *notes = Remarks::new();
            let mut store = VecStore::new();
            let work = buffers.workspace();
            let container = unpack(source, work, &mut store, arena, &limits, &policy, notes)?;
            Ok(Self::of(container, &store.into_bytes()))
        })
    }

    fn of(container: Container<'_>, bytes: &[u8]) -> Self {
        let resident = Resident::new(container, bytes);
        let members = container.table.iter().map(|member| Member {
            name: member.name.to_vec(),
            size: member.size,
            content: Content::Bytes(resident.bytes(member.id).unwrap_or_default().to_vec()),
            held: OnceCell::new(),
        });
        let digest_form = match container.digest.order {
            Some(Order::Swapped) => DigestForm::Swapped,
            _ => DigestForm::Plain,
        };
        Self { members: members.collect(), header: Some(fields(&container.header)), digest_form }
    }

    /// The members by name; of a name that is there twice, the last counts.
    pub(super) fn documents(&self) -> Documents<'_> {
        Documents(self.members.iter().map(|member| (member.name.as_slice(), member)).collect())
    }

    /// True if there is a member of that name.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    /// The files that the members come from; none if they come from another NEFF.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.members.iter().filter_map(|member| match &member.content {
            Content::File(path) => Some(path.as_path()),
            Content::Bytes(_) => None,
        })
    }

    /// The compiler's `info.json`.
    pub(super) fn info(&self) -> io::Result<Option<Vec<u8>>> {
        let info = self.members.iter().find(|member| member.name == b"info.json");
        match info.map(|member| &member.content) {
            Some(Content::File(path)) => read(path).map(Some),
            Some(Content::Bytes(bytes)) => Ok(Some(bytes.clone())),
            None => Ok(None),
        }
    }

    /// Subgraphs that the tree describes, which is the logical-core size it was compiled for; `None` where its
    /// manifests do not say.
    pub(super) fn cores(&self) -> Option<usize> {
        let documents =
            self.members.iter().filter(|member| member.size <= MOST_DOCUMENT && !member.name.contains(&b'/'));
        let read = |member: &Member| {
            let mut bytes = Vec::new();
            member.content().and_then(|mut content| content.read_to_end(&mut bytes)).ok()?;
            Some((member.name.clone(), bytes))
        };
        subgraphs(&documents.filter_map(read).collect::<BTreeMap<_, _>>())
    }
}

/// Largest member that is looked into for the number of subgraphs.
const MOST_DOCUMENT: u64 = 1 << 20;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    tree::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Member {
    /// All its bytes, which it keeps from then on; nothing if it cannot be read.
    fn held(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::File(path) => self.held.get_or_init(|| read(path)).as_deref().ok(),
        }
    }

    /// Gives it another content.
    pub(super) fn replace(&mut self, bytes: Vec<u8>) {
        self.size = bytes.len() as u64;
        self.content = Content::Bytes(bytes);
    }

    /// The system's refusal to read it.
    pub(super) fn trouble(&self, error: io::Error) -> Trouble {
        match &self.content {
            Content::File(path) => Trouble::at(path)(error),
            Content::Bytes(_) => Trouble::Usage(format!("{}: {error}", self.name.escape_ascii())),
        }
    }

    /// Its bytes.
    pub(super) fn content(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            Content::File(path) => Box::new(BufReader::new(tree::open(path)?)),
            Content::Bytes(bytes) => Box::new(&bytes[..]),
        })
    }
}

impl From<TreeFile> for Member {
    fn from(file: TreeFile) -> Self {
        Self { name: file.name, size: file.size, content: Content::File(file.path), held: OnceCell::new() }
    }
}

/// The members, for questions about what their manifests say.
pub(super) struct Documents<'s>(BTreeMap<&'s [u8], &'s Member>);

impl Documents<'_> {
    /// SHA-256 of a member, which is not kept.
    pub(super) fn digest(&self, name: &[u8]) -> io::Result<[u8; 32]> {
        let mut hasher = Sha256::new();
        if let Some(member) = self.0.get(name) {
            let (mut content, mut piece) = (member.content()?, vec![0; 1 << 16]);
            loop {
                match content.read(&mut piece) {
                    Ok(0) => break,
                    Ok(count) => hasher.update(&piece[..count]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(hasher.finalize().into())
    }

    /// The system's refusal to read a member that was asked for, if there was one.
    pub(super) fn trouble(&self) -> io::Result<()> {
        let refused = |member: &&Member| match member.held.get() {
            Some(Err(error)) => {
                Some(io::Error::new(error.kind(), format!("{}: {error}", member.name.escape_ascii())))
            }
            _ => None,
        };
        self.0.values().find_map(refused).map_or(Ok(()), Err)
    }
}

impl Members for Documents<'_> {
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.keys().copied()
    }

    fn content(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.get(name)?.held()
    }

    fn size(&self, name: &[u8]) -> Option<u64> {
        self.0.get(name).map(|member| member.size)
    }
}

/// Everything of a header that does not follow from the payload.
fn fields(header: &Header) -> HeaderFields {
    HeaderFields {
        major: Some(header.neff_version_major),
        minor: header.neff_version_minor,
        build: header.neff_build_version.as_bytes().to_vec(),
        num_tpb: header.num_tpb,
        uuid: Some(header.uuid),
        name: header.name.as_bytes().to_vec(),
        requested_tpb_count: header.requested_tpb_count,
        tpb_per_node: header.tpb_per_node,
        feature_bits: header.feature_bits.bits(),
        lnc_size: header.lnc_size,
    }
}
