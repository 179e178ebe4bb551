#!/usr/bin/env python3
"""Checks a device image against the NEFF it was loaded from.

    check_dump.py FILE.neff DUMP_DIR

DUMP_DIR is what `neffload load FILE --dump DUMP_DIR` wrote. This script reads the file itself, with the
standard library only and without a line of the loader, works out what must lie on the device, and compares:
constants, addresses, pointer cells, instruction images, every ring entry, tables, allocation order and the
counts of the report. It prints one line per fault and a summary; exit status 1 if there is a fault.
"""

import json
import os
import sys

from checker.device import Device
from checker.faults import Faults
from checker.images import INSTRUCTION_USAGE, check_images, check_triggers
from checker.neff import ARCH, ENGINES, SLOT, Core, members_of
from checker.rings import capacity, check_rings, ring_usage
from checker.variables import addresses_of, check_scratchpad, check_variables


def tables_of(core):
    """Bytes of activation and vector tables in the order of their allocation."""
    act, dve = core.files.get("act", {}), core.files.get("dve", {})
    roster = {}
    # What is no string names nothing, as if the key were not there.
    if isinstance(act.get("act_info"), str) and core.dir + "/" + act["act_info"] in core.members:
        roster = {row["name"]: row for row in json.loads(core.member(act["act_info"])).get("act_func_sets", [])}
    tables = []
    for name in act.get("activation_function_sets", []):
        row = roster.get(name, {"bkt_bin": name + "_bkt.bin", "ctrl_bin": name + "_ctrl.bin"})
        tables += [core.member(row["bkt_bin"]), core.member(row["ctrl_bin"])]
    listed = dve.get("dve_tables", [])
    for named in [listed] if isinstance(listed, dict) else listed:
        fast = named.get("control_fast_table", named.get("control_table"))
        keys = [named.get("opcode_table"), fast, named.get("control_slow_table"), named.get("datapath_table")]
        tables += [core.member(name) for name in keys if name]
    # The device is not asked for nothing.
    return [table for table in tables if table]


def check_order(core, rings, tables, report_core, device, faults):
    """Usage and size of every block in the order in which the device was asked."""
    expected = []
    for ident in sorted(core.by_id):
        name = core.by_id[ident]
        kind = core.vars[name]["type"]
        usage = {"file": "WEIGHT", "tmp-buf": "SCRATCHPAD_NOT_SHARED", "pointer": "GENERIC"}.get(kind)
        if usage:
            expected.append((usage, core.size(name)))
    if core.blocks():
        expected.append(("GENERIC", 4))

    def ring_blocks(wanted):
        for name in sorted(rings, key=str.encode):
            if ring_usage(core.queues[name]) == wanted:
                for entries in rings[name]:
                    expected.extend([(wanted, 16 * capacity(len(entries)))] * (2 if entries else 0))

    ring_blocks("DMA_RING_SPILL")
    ring_blocks("DMA_RING_IO")
    expected += [("ACT_TABLE", len(table)) for table in tables]
    images = {row["engine"]: sum(row["slots"].values()) * SLOT for row in report_core["images"]}
    expected += [(INSTRUCTION_USAGE[engine], images[engine]) for engine in ENGINES]
    ring_blocks("DMA_RING")
    own = [a for a in report_core["allocations"] if a["usage"] != "SCRATCHPAD"]
    faults.equal([(a["usage"], a["size"]) for a in own], expected, "%s: order of allocations", core.name)
    found = [device.read(int(a["address"], 16), a["size"]) for a in own if a["usage"] == "ACT_TABLE"]
    faults.expect(found == tables, "%s: bytes of the tables", core.name)


def check_core(core, cores, places, index, device, faults):
    report_core = device.report["cores"][index]
    faults.equal(report_core["subgraph"], core.name, "core %d: subgraph", index)
    check_variables(core, cores, places, index, device, faults)
    check_triggers(core, faults)
    patched = check_images(core, places[index], report_core, device, faults)
    named, rings = check_rings(core, places[index], report_core, device, faults)
    check_order(core, rings, tables_of(core), report_core, device, faults)
    cells = sum(var["type"] == "pointer" for var in core.vars.values())
    faults.equal(report_core["relocations"], {"variables": patched + cells + named, "rings": 0},
                 "%s: relocations", core.name)
    for kind, size in (("kbin", 424), ("model", 7744)):
        path = os.path.join(device.folder, "%s-%d.bin" % (kind, report_core["core"]))
        faults.expect(os.path.isfile(path) and os.path.getsize(path) == size, "%s: %d bytes", path, size)
        faults.equal(report_core["%s_bytes" % kind], size, "%s: %s_bytes", core.name, kind)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path, folder = arguments
    faults = Faults()
    members = members_of(path)
    with open(os.path.join(folder, "report.json"), "rb") as file:
        report = json.load(file)
    graph = json.loads(members.get("neff.json") or members["kelp.json"])
    kelf_name = next(node["attrs"]["kelf"] for node in graph["nodes"]
                     if node.get("attrs", {}).get("func_name") == "__kelf")
    kelf = json.loads(members[kelf_name])
    # `*` is for every device: the one that it was loaded into.
    target = report["device"]["arch"] if kelf["target"] == "*" else kelf["target"]
    cores = [Core(members, row, ARCH[target]) for row in kelf["graphs"]]
    faults.equal(len(report["cores"]), len(cores), "cores")
    device = Device(folder, report, faults)
    device.check_allocations()
    places = [addresses_of(row)[1] for row in report["cores"]]
    check_scratchpad(cores, places, device, faults)
    for index, core in enumerate(cores):
        check_core(core, cores, places, index, device, faults)
    for line in faults.lines[:200]:
        print(line)
    print("%s: %d checks, %d faults" % (os.path.basename(path), faults.checks, len(faults.lines)))
    return 1 if faults.lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
