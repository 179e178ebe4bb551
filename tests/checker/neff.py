"""The file: container, definitions, streams, payloads."""

import gzip
import io
import json
import os
import re
import struct
import tarfile
import zlib

HEADER = 1024
SLOT = 64
SB_SIZE = 0x2000000
TEMPLATE = 1 << 61
ENGINES = ["pe", "act", "pool", "dve", "sp"]
ARCH = {"sunda": 2, "v2": 2, "": 2, "cayman": 3, "v3": 3, "mariana": 4, "v4": 4}


def members_of(path):
    """Archive members by name."""
    data = open(path, "rb").read()
    size = struct.unpack_from("<Q", data, 16)[0]
    payload = data[HEADER:HEADER + size]
    if payload[:2] == b"\x1f\x8b":
        start = len(payload) - len(strip_gzip_header(payload))
        payload = zlib.decompressobj(-15).decompress(payload[start:])
    archive = tarfile.open(fileobj=io.BytesIO(payload), mode="r:")
    return {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}


def strip_gzip_header(data):
    """The deflate stream: gzip's own header reader tells where it starts."""
    stream = io.BytesIO(data)
    gzip._GzipReader(stream)._read_gzip_header()    # noqa: SLF001
    return data[stream.tell():]


class Core:
    """One subgraph as the file describes it."""

    def __init__(self, members, graph, arch):
        self.members, self.arch = members, arch
        self.definition = json.loads(members[graph["definition"]])
        self.name = graph["name"]
        self.dir = os.path.dirname(graph["definition"])
        self.vars = self.definition["var"]
        self.by_id = {var["var_id"]: name for name, var in self.vars.items()}
        self.queues = self.definition.get("dma_queue", {})
        self.files = {engine: json.loads(self.member(self.definition[engine]))
                      for engine in ENGINES if engine in self.definition}
        tables = [var["list"] for var in self.vars.values() if var["type"] == "dge-table"]
        self.table = tables[0] if tables else []
        # A function goes on for the blocks of its queue that are read after the one that starts it.
        self.functions, started = {}, {}
        for _, block in self.blocks():
            queue, _ = self.place(block)
            started[queue] = block.get("function_start") or started.get(queue)
            self.functions[id(block)] = started[queue]

    def member(self, name):
        return self.members[self.dir + "/" + name]

    def stream(self, engine):
        """Bytes of an engine; a file that names none leaves it to the definition."""
        if engine not in self.files:
            return b""
        named = self.files[engine].get("instr")
        named = named if isinstance(named, str) else self.definition.get(engine + "_instr")
        return self.member(named) if isinstance(named, str) else b""

    def slots(self, engine):
        stream = self.stream(engine)
        return [stream[at:at + SLOT] for at in range(0, len(stream), SLOT)]

    def blocks(self):
        """(engine, block) in the order of the engines."""
        sources = [(None, self.definition.get("dma", []))]
        sources += [(engine, self.files[engine].get("dma", [])) for engine in ENGINES if engine in self.files]
        return [(engine, block) for engine, blocks in sources for block in blocks]

    def place(self, block):
        """Queue of a block, and the position of its instance in it."""
        for name, queue in self.queues.items():
            if block.get("instance_name") in (queue.get("queue_instances") or [name]):
                return name, (queue.get("queue_instances") or [name]).index(block["instance_name"])
        return block["queue"], 0

    def triggered(self, name, ident, function):
        """Place of the block that a trigger names: in an instance, else in the first one of a queue that has it."""
        places = [self.place(block) for _, block in self.blocks()
                  if block["id"] == ident and self.function(block) == function]
        for queue, row in self.queues.items():
            instances = row.get("queue_instances") or []
            if name in instances:
                return queue, instances.index(name)
        return min((place for place in places if place[0] == name), default=(name, 0))

    def owner(self, name, cores):
        """Subgraph and name of the variable that a remote one stands for."""
        var = self.vars[name]
        form = re.fullmatch(r"(.+)\{(\d+)\}", name) or re.fullmatch(r"(.+)_remote_(\d+)", name)
        base, index = form.groups() if form else (name, 1 - cores.index(self))
        for key in ("remote_vtpb_rel_sg_id", "remote_sg_id", "remote_core"):
            index = var.get(key, index)
        base = var.get("remote_name", base)
        ident = var.get("remote_var_id", base)
        return int(index), ident if isinstance(ident, str) else cores[int(index)].by_id[ident]

    def function(self, block):
        """Name of the function that a block is in; `None` for the main code, which a block may also start by name."""
        name = self.functions[id(block)]
        return None if name == "main" else name

    def payload(self, name):
        data = self.member(self.vars[name]["file_name"])
        if self.vars[name]["file_name"].endswith(".npy"):
            return data[10 + struct.unpack_from("<H", data, 8)[0]:]
        return data

    def size(self, name):
        var = self.vars[name]
        if var["type"] in ("state-buffer", "remote"):
            return SB_SIZE
        if var["type"] == "file":
            return len(self.payload(name))
        if var["type"] in ("list", "dge-table"):
            return 4 * len(var["list"])  # whatever the entry says
        return var.get("size")



def is_io(core, name):
    return core.vars[name]["type"] in ("input", "output")


def resolve(core, place, name, offset):
    """An absolute address, or the word that an execution replaces by a tensor's address."""
    if is_io(core, name):
        return TEMPLATE | core.vars[name]["var_id"] << 36 | offset
    return place[core.vars[name]["var_id"]] + offset
