# SPDX-License-Identifier: BSD-2-Clause
"""hwlog - writes logs of samples that a test knows, by the layouts of
include/uapi/hwpmc_log.h, and finds out where a real ELF file has its functions."""
import os
import struct
import subprocess

(CLOSELOG, DROPNOTIFY, INITIALIZE, PMCALLOCATE, PROCEXEC, MAP_IN, CALLCHAIN,
 PROC_CREATE, CPU, CONTEXT, THROTTLE, NOTE) = 1, 2, 3, 5, 9, 14, 16, 20, 64, 65, 66, 69
PRECISE = 75
USER, HIDDEN, SPLIT = 1, 2, 16
PC_HIDDEN, PC_USER = 2**64 - 1, 2**64 - 2
HAS_BUILD_ID, ANON = 2, 4
START = 1_700_000_000_000_000_000       # ns of the first record


class Log:
    """Records are kept in order; time goes on by a microsecond a sample."""

    def __init__(self, command="the program", owner=1):
        self.data = bytearray()
        self.time = 1000
        self.thread = None
        self.samples = 0
        self.record(INITIALIZE, struct.pack(
            "<QIIIIIIQQQiI64s", 0x474f4c434d505748, 0x10000, 1, 0, 2, 2,
            1_000_000, self.time, self.time, START, owner, 1, b"GenuineTest-6"))
        self.record(CPU, b"")
        self.note(0, "command=" + command)

    def record(self, kind, body, flags=0, ident=0):
        body += bytes(-len(body) % 8)
        self.data += struct.pack("<HBBIQ", 16 + len(body), kind, flags, ident,
                                 self.time) + body

    def note(self, ident, text):
        self.record(NOTE, os.fsencode(text) + b"\0", ident=ident)

    def event(self, ident, name, period):
        self.note(ident, "event=" + name)
        self.record(PMCALLOCATE, struct.pack(
            "<IIIIIIQQQ64s", 7, 0, 0, 0, 2, 0, 0, 0, period, b""), ident=ident)

    def process(self, pid, comm, path):
        self.record(PROCEXEC, struct.pack("<ii16s", pid, pid, comm) +
                    os.fsencode(path) + b"\0")

    def map(self, pid, start, end, path, offset=0, build_id=b"", flags=0):
        flags |= HAS_BUILD_ID if build_id else 0
        self.record(MAP_IN, struct.pack(
            "<iIQQQQII20sI", pid, len(build_id), start, end, offset, 0, 0, 0,
            build_id, 0) + os.fsencode(path) + b"\0", flags)

    def sample(self, pid, tid, pcs, count=1, event=1, flags=USER):
        """count samples with this chain, pcs[0] is where it hit."""
        if self.thread != (pid, tid):
            self.record(CONTEXT, struct.pack("<ii", pid, tid))
            self.thread = (pid, tid)
        body = struct.pack("<%dQ" % len(pcs), *pcs)
        head = struct.Struct("<HBBIQ")
        for _ in range(count):
            self.time += 1000
            self.data += head.pack(16 + len(body), CALLCHAIN, flags, event,
                                   self.time) + body
        self.samples += count

    def precise(self, event, kind, present, words=()):
        """The words and marks of the next sample of the event."""
        self.record(PRECISE, struct.pack("<Q%dQ" % len(words), present, *words),
                    flags=kind, ident=event)

    def drop(self, samples):
        self.record(DROPNOTIFY, struct.pack(
            "<IIQ8Q", 0, 4, self.time, samples, 0, 0, 0, 0, 0, 0, 0))

    def pause(self, event, ends=False):
        self.record(THROTTLE, struct.pack("<II", 0, 50), flags=int(ends), ident=event)

    def write(self, path):
        self.record(CLOSELOG, b"")
        with open(path, "wb") as file:
            file.write(self.data)


class Elf:
    """A file with its functions, and where a process would have it."""

    def __init__(self, path, base):
        self.path, self.base = path, base
        self.symbols = {}
        for line in run("nm", "-S", path).splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "Tt":
                self.symbols[words[3]] = (int(words[0], 16), int(words[1], 16))
        self.segments = []
        for line in run("readelf", "-lW", path).splitlines():
            words = line.split()
            if words and words[0] == "LOAD":
                self.segments.append([int(w, 16) for w in words[1:6]] +
                                     ["E" in words[6:8] or "E" in words[6]])
        notes = run("readelf", "-n", path)
        self.build_id = bytes.fromhex(
            notes.split("Build ID:")[1].split()[0]) if "Build ID" in notes else b""

    def map(self, log, pid):
        for offset, virtual, _, size, _, code in self.segments:
            if code:
                start = (self.base + virtual) & -4096
                log.map(pid, start, (self.base + virtual + size + 4095) & -4096,
                        self.path, offset & -4096, self.build_id)

    def at(self, name, offset=1):
        """An address in a function, as a process would see it."""
        return self.base + self.symbols[name][0] + offset


def run(*command, check=True, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **more)
    out = done.stdout.decode("utf-8", "replace")
    if check and done.returncode:
        raise AssertionError("%s: status %d: %s" % (
            " ".join(command), done.returncode,
            (out + done.stderr.decode("utf-8", "replace"))[-400:]))
    return out
