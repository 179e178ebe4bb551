#!/usr/bin/env python3
"""Asks the independent container tool about many files in one process: judge_neffpack.py NEFFPACK.PY [FLAGS ...] < PATHS

Reads paths, one a line. For each it prints one line, a JSON list with a document for every FLAGS (a word list such as
"--verify-hash" or "--runtime-lnc 2"; none is one empty list). What does not depend on the flags is worked out once.
A document that the tool cannot make is {"broken": "<its exception>"}. Standard library only.
"""
import contextlib
import functools
import importlib.util
import io
import json
import resource
import sys

MEMORY = 1 << 30


def load(path):
    spec = importlib.util.spec_from_file_location("neffpack", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["neffpack"] = module
    spec.loader.exec_module(module)
    return module


def remember(function):
    """The last result or refusal of a function of one argument."""
    last = [None, None, None]

    @functools.wraps(function)
    def remembered(argument):
        if last[0] is None or last[0] != argument:
            last[:] = [argument, None, None]
            try:
                last[1] = function(argument)
            except Exception as refusal:
                last[2] = refusal
        if last[2] is not None:
            raise last[2]
        return last[1]

    return remembered


def answer(module, path, flags):
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            module.main(["inspect", *flags.split(), path])
        return json.loads(text.getvalue())
    except Exception as broken:
        return {"broken": type(broken).__name__}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    module = load(sys.argv[1])
    module.unpack_payload = remember(module.unpack_payload)
    module.sha256 = functools.lru_cache(maxsize=1 << 12)(module.sha256)
    for line in sys.stdin:
        path = line.rstrip("\n")
        answers = [answer(module, path, flags) for flags in sys.argv[2:] or [""]]
        module.sha256.cache_clear()
        for document in answers:
            document.pop("members", None)
        print(json.dumps(answers, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
