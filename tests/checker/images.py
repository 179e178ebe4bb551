"""Instruction images and triggers."""

import struct

from .neff import ENGINES, SLOT, is_io, resolve

INSTRUCTION_USAGE = {"pe": "INSTR_PE", "act": "INSTR_ACT", "pool": "INSTR_POOL", "dve": "INSTR_DVE",
                     "sp": "INSTR_SP"}
# Slots kept byte for byte because nobody outside knows what they become.
OPAQUE = {0xC1, 0xC2, 0xC3, 0xC4, 0xC6, 0xC9, 0xCD, 0xCE, 0xCF, 0xD0, 0xD5, 0xD8, 0xDE}


class Image:
    """What an engine's stream must become, and the counts that go with it."""

    def __init__(self, core, place, engine, faults):
        self.core, self.place, self.faults = core, place, faults
        self.where = "%s %s" % (core.name, engine)
        self.main, self.pseudo = [], {}
        self.patched = self.bound = self.indirect = self.opaque = 0
        slots = core.slots(engine)
        at = 0
        while at < len(slots):
            at += self.translate(slots, at)

    def translate(self, slots, at):
        slot = slots[at]
        opcode = slot[0]
        if opcode == 0xA9 or 0xC1 <= opcode <= 0xDF:
            self.count(opcode)
        if opcode == 0xCC:
            return 1
        if opcode == 0xD4:
            return self.request(slots, at)
        self.faults.expect(opcode != 0xDA, "%s: slot %d: da without a request", self.where, at)
        self.opaque += opcode in OPAQUE
        self.main.append(slot)
        return 1

    def count(self, opcode):
        key = "0x%02x" % opcode
        self.pseudo[key] = self.pseudo.get(key, 0) + 1

    def request(self, slots, at):
        slot = slots[at]
        markers = [slot[0x17], slot[0x2F]]
        # Bits 3, 6 and 7: offset, shape or address in a register. Bits 0 and 1 mean nothing.
        self.indirect += any(marker & 0xC8 for marker in markers)
        kept = any(marker and marker & 0xFC not in (0x10, 0x20) for marker in markers)
        self.check_operands(slot, at)
        if at + 1 < len(slots) and slots[at + 1][0] == 0xDA:
            self.count(0xDA)
            self.opaque += 1
            self.main += [slot, slots[at + 1]]
            return 2
        if kept:
            self.opaque += 1
            self.main.append(slot)
            return 1
        out = bytearray(slot)
        out[0] = 0xB8
        for place in (0x10, 0x28):
            out[place:place + 8] = struct.pack("<Q", self.patch(slot, place))
        self.main.append(bytes(out))
        return 1

    def operand(self, slot, place):
        low, high = struct.unpack_from("<II", slot, place)
        ident, marker = high & 0xFFFFFF, high >> 24
        if marker & 0xF4 == 0x20:
            ident = self.core.table[ident]
        return low, ident, marker

    def check_operands(self, slot, at):
        for place in (0x10, 0x28):
            low, ident, marker = self.operand(slot, place)
            if marker & 0xF4 not in (0x10, 0x20):
                continue
            self.faults.expect(ident in self.core.by_id, "%s: slot %d names variable %d", self.where, at, ident)
            if not marker & 8 and ident in self.core.by_id:
                size = self.core.size(self.core.by_id[ident])
                self.faults.expect(low < size, "%s: slot %d: offset %d of %d", self.where, at, low, size)

    def patch(self, slot, place):
        low, ident, marker = self.operand(slot, place)
        if marker == 0:
            return struct.unpack_from("<Q", slot, place)[0]
        name = self.core.by_id[ident]
        if is_io(self.core, name):
            self.bound += 1
        else:
            self.patched += 1
        return resolve(self.core, self.place, name, low)

    def bytes(self):
        """One preamble slot of zeros, the stream, one postamble slot of zeros."""
        return bytes(SLOT) + b"".join(self.main) + bytes(SLOT)


def check_images(core, place, report_core, device, faults):
    """Returns the patched operands of the core."""
    patched = 0
    faults.equal([row["engine"] for row in report_core["images"]], ENGINES, "%s: engines", core.name)
    for row in report_core["images"]:
        engine = row["engine"]
        image, where = Image(core, place, engine, faults), "%s %s" % (core.name, engine)
        expected = image.bytes()
        address = int(row["address"], 16)
        faults.equal(device.read(address, len(expected)), expected, "%s: image", where)
        block = device.block_of(address, len(expected))
        faults.expect(block is not None and block[2]["usage"] == INSTRUCTION_USAGE[engine]
                      and block[2]["size"] == len(expected), "%s: block of the image", where)
        faults.expect(address % 0x8000 == 0, "%s: alignment of the image", where)
        faults.equal(row["slots"], {"preamble": 1, "main": len(image.main), "postamble": 1, "function": 0},
                     "%s: slots", where)
        faults.equal(row["pseudo"], image.pseudo, "%s: pseudo-instructions", where)
        faults.equal((row["patched"], row["bound_at_execute"], row["register_indirect"], row["opaque"]),
                     (image.patched, image.bound, image.indirect, image.opaque),
                     "%s: patched, bound, register-indirect, opaque", where)
        patched += image.patched
    return patched


def check_triggers(core, faults):
    """Every block is started exactly once, by the engine that declares it, in the block's function."""
    started = {}
    for engine in ENGINES:
        function = None
        for slot in core.slots(engine):
            if slot[0] not in (0xC1, 0xD1):
                continue
            name = slot[12:44].split(b"\0")[0].decode()
            if slot[0] == 0xD1:
                function = None if name == "main" else name
            else:
                ident = struct.unpack_from("<I", slot, 48)[0]
                key = (engine, core.triggered(name, ident, function), ident, function)
                started[key] = started.get(key, 0) + 1
    declared = {(engine, core.place(block), block["id"], core.function(block)): 1 for engine, block in core.blocks()}
    faults.equal(started, declared, "%s: triggers and blocks", core.name)
