#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Count instructions of this program, by ctypes: no binding is needed."""
import ctypes
import sys

MODE_TC = 3  # HWPMC_MODE_TC: count the attached processes

lib = ctypes.CDLL("libhwpmc.so.1", use_errno=True)
lib.hwpmc_error.restype = ctypes.c_char_p
lib.hwpmc_error.argtypes = [ctypes.c_void_p]
lib.hwpmc_open.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
lib.hwpmc_close.argtypes = [ctypes.c_void_p]
lib.hwpmc_close.restype = None
lib.hwpmc_open_counter.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_int,
    ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32)]
lib.hwpmc_start.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
lib.hwpmc_read.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64)]


class Counter:
    """Counts an event of this process: with Counter("instructions:u") as c: c.read()"""

    def __init__(self, event):
        self.handle = ctypes.c_void_p()
        self.id = ctypes.c_uint32()
        self.check(lib.hwpmc_open(ctypes.byref(self.handle)))
        self.check(lib.hwpmc_open_counter(self.handle, event.encode(), MODE_TC, 0, 0, 0,
                                          ctypes.byref(self.id)))
        self.check(lib.hwpmc_start(self.handle, self.id))

    def check(self, result):
        if result < 0:
            raise OSError(ctypes.get_errno(), lib.hwpmc_error(self.handle).decode())

    def read(self):
        value = ctypes.c_uint64()
        self.check(lib.hwpmc_read(self.handle, self.id, ctypes.byref(value)))
        return value.value

    def close(self):
        lib.hwpmc_close(self.handle)
        self.handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def main():
    try:
        with Counter("instructions:u") as counter:
            before = counter.read()
            total = sum(range(100000))
            after = counter.read()
    except OSError as error:
        sys.exit(error.strerror)
    print(f"sum {total}: {after - before} instructions")


if __name__ == "__main__":
    main()
