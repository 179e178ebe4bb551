//! Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).
//!
//! Texts of C3xx and C4xx repeat the archive library's words (container.md §9, §10), so that a log can be
//! compared with the runtime's; what this loader found and where is in the error's place.

use super::table::codes;

codes! {
    /// Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).
    ContainerCode {
        VncCount = 'C' 101, Invalid, "vnc_count is deprecated. only use -1.", "a `vnc_count` of -1", "";
        NotInitialized = 'C' 102, Uninitialized, "NRT uninitialized", "", "Initialise the runtime first.";
        AlreadyClosed = 'C' 103, Closed, "NRT already closed", "", "";
        WrongState = 'C' 104, Failure, "Incompatible runtime state: {name}", "the state NRT_STATE_INIT", "";
        NullBuffer = 'C' 105, Invalid, "Invalid NEFF buffer", "the bytes of a file", "";
        TooShort = 'C' 106, Invalid, "Invalid number of NEFF bytes received {a:x}", "at least 1024 bytes", "The file is cut, or is no NEFF.";
        HeaderSize = 'C' 107, Invalid, "Invalid NEFF file size hdr sz: {a:x}, file sz: {b:x}:", "a `header_size` below the file size", "The file is cut, or is no NEFF.";
        LncMismatch = 'C' 108, Invalid, "Mismatch detected between Runtime configuration and NEFF. Runtime currently configured with `NEURON_LOGICAL_NC_CONFIG={a}` but NEFF {name} was compiled with `--lnc={b}`. To resolve, either recompile the NEFF with `--lnc={a}` or re-run with `NEURON_LOGICAL_NC_CONFIG={b}`.", "", "";
        NoFreeCore = 'C' 109, LoadNotEnoughNc, "no free logical core ({a} in use)", "", "Unload a model first.";
        CoreOutOfRange = 'C' 110, Invalid, "logical core {a} does not exist", "an index below {b}", "";
        CoreBusy = 'C' 111, LoadNotEnoughNc, "logical core {a} is in use", "", "Unload its model first.";

        Version = 'C' 201, UnsupportedNeffVersion, "NEFF version: {a}.{b} is not supported, accepted version range: 0.x-2.x", "", "";
        UnknownFeatures = 'C' 202, UnsupportedNeffVersion, "This NEFF (version: 2.{b}, features: {a:#x}) has been compiled by a newer version of Neuron compiler. Features supported by this Neuron Runtime: {c:#x}. Please update the aws-neuronx-runtime-lib package to the latest version.", "", "";
        DataSize = 'C' 203, Invalid, "Invalid NEFF data size({a:x} vs {b:x})", "a `data_size` of at most the file size less 1024", "The file is cut.";
        Packager = 'C' 204, UnsupportedNeffVersion, "Unsupported NEFF packager: {a}", "`pkg_version` 1 or 2", "";
        EmptyPayload = 'C' 205, Invalid, "empty payload (the original aborts: len > 0)", "a payload", "";
        Sha256Mismatch = 'C' 206, Invalid, "SHA256 mismatch!", "the digest that the header holds", "The file was changed after it was written.";
        Md5Mismatch = 'C' 207, Invalid, "MD5 mismatch!", "the digest that the header holds", "The file was changed after it was written.";

        Unrecognized = 'C' 301, Invalid, "Failed to open NEFF Unrecognized archive format", "a tar archive, plain or in gzip", "";
        TooManyLayers = 'C' 302, Invalid, "Failed to open NEFF Input requires too many filters for decoding", "at most 24 gzip layers", "";
        OpenDeflate = 'C' 303, Invalid, "Failed to open NEFF gzip decompression failed", "deflate data", "The file is damaged.";
        OpenTruncated = 'C' 304, Invalid, "Failed to open NEFF truncated gzip input", "more compressed data", "The file is cut.";
        OpenTrailer = 'C' 305, Invalid, "Failed to open NEFF (null)", "the 8-byte gzip trailer", "The file is cut.";

        Deflate = 'C' 401, Invalid, "failure while reading NEFF metadata gzip decompression failed", "deflate data", "The file is damaged.";
        Truncated = 'C' 402, Invalid, "failure while reading NEFF metadata truncated gzip input", "more compressed data", "The file is cut.";
        Trailer = 'C' 403, Invalid, "failure while reading NEFF metadata (null)", "the 8-byte gzip trailer", "The file is cut.";
        Checksum = 'C' 404, Invalid, "failure while reading NEFF metadata Damaged tar archive (bad header checksum)", "the checksum of the 512-byte header", "The archive is damaged.";
        CutHeader = 'C' 405, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading next header", "512 bytes", "The archive is cut.";
        CutSequence = 'C' 406, Invalid, "failure while reading NEFF metadata Damaged tar archive (end-of-archive within a sequence of headers)", "the member that the extension records announce", "The archive is cut.";
        CutMetadata = 'C' 407, Invalid, "failure while reading NEFF metadata Truncated archive detected while reading metadata", "the whole extension record", "The archive is cut.";
        CutData = 'C' 408, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading data", "{a} more bytes", "The archive is cut.";
        CutPadding = 'C' 409, Invalid, "failure while reading NEFF metadata Truncated input file ({a} bytes missing)", "padding up to the next 512-byte block", "The archive is cut.";
        NegativeSize = 'C' 410, Invalid, "failure while reading NEFF metadata Tar entry has negative file size", "a size of 0 or more", "";
        SizeOverflow = 'C' 411, Invalid, "failure while reading NEFF metadata Tar entry size overflow", "a size below 2^60", "";
        Redundant = 'C' 412, Invalid, "failure while reading NEFF metadata Redundant '{name}' header", "one record of each kind before a member", "";
        SpecialTooLarge = 'C' 413, Invalid, "failure while reading NEFF metadata Special header too large", "at most 1 MiB", "";
        PaxSize = 'C' 414, Invalid, "failure while reading NEFF metadata pax extension header has invalid size", "at most 1 GiB", "";
        PaxLength = 'C' 415, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: malformed attribute size field", "a decimal length and a space", "";
        PaxOverlarge = 'C' 416, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attribute: overlarge", "a line that fits the record", "";
        PaxEmptyKey = 'C' 417, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: empty name found", "`key=value`", "";
        PaxLongKey = 'C' 418, Invalid, "failure while reading NEFF metadata Ignoring malformed pax attributes: overlarge attribute name", "a `=` within 512 bytes", "";
        PaxLine = 'C' 419, Invalid, "failure while reading NEFF metadata Malformed pax attributes", "a newline at the declared length", "";
        PaxNumberLong = 'C' 420, Invalid, "failure while reading NEFF metadata pax number too long", "at most 64 characters", "";
        PaxNumber = 'C' 421, Invalid, "failure while reading NEFF metadata Tar size attribute overflow", "a number from 0 to 2^63 - 2", "";
        PaxTime = 'C' 422, Invalid, "failure while reading NEFF metadata pax time out of range", "a time from 0 to 2^63 - 2", "";
        PaxNameLong = 'C' 423, Invalid, "failure while reading NEFF metadata pax name too long", "at most 1 MiB", "";
        PaxCharset = 'C' 424, Invalid, "failure while reading NEFF metadata unknown hdrcharset", "`BINARY` or `ISO-IR 10646 2000 UTF-8`", "";
        PaxUtf8 = 'C' 425, Invalid, "failure while reading NEFF metadata Pathname can't be converted from UTF-8 to current locale.", "UTF-8, or `hdrcharset=BINARY`", "";
        SolarisAcl = 'C' 426, Invalid, "failure while reading NEFF metadata Solaris ACL records are not supported by this tool", "", "";
        SparseMap = 'C' 427, Invalid, "failure while reading NEFF metadata bad sparse map", "decimal numbers and commas", "";
        SparseCut = 'C' 428, Invalid, "failure while reading NEFF metadata Truncated tar archive detected while reading sparse file data", "a 512-byte block of the sparse map", "The archive is cut.";
        SparseKind = 'C' 429, Invalid, "failure while reading NEFF metadata Non-regular file cannot be sparse", "a regular file", "";
        SparseForm = 'C' 430, Invalid, "failure while reading NEFF metadata Unrecognized GNU sparse file format", "form 0.0, 0.1 or 1.0", "";
        SparseText = 'C' 431, Invalid, "failure while reading NEFF metadata (null)", "a decimal line of the sparse map", "";
        SparseExtent = 'C' 432, Invalid, "failure while reading NEFF metadata Malformed sparse map data", "offsets and lengths of 0 or more", "";
        SparseOrder = 'C' 433, Invalid, "failure while reading NEFF metadata Encountered out-of-order sparse blocks", "extents in ascending order", "";
        ShortRead = 'C' 434, Invalid, "failure while reading NEFF metadata (open NEFF) short read", "data up to the declared size", "";

        MemberLimit = 'C' 501, Resource, "more than {a} archive members", "", "Raise `Limits::members`.";
        NameLimit = 'C' 502, Resource, "a member name longer than {a} bytes", "", "Raise `Limits::name_bytes` and the name buffer.";
        NamesLimit = 'C' 503, Resource, "member names of more than {a} bytes together", "", "Raise `Limits::names_total`.";
        PaxLimit = 'C' 504, Resource, "a pax record of {a} bytes", "at most {b} bytes", "Raise `Limits::pax_bytes`.";
        InflatedLimit = 'C' 505, Resource, "the payload inflates to more than {a} bytes", "", "Raise `Limits::inflated_bytes`.";
        SparseLimit = 'C' 506, Resource, "a sparse map of more than {a} extents", "", "Give a larger extent buffer.";
        LayerLimit = 'C' 507, Resource, "gzip layer {a} has no decoder", "at most {b} nested layers", "Give more layers of workspace.";

        StoreFull = 'C' 601, Resource, "fail to allocate memory({a}) for file {name}", "", "Give a larger store, or stream the file.";
        FileNotFound = 'C' 602, Invalid, "file not found {name} in NEFF", "", "";

        Read = 'C' 701, Failure, "the file cannot be read (errno {a})", "", "";
        NotSeekable = 'C' 702, Invalid, "a pipe cannot be read twice, which streamed mode needs", "a file", "Give a file, or load it resident.";
        Changed = 'C' 703, Failure, "the file changed while it was read", "", "Load it again.";

        ArenaFull = 'C' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'C' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";

        WCrc = 'W' 701, Success, "the gzip trailer's CRC-32 is {a:x}, the data's is {b:x}", "", "The runtime does not look, but the file is damaged.";
        WLength = 'W' 702, Success, "the gzip trailer counts {a} bytes, the data has {b}", "", "The runtime does not look, but the file is damaged.";
        WAfterStream = 'W' 703, Success, "bytes that are not zero follow the gzip stream", "", "";
        WAfterEnd = 'W' 704, Success, "the compressed stream is damaged after the end of the archive", "", "";
        WDuplicate = 'W' 705, Success, "member {name} occurs again; the last one counts", "", "";
        WNoEndMarker = 'W' 706, Success, "the archive has no end marker", "", "";
        WLink = 'W' 707, Success, "member {name} is a link or a device; it counts as empty", "", "";
        WSparse = 'W' 708, Success, "member {name} is sparse", "", "";
        WUnsafeName = 'W' 709, Success, "member name {name} leaves the archive's folder", "", "";
        WTrailing = 'W' 710, Success, "{a} bytes follow the payload", "", "";
        WNotVerified = 'W' 711, Success, "the stored digest differs from the payload's", "", "";
    }
}
