//! Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).
//!
//! Texts of C3xx and C4xx repeat the archive library's words (container.md §9, §10), so that a log can be
//! compared with the runtime's; what this loader found and where is in the error's place.

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).
    ContainerCode {
        VncCount = 'C' 101, Invalid, "vnc_count is deprecated. only use -1.", "a `vnc_count` of -1", "Pass -1 as `vnc_count`.";
        NotInitialized = 'C' 102, Uninitialized, "NRT uninitialized", "a call of `nrt_init` first", "Initialise the runtime first.";
        AlreadyClosed = 'C' 103, Closed, "NRT already closed", "a call before `nrt_close`", "Initialise the runtime again before the next call.";
        WrongState = 'C' 104, Failure, "Incompatible runtime state: {name}", "the state NRT_STATE_INIT", "Load from the process that initialised the runtime, after it has done so; a forked child needs a process of its own.";
        NullBuffer = 'C' 105, Invalid, "Invalid NEFF buffer", "the bytes of a file", "Pass the address of the file's bytes, not a null pointer.";
        TooShort = 'C' 106, Invalid, "Invalid number of NEFF bytes received {a:x}", "at least 1024 bytes", "The file was cut, or is no NEFF: fetch it again; `neffload find FILE` looks for a NEFF inside another file.";
        HeaderSize = 'C' 107, Invalid, "Invalid NEFF file size hdr sz: {a:x}, file sz: {b:x}:", "a `header_size` below the file size", "The file was cut, or is no NEFF: fetch it again; `neffload find FILE` looks for a NEFF inside another file.";
        LncMismatch = 'C' 108, Invalid, "Mismatch detected between Runtime configuration and NEFF. Runtime currently configured with `NEURON_LOGICAL_NC_CONFIG={a}` but NEFF {name} was compiled with `--lnc={b}`. To resolve, either recompile the NEFF with `--lnc={a}` or re-run with `NEURON_LOGICAL_NC_CONFIG={b}`.", "a file compiled with `--lnc={a}`", "With `neffload load`, give `--lnc {b}`; to a program of the C interface, NEURON_LOGICAL_NC_CONFIG={b}.";
        NoFreeCore = 'C' 109, LoadNotEnoughNc, "no free logical core ({a} in use)", "a logical core without a model", "Unload a model first.";
        CoreOutOfRange = 'C' 110, Invalid, "logical core {name}{a} does not exist", "an index below {b}, or -1 for the first free core", "Name a core that the device has; `neffload devices` lists them.";
        CoreBusy = 'C' 111, LoadNotEnoughNc, "logical core {a} is in use", "a core without a model", "Unload its model first, or let the library choose: core -1.";

        Version = 'C' 201, UnsupportedNeffVersion, "NEFF version: {a}.{b} is not supported, accepted version range: 0.x-2.x", "a major version of 0, 1 or 2", "Compile the model with a compiler whose version this loader knows.";
        UnknownFeatures = 'C' 202, UnsupportedNeffVersion, "This NEFF (version: 2.{b}, features: {a:#x}) has been compiled by a newer version of Neuron compiler. Features supported by this Neuron Runtime: {c:#x}. Please update the aws-neuronx-runtime-lib package to the latest version.", "no feature outside {c:#x}", "`neffload inspect FILE` lists the features; compile the model without the new ones, or use a newer loader.";
        DataSize = 'C' 203, Invalid, "Invalid NEFF data size({a:x} vs {b:x})", "a `data_size` of at most the file size less 1024", remedy::CUT;
        Packager = 'C' 204, UnsupportedNeffVersion, "Unsupported NEFF packager: {a}", "`pkg_version` 1 or 2", "Have the tool that wrote it write package 1 or 2, or use a newer loader.";
        EmptyPayload = 'C' 205, Invalid, "empty payload (the original aborts: len > 0)", "a payload", remedy::CUT;
        Sha256Mismatch = 'C' 206, Invalid, "SHA256 mismatch!", "the digest that the header holds", remedy::CHANGED;
        Md5Mismatch = 'C' 207, Invalid, "MD5 mismatch!", "the digest that the header holds", remedy::CHANGED;

        Unrecognized = 'C' 301, Invalid, "Failed to open NEFF Unrecognized archive format", "a tar archive, plain or in gzip", remedy::DAMAGED;
        TooManyLayers = 'C' 302, Invalid, "Failed to open NEFF Input requires too many filters for decoding", "at most 24 gzip layers", remedy::REPACK;
        OpenDeflate = 'C' 303, Invalid, "Failed to open NEFF gzip decompression failed", "deflate data", remedy::DAMAGED;
        OpenTruncated = 'C' 304, Invalid, "Failed to open NEFF truncated gzip input", "more compressed data", remedy::CUT;
        OpenTrailer = 'C' 305, Invalid, "Failed to open NEFF (null)", "the 8-byte gzip trailer", remedy::CUT;

        Deflate = 'C' 401, Invalid, "failure while reading NEFF metadata gzip decompression failed", "deflate data", remedy::DAMAGED;
        Truncated = 'C' 402, Invalid, "failure while reading NEFF metadata truncated gzip input", "more compressed data", remedy::CUT;
        Trailer = 'C' 403, Invalid, "failure while reading NEFF metadata (null)", "the 8-byte gzip trailer", remedy::CUT;
        Checksum = 'C' 404, Invalid, "failure while reading NEFF metadata Damaged tar archive (bad header checksum)", "the checksum of the 512-byte header", remedy::DAMAGED;
        CutHeader = 'C' 405, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading next header", "512 bytes", remedy::CUT;
        CutSequence = 'C' 406, Invalid, "failure while reading NEFF metadata Damaged tar archive (end-of-archive within a sequence of headers)", "the member that the extension records announce", remedy::CUT;
        CutMetadata = 'C' 407, Invalid, "failure while reading NEFF metadata Truncated archive detected while reading metadata", "the whole extension record", remedy::CUT;
        CutData = 'C' 408, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading data", "{a} more bytes", remedy::CUT;
        CutPadding = 'C' 409, Invalid, "failure while reading NEFF metadata Truncated input file ({a} bytes missing)", "padding up to the next 512-byte block", remedy::CUT;
        NegativeSize = 'C' 410, Invalid, "failure while reading NEFF metadata Tar entry has negative file size", "a size of 0 or more", remedy::REPACK;
        SizeOverflow = 'C' 411, Invalid, "failure while reading NEFF metadata Tar entry size overflow", "a size below 2^60", remedy::REPACK;
        Redundant = 'C' 412, Invalid, "failure while reading NEFF metadata Redundant '{name}' header", "one record of each kind before a member", remedy::REPACK;
        SpecialTooLarge = 'C' 413, Invalid, "failure while reading NEFF metadata Special header too large", "at most 1 MiB", remedy::REPACK;
        PaxSize = 'C' 414, Invalid, "failure while reading NEFF metadata pax extension header has invalid size", "at most 1 GiB", remedy::REPACK;
        PaxLength = 'C' 415, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: malformed attribute size field", "a decimal length and a space", remedy::REPACK;
        PaxOverlarge = 'C' 416, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attribute: overlarge", "a line that fits the record", remedy::REPACK;
        PaxEmptyKey = 'C' 417, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: empty name found", "`key=value`", remedy::REPACK;
        PaxLongKey = 'C' 418, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: overlarge attribute name", "a `=` within 512 bytes", remedy::REPACK;
        PaxLine = 'C' 419, Invalid, "failure while reading NEFF metadata Malformed pax attributes", "a newline at the declared length", remedy::REPACK;
        PaxNumberLong = 'C' 420, Invalid, "failure while reading NEFF metadata pax number too long", "at most 64 characters", remedy::REPACK;
        PaxNumber = 'C' 421, Invalid, "failure while reading NEFF metadata Tar size attribute overflow", "a number from 0 to 2^63 - 2", remedy::REPACK;
        PaxTime = 'C' 422, Invalid, "failure while reading NEFF metadata pax time out of range", "a time from 0 to 2^63 - 2", remedy::REPACK;
        PaxNameLong = 'C' 423, Invalid, "failure while reading NEFF metadata pax name too long", "at most 1 MiB", remedy::REPACK;
        PaxCharset = 'C' 424, Invalid, "failure while reading NEFF metadata unknown hdrcharset", "`BINARY` or `ISO-IR 10646 2000 UTF-8`", remedy::REPACK;
        PaxUtf8 = 'C' 425, Invalid, "failure while reading NEFF metadata Pathname can't be converted from UTF-8 to current locale.", "UTF-8, or `hdrcharset=BINARY`", remedy::REPACK;
        SolarisAcl = 'C' 426, Invalid, "failure while reading NEFF metadata Solaris ACL records are not supported by this tool", "an archive without Solaris ACL records", remedy::REPACK;
        SparseMap = 'C' 427, Invalid, "failure while reading NEFF metadata bad sparse map", "decimal numbers and commas", remedy::REPACK;
        SparseCut = 'C' 428, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading sparse file data", "a 512-byte block of the sparse map", remedy::CUT;
        SparseKind = 'C' 429, Invalid, "failure while reading NEFF metadata Non-regular file cannot be sparse", "a regular file", remedy::REPACK;
        SparseForm = 'C' 430, Invalid, "failure while reading NEFF metadata Unrecognized GNU sparse file format", "form 0.0, 0.1 or 1.0", remedy::REPACK;
        SparseText = 'C' 431, Invalid, "failure while reading NEFF metadata (null)", "a decimal line of the sparse map", remedy::REPACK;
        SparseExtent = 'C' 432, Invalid, "failure while reading NEFF metadata Malformed sparse map data", "offsets and lengths of 0 or more", remedy::REPACK;
        SparseOrder = 'C' 433, Invalid, "failure while reading NEFF metadata Encountered out-of-order sparse blocks", "extents in ascending order", remedy::REPACK;
        ShortRead = 'C' 434, Invalid, "failure while reading NEFF metadata (open NEFF) short read", "data up to the declared size", remedy::CUT;

        MemberLimit = 'C' 501, Resource, "more than {a} archive members", "at most {a}", "Raise `Limits::members`.";
        NameLimit = 'C' 502, Resource, "a member name longer than {a} bytes", "at most {a} bytes", "Raise `Limits::name_bytes` and the name buffer.";
        NamesLimit = 'C' 503, Resource, "member names of more than {a} bytes together", "at most {a} bytes", "Raise `Limits::names_total`.";
        PaxLimit = 'C' 504, Resource, "a pax record of {a} bytes", "at most {b} bytes", "Raise `Limits::pax_bytes`.";
        InflatedLimit = 'C' 505, Resource, "the payload inflates to more than {a} bytes", "at most {a} bytes", "Raise `Limits::inflated_bytes` if the file can be trusted; a small file that inflates without end is an attack.";
        SparseLimit = 'C' 506, Resource, "a sparse map of more than {a} extents", "at most {a} extents", "Give a larger extent buffer.";
        LayerLimit = 'C' 507, Resource, "gzip layer {a} has no decoder", "at most {b} nested layers", "Give more layers of workspace, or let the process have more memory (`ulimit -v`).";

        StoreFull = 'C' 601, Resource, "fail to allocate memory({a}) for file {name}", "room for the whole member", "Give a larger store, or stream the file.";
        FileNotFound = 'C' 602, Invalid, "file not found {name} in NEFF", "a member of that name", "`neffload members FILE` lists what is there.";
        Unjudged = 'C' 603, Resource, "not judged: {a} bytes were read already for refused files that overlap", "files that do not overlap", "`neffload verify FILE@OFFSET` judges it by itself.";

        Read = 'C' 701, Failure, "the file cannot be read (errno {a})", "a file that can be read", "Check its path, its permissions and the disk.";
        NotSeekable = 'C' 702, Invalid, "a pipe cannot be read twice, which streamed mode needs", "a file", "Give a file, or load it resident.";
        Changed = 'C' 703, Failure, "the file changed while it was read", "the same bytes in every pass", "Load it again when nobody writes to it.";

        ArenaFull = 'C' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena, with `--max-memory` on the command line; `neffload plan FILE` prints the exact need.";
        HostMemory = 'C' 802, Resource, "the host has no memory for {name}: {a} bytes asked for", "that many bytes, and some to work with", remedy::HOST;
        Internal = 'C' 901, Failure, "internal invariant broken: {name}", "it to hold", remedy::REPORT;

        WCrc = 'W' 701, Success, "the gzip trailer's CRC-32 is {a:x}, the data's is {b:x}", "the CRC-32 of the data", "The runtime does not look, but the file is damaged.";
        WLength = 'W' 702, Success, "the gzip trailer counts {a} bytes, the data has {b}", "the length of the data", "The runtime does not look, but the file is damaged.";
        WAfterStream = 'W' 703, Success, "bytes that are not zero follow the gzip stream", "zeros, or nothing", "Nothing needs doing: the archive ends before them.";
        WAfterEnd = 'W' 704, Success, "the compressed stream is damaged after the end of the archive", "a compressed stream that is whole to its end", remedy::DAMAGED;
        WDuplicate = 'W' 705, Success, "member {name} occurs again; the last one counts", "each name once", remedy::REPACK;
        WNoEndMarker = 'W' 706, Success, "the archive has no end marker", "two blocks of zeros at the end", remedy::CUT;
        WLink = 'W' 707, Success, "member {name} is a link or a device; it counts as empty", "regular files", remedy::REPACK;
        WSparse = 'W' 708, Success, "member {name} is sparse", "members with all their bytes", "Nothing needs doing: holes read as zeros.";
        WUnsafeName = 'W' 709, Success, "member name {name} leaves the archive's folder", "names inside the archive's folder", "`neffload extract` refuses such a name; do not unpack the file with another tool.";
        WTrailing = 'W' 710, Success, "{a} bytes follow the payload", "nothing after the payload", "Nothing needs doing; `neffload find FILE` looks for another NEFF there.";
        WNotVerified = 'W' 711, Success, "the stored digest differs from the payload's", "the digest of the payload", remedy::CHANGED;
    }
}
