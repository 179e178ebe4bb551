"""The parts of check_dump.py: standard library only, no code of the loader."""
