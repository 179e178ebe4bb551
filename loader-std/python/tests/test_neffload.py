"""The wheel as a program uses it, on the fixtures and, where they are there, on the sample trees."""

import errno
import json
import os
import pathlib
import subprocess

import neffload
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = sorted((ROOT / "tests" / "fixtures").glob("*.neff"))
SHARED = pathlib.Path(os.environ.get("NEFFLOAD_SHARED", ROOT.parent / "shared"))
SAMPLES = sorted((SHARED / "samples").glob("*/expected.json"))
COMMAND = os.environ.get("NEFFLOAD")


def packed(expected, folder):
    """The tree of a sample as a file."""
    if COMMAND is None:
        pytest.skip("NEFFLOAD names no neffload command to pack the trees with")
    path = folder / (expected.parent.name + ".neff")
    subprocess.run([COMMAND, "pack", expected.parent / "neff", path, "--json"], check=True, capture_output=True)
    return path


@pytest.mark.parametrize("expected", SAMPLES, ids=lambda path: path.parent.name)
def test_neffinfo_gives_the_expected_values(expected, tmp_path):
    info = neffload.NeffInfo(packed(expected, tmp_path))
    for getter, value in json.loads(expected.read_text())["neffinfo"].items():
        if "." in getter:
            continue
        name = {"kelf_nodes": "kelfNodes"}.get(getter, getter)
        refusal = value["error"] if isinstance(value, dict) and "error" in value else None
        if refusal is not None or value is None:
            with pytest.raises(neffload.Refused) as caught:
                getattr(info, name)()
            assert str(caught.value).startswith(refusal or "")
            assert caught.value.code
        elif name == "getCCRankWorldSize":
            assert info.get(name) == value
            assert info.getCCRankWorldSize() == value["world_size"]
        else:
            assert getattr(info, name)() == value, getter


@pytest.mark.parametrize("expected", SAMPLES, ids=lambda path: path.parent.name)
def test_memory_gives_the_expected_values(expected, tmp_path):
    wanted = json.loads(expected.read_text())["memory"]
    assert neffload.memory(packed(expected, tmp_path))["total_one_graph"] == wanted["total_one_graph"]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixtures(path):
    assert neffload.verify(path)["verdict"]["accepted"] is True
    document = neffload.inspect(path, digests=True)
    assert document["schema"] == "neffload.inspect/1"
    assert len(document["table"][0]["sha256"]) == 64
    info = neffload.NeffInfo.parseFile(str(path))
    assert info.members() == [member["name"] for member in document["table"]]
    assert json.loads(info.findInNeff("neff.json")) == info.getNeffJson()
    assert info.getNeffFile() == str(path) and path.name in repr(info)
    assert neffload.memory(path, page_size=512 << 20)["page_bytes"] == 512 << 20


