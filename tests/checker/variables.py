"""Addresses and bytes of variables."""

import struct

from .neff import resolve


def addresses_of(report_core):
    rows = {row["var_id"]: row for row in report_core["variables"]}
    return rows, {i: None if row["address"] is None else int(row["address"], 16) for i, row in rows.items()}


def check_variables(core, cores, places, index, device, faults):
    rows, place = device.report["cores"][index]["variables"], places[index]
    faults.equal(sorted(row["var_id"] for row in rows), sorted(core.by_id), "core %d: variable ids", index)
    for row in rows:
        name = core.by_id[row["var_id"]]
        var, address, size = core.vars[name], place[row["var_id"]], core.size(name)
        where = "core %d, %s" % (index, name)
        faults.equal(row["name"], name, "%s: name", where)
        faults.equal(row["class"], var["type"], "%s: class", where)
        if size is not None:
            faults.equal(row["size"], size, "%s: size", where)
        check_place(core, cores, places, index, name, address, size, device, faults)


def check_place(core, cores, places, index, name, address, size, device, faults):
    var, where = core.vars[name], "core %d, %s" % (index, name)
    kind = var["type"]
    if kind in ("input", "output", "list", "dge-table"):
        faults.equal(address, None, "%s: has no address at load", where)
        return
    faults.expect(address is not None, "%s: has no address", where)
    if address is None:
        return
    if kind == "state-buffer":
        physical = device.report["cores"][index]["core"]
        faults.equal(address, device.window(physical), "%s: state-buffer window", where)
    elif kind == "remote":
        owner, target = core.owner(name, cores)
        there = places[owner][cores[owner].vars[target]["var_id"]]
        faults.equal(address, there, "%s: address of the owner's variable", where)
    else:
        block = device.block_of(address, size)
        faults.expect(block is not None, "%s: %#x is in no live block", where, address)
        if block is None:
            return
        usage = {"file": "WEIGHT", "tmp-buf": "SCRATCHPAD_NOT_SHARED", "virtual": "SCRATCHPAD",
                 "pointer": "GENERIC"}[kind]
        faults.equal(block[2]["usage"], usage, "%s: usage", where)
    if kind == "file":
        faults.equal(device.read(address, size), core.payload(name), "%s: bytes of the constant", where)
        faults.expect(address % max(var.get("alignment", 1), 1) == 0, "%s: alignment", where)
    if kind == "pointer":
        referenced = var["referenced_var_id"]
        word = resolve(core, places[index], core.by_id[referenced], 0)
        faults.equal(device.read(address, 8), struct.pack("<Q", word), "%s: the cell", where)


def check_scratchpad(cores, places, device, faults):
    """Offsets hold within a core, and the regions of two cores do not meet."""
    regions = []
    for index, core in enumerate(cores):
        virtual = [(var.get("backing_variable_off", 0), var["size"], places[index][var["var_id"]])
                   for var in core.vars.values() if var["type"] == "virtual"]
        bases = {address - offset for offset, _, address in virtual if address is not None}
        faults.expect(len(bases) <= 1, "core %d: scratchpad offsets do not hold", index)
        if bases:
            base = bases.pop()
            regions.append((base, base + max(offset + size for offset, size, _ in virtual)))
    for low, high in zip(sorted(regions), sorted(regions)[1:]):
        faults.expect(low[1] <= high[0], "scratchpad regions overlap: %r and %r", low, high)
