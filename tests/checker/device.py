"""The dump: addresses and bytes of a simulated device."""

import os

SB_BASE = 0x800000000000
SB_SIZE = 0x2000000


class Device:
    """Addresses and bytes of a dump."""

    def __init__(self, folder, report, faults):
        self.folder, self.report, self.faults = folder, report, faults
        self.allocations = [(int(a["address"], 16), a["size"], a["core"], a)
                            for core in report["cores"] for a in core["allocations"]]
        self.allocations.sort(key=lambda a: a[:2])

    def check_allocations(self):
        for (address, size, core, row), following in zip(self.allocations, self.allocations[1:] + [None]):
            tag = row["usage"]
            self.faults.expect(following is None or address + size <= following[0],
                               "%s at %#x overlaps the next block", tag, address)
            align = row["align"] or 1
            self.faults.expect(address % align == 0, "%s at %#x is not aligned to %d", tag, address, align)
            self.faults.expect(row["granted"] >= size, "%s at %#x: less was granted than asked", tag, address)
            path = self.path(core, address)
            self.faults.expect(os.path.isfile(path) and os.path.getsize(path) == size,
                               "%s is not a file of %d bytes", path, size)

    def path(self, core, address):
        return os.path.join(self.folder, "%d-0x%x.bin" % (core, address))

    def block_of(self, address, size):
        """The live block that holds these bytes."""
        for start, length, core, row in self.allocations:
            if start <= address and address + size <= start + length:
                return start, core, row
        return None

    def read(self, address, size):
        block = self.block_of(address, size)
        if block is None:
            return None
        start, core, _ = block
        with open(self.path(core, start), "rb") as file:
            file.seek(address - start)
            return file.read(size)

    def window(self, core):
        return SB_BASE + core * SB_SIZE