def test_damage_and_absence(tmp_path):
    whole = FIXTURES[0].read_bytes()
    half = tmp_path / "half.neff"
    half.write_bytes(whole[: len(whole) // 2])
    verdict = neffload.verify(half)["verdict"]
    assert verdict["accepted"] is False and verdict["code"].startswith("C")
    with pytest.raises(neffload.Refused):
        neffload.NeffInfo(half)
    with pytest.raises(neffload.Refused):
        neffload.memory(half)
    for call in (neffload.NeffInfo, neffload.inspect, neffload.memory, neffload.verify):
        with pytest.raises(OSError):
            call(tmp_path / "absent.neff")
    assert issubclass(neffload.Refused, ValueError)


CALLS = (neffload.NeffInfo, neffload.NeffInfo.parseFile, neffload.inspect, neffload.memory, neffload.verify)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_paths_that_are_no_files(call, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as absent:
        call(tmp_path / "absent.neff")
    assert absent.value.errno == errno.ENOENT and absent.value.filename == str(tmp_path / "absent.neff")
    reader = call in CALLS[:2]
    assert absent.value.strerror == ("NEFF does not exist." if reader else os.strerror(errno.ENOENT))
    with pytest.raises(IsADirectoryError) as folder:
        call(tmp_path)
    assert (folder.value.errno, folder.value.strerror) == (errno.EISDIR, os.strerror(errno.EISDIR))
    with pytest.raises(ValueError, match="(?i)nul"):
        call("a\0b")
    # A name like any other, and not standard input.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        call("-")
    pathlib.Path("-").write_bytes(FIXTURES[0].read_bytes())
    call("-")


def test_a_getter_takes_no_argument_too_many():
    info = neffload.NeffInfo(FIXTURES[0])
    assert info.get("getNumNc") == info.getNumNc()
    with pytest.raises(neffload.Refused, match="getter getNumNc takes no argument") as caught:
        info.get("getNumNc", "x")
    assert caught.value.code == "N116"


def test_a_refusal_of_a_program_has_the_attributes_of_the_type():
    raised = neffload.Refused("x")
    assert (str(raised), raised.code, raised.member) == ("x", "", None)


def test_the_stub_names_what_the_module_has():
    stub = pathlib.Path(neffload.__file__).with_name("__init__.pyi").read_text()
    for name in neffload.__all__:
        assert name in stub
    assert f"__all__ = {json.dumps(neffload.__all__)}" in stub
    for name in dir(neffload.NeffInfo):
        if not name.startswith("_"):
            assert f"def {name}(" in stub, name


NUMBERS = (
    '\ufeff{"big": 123456789012345678901234567890, "low": -9223372036854775809, "inf": 1e400, "ninf": -1e400,'
    ' "exact": 18446744073709551615, "long": 0.1000000000000000055511151231257827, "whole": 1E2,'
    ' "text": "18446744073709551616", "deep": [{"n": 18446744073709551616}]}'
)


@pytest.mark.skipif(COMMAND is None, reason="NEFFLOAD names no command to pack with")
def test_numbers_are_those_of_json(tmp_path):
    tree = tmp_path / "tree"
    subprocess.run([COMMAND, "extract", FIXTURES[0], "-C", tree], check=True, capture_output=True)
    (tree / "info.json").write_text(NUMBERS, encoding="utf-8")
    path = tmp_path / "numbers.neff"
    subprocess.run([COMMAND, "pack", tree, path], check=True, capture_output=True)
    expected = json.loads(NUMBERS.lstrip("\ufeff"))
    for value in (neffload.NeffInfo(path).getInfoJson(), neffload.NeffInfo(path).get("getInfoJson")):
        assert value == expected
        assert [type(item) for item in value.values()] == [type(item) for item in expected.values()]
    assert value["inf"] == float("inf") and value["deep"][0]["n"] == 1 << 64


def test_paths_may_be_bytes():
    text = str(FIXTURES[0])
    assert neffload.NeffInfo(text.encode()).members() == neffload.NeffInfo(text).members()
    assert neffload.verify(os.fsencode(text)) == neffload.verify(text)
    for call in CALLS:
        with pytest.raises(TypeError, match="PathLike"):
            call(3)


def test_a_member_is_bytes_by_either_name():
    info = neffload.NeffInfo(FIXTURES[0])
    assert info.get("findInNeff", "neff.json") == info.findInNeff("neff.json")
    assert isinstance(info.get("findInNeff", "neff.json"), bytes)
    with pytest.raises(neffload.Refused):
        info.get("findInNeff")


def test_memory_takes_the_page_of_the_environment(monkeypatch):
    path = FIXTURES[0]
    monkeypatch.setenv("NEURON_SCRATCHPAD_PAGE_SIZE", "512")
    assert neffload.memory(path)["page_bytes"] == 512 << 20
    assert neffload.memory(path, page_size=64 << 20)["page_bytes"] == 64 << 20
    monkeypatch.setenv("NEURON_SCRATCHPAD_PAGE_SIZE", "7")
    with pytest.raises(neffload.Refused) as caught:
        neffload.memory(path)
    assert caught.value.code == "M104"
    monkeypatch.delenv("NEURON_SCRATCHPAD_PAGE_SIZE")
    assert neffload.memory(path)["page_bytes"] == 64 << 20
