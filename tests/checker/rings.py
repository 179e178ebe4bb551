"""Descriptor rings: every entry of every block."""

import struct

from .neff import is_io, resolve

SEMAPHORES = 0xA00000000000
DTYPE_BYTES = {"int8": 1, "uint8": 1, "bfloat16": 2, "float16": 2, "int16": 2, "uint16": 2, "float32": 4,
               "int32": 4, "uint32": 4, "float32r": 4, "int64": 8, "uint64": 8}
FRESH = 0xCD


def runs_of(sizes, steps):
    """(offset, bytes) of each inner run; dimension 1 moves fastest, and makes runs of a byte if it is spread."""
    dense = steps[0] == 1 or sizes[0] == 1
    inner, first = (sizes[0], 1) if dense else (1, 0)
    outer = list(zip(sizes[first:], steps[first:]))
    total = 1
    for count, _ in outer:
        total *= count
    for number in range(total):
        offset, rest = 0, number
        for count, step in outer:
            offset += rest % count * step
            rest //= count
        yield offset, inner


def pieces(ends):
    """Walks several access patterns together and cuts where any inner run ends.

    An end is (runs, bytes per element); lengths are in elements. Yields ([offset per end], elements).
    """
    walks = [iter([(offset, size // unit) for offset, size in runs]) for runs, unit in ends]
    units = [unit for _, unit in ends]
    current = [next(walk, None) for walk in walks]
    while all(current):
        length = min(size for _, size in current)
        yield [offset for offset, _ in current], length
        for at, (offset, size) in enumerate(current):
            left = size - length
            current[at] = (offset + length * units[at], left) if left else next(walks[at], None)


class Entry:
    """One Tx and Rx pair."""

    def __init__(self, source, target, tx_bytes, rx_bytes):
        self.source, self.target, self.tx_bytes, self.rx_bytes = source, target, tx_bytes, rx_bytes
        self.first = self.last = self.run_end = self.semaphore = False
        self.names = 0


def descriptor_runs(core, place, descriptor):
    """The runs of a descriptor: lists of entries, one list per run."""
    sources = descriptor.get("from_arr") or [descriptor]
    cast = descriptor.get("op") == "cast"
    unit = DTYPE_BYTES[sources[0].get("from_dtype", "uint8")] if cast else 1
    to_unit = DTYPE_BYTES[descriptor.get("to_dtype", "uint8")] if cast else 1
    ends = [(runs_of(s["from_sizes"], s["from_steps"]), unit) for s in sources]
    ends.append((runs_of(descriptor["to_sizes"], descriptor["to_steps"]), to_unit))
    target = descriptor["to"]
    most = 65536 // max(unit, to_unit)
    for offsets, length in pieces(ends):
        run = []
        for done in range(0, length, most):
            count = min(most, length - done)
            for source, offset in zip(sources, offsets):
                start = source.get("from_off", 0) + offset + done * unit
                end = descriptor.get("to_off", 0) + offsets[-1] + done * to_unit
                run.append(entry(core, place, (source["from"], start, count * unit), (target, end, count * to_unit)))
        yield run


def entry(core, place, source, target):
    for name, offset, size in (source, target):
        assert offset + size <= core_size(core, name), "%s: byte %d lies outside" % (name, offset + size)
    made = Entry(resolve(core, place, *source[:2]), resolve(core, place, *target[:2]), source[2], target[2])
    made.names = sum(not is_io(core, name) for name in (source[0], target[0]))
    return made


def core_size(core, name):
    return 8 if core.vars[name]["type"] == "pointer" else core.size(name)


def finish_run(run, arch, sources):
    """A packet is a run, cut at the limit between chunks: the sources of one destination stay together."""
    limit = (128 if arch == 2 else 60) // sources * sources
    for at, made in enumerate(run):
        made.first = at % limit == 0
        made.last = at % limit == limit - 1 or at == len(run) - 1
    run[-1].run_end = True
    return run


def rings_of(core, place, one, physical):
    """{queue: [entries per hardware instance]} and the rows of `blocks`."""
    count = {name: queue.get("num_queues", 1) for name, queue in core.queues.items()}
    rings = {name: [[] for _ in range(count[name] * len(queue.get("queue_instances") or [None]))]
             for name, queue in core.queues.items()}
    rows = []
    for _, block in core.blocks():
        queue, within = core.place(block)
        instances = rings[queue][within * count[queue]:(within + 1) * count[queue]]
        used, number, written = set(), 0, 0
        for descriptor in block["desc"]:
            for run in descriptor_runs(core, place, descriptor):
                instance = number % len(instances)
                instances[instance] += finish_run(run, core.arch, len(descriptor.get("from_arr") or [None]))
                used.add(instance)
                number += 1
                seen = {made.target: made.rx_bytes for made in run}
                written += sum(seen.values())
        for instance in sorted(used):
            if "semaphore" in block:
                register = SEMAPHORES + physical * 0x4000000 + 0x2701800 + 4 * block["semaphore"]
                made = Entry(one, register, 4, 4)
                made.first = made.last = made.semaphore = True
                instances[instance].append(made)
        function = core.function(block)
        row = {"queue": queue, "id": block["id"], "function": function, "descriptors": len(block["desc"]),
               "bytes": written}
        rows.append(((queue.encode(), within, block["id"], (function or "").encode()), row))
    return rings, [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def control(made, size, arch, side):
    word = size & 0xFFFF | 1 << 24 | made.first << 26 | made.last << 27
    if not made.semaphore:
        if arch == 2 and side == "tx" and made.run_end:
            word |= 1 << 30
        if arch > 2 and side == "rx":
            word |= 1 << 29
    return word


def ring_bytes(entries, arch, side):
    out = bytearray()
    for made in entries:
        if side == "tx":
            out += struct.pack("<IIQ", control(made, made.tx_bytes, arch, side), 0x01080003, made.source)
        else:
            out += struct.pack("<IIQ", control(made, made.rx_bytes, arch, side), 0, made.target)
    return bytes(out)


def capacity(entries):
    if entries == 0:
        return 0
    return 64 if entries <= 31 else (entries + 16 + 15) // 16 * 16


def ring_usage(queue):
    if queue["type"] in ("in", "out"):
        return "DMA_RING_IO"
    if queue["type"] == "data" and not queue.get("indirect_memcpy"):
        return "DMA_RING_SPILL"
    return "DMA_RING"


def check_rings(core, place, report_core, device, faults):
    """Returns the ring entries that name a placed variable, and the rings by queue."""
    words = [a for a in report_core["allocations"] if a["tag"] == "semaphore one"]
    one = int(words[0]["address"], 16) if words else None
    if core.blocks():
        faults.expect(len(words) == 1 and device.read(one, 4) == b"\1\0\0\0", "%s: the word one", core.name)
    else:
        faults.equal(words, [], "%s: a word one without a static block", core.name)
    rings, blocks = rings_of(core, place, one, report_core["core"])
    faults.equal(report_core["blocks"], blocks, "%s: blocks", core.name)
    expected = [(name, number, side) for name in sorted(rings, key=str.encode)
                for number in range(len(rings[name])) for side in ("tx", "rx")]
    faults.equal([(r["queue"], r["instance"], r["side"]) for r in report_core["rings"]], expected,
                 "%s: rings", core.name)
    for row in report_core["rings"]:
        entries = rings[row["queue"]][row["instance"]]
        check_ring(core, row, entries, device, faults)
    return sum(made.names for instances in rings.values() for entries in instances for made in entries), rings


def check_ring(core, row, entries, device, faults):
    where = "%s %s %d %s" % (core.name, row["queue"], row["instance"], row["side"])
    faults.equal((row["entries"], row["capacity"]), (len(entries), capacity(len(entries))), "%s: size", where)
    if not entries:
        faults.equal(row["address"], None, "%s: an empty ring is not allocated", where)
        return
    address = int(row["address"], 16)
    block = device.block_of(address, 16 * row["capacity"])
    faults.expect(block is not None and block[0] == address and block[2]["size"] == 16 * row["capacity"],
                  "%s: its block", where)
    if block is None:
        return
    faults.equal(block[2]["usage"], ring_usage(core.queues[row["queue"]]), "%s: usage", where)
    found, expected = device.read(address, 16 * row["capacity"]), ring_bytes(entries, core.arch, row["side"])
    for at in range(len(entries)):
        faults.equal(found[16 * at:16 * at + 16].hex(), expected[16 * at:16 * at + 16].hex(),
                     "%s: entry %d", where, at)
    faults.expect(set(found[len(expected):]) <= {FRESH}, "%s: written past its entries", where)
