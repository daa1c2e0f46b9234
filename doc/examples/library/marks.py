#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Marks in Python, by ctypes: hwpmc stat --markers -e instructions:u ./marks.py"""
import contextlib
import ctypes

lib = ctypes.CDLL("libhwpmc.so.1")
lib.hwpmc_mark_begin.argtypes = lib.hwpmc_mark_end.argtypes = [ctypes.c_char_p]
lib.hwpmc_mark_begin.restype = lib.hwpmc_mark_end.restype = None


@contextlib.contextmanager
def mark(name):
    """with mark("work"): the block is counted while somebody listens."""
    lib.hwpmc_mark_begin(name.encode())
    try:
        yield
    finally:
        lib.hwpmc_mark_end(name.encode())


def main():
    total = 0
    for _ in range(100):
        with mark("work"):
            total += sum(range(1000))
    print(f"sum {total}")


if __name__ == "__main__":
    main()
