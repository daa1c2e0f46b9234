# SPDX-License-Identifier: BSD-2-Clause
"""fixture - the program and the logs that the tests of the exports share, and
`report`, which is hwpmc report under ASan and UBSan."""
import os
import random
import socket
import subprocess
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(TOP, "tests/harness"))

# pylint: disable=wrong-import-position
from hwlog import ANON, Elf, HIDDEN, Log, PC_HIDDEN, PC_USER, SPLIT, USER, run  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
HWPMC = os.path.join(BUILD, "tests/export/hwpmc")
# Of each test program its own: they may run side by side.
WORK = os.path.join(BUILD, "tests/export", "of-" + os.path.basename(sys.argv[0]))
KALLSYMS = os.path.join(WORK, "kallsyms")
os.makedirs(WORK, exist_ok=True)

KERNEL = 0xffffffff81000000
JIT = 0x7f0000000000
EVIL = [
    "</script><img src=x onerror=document.title='broken'>",
    "<!--<script>", "a;b \"q\" \\ 'x' `y` ${1+1} &lt;", "caf\u00e9 \u2603 \U0001f525",
    "tab\there", "A<T>::operator<=<B&>(C&&) const",
]


def program():
    path = os.path.join(WORK, "three")
    run("gcc", "-g", "-O1", "-fPIE", "-pie", "-Wl,--build-id=sha1", "-o", path,
        os.path.join(TOP, "tests/export/three.c"))
    return Elf(path, 0x555555554000)


def generated(pid):
    """Names of generated code, at JIT + 4096 * i, one of them no UTF-8."""
    names = [name.encode() for name in EVIL] + [b"not \xff\xfe UTF-8"]
    with open(os.path.join(WORK, "perf-%d.map" % pid), "wb") as file:
        for i, name in enumerate(names):
            file.write(b"%x 1000 %s\n" % (JIT + 4096 * i, name))
    return [JIT + 4096 * i + 16 for i in range(len(names))]


def kernel():
    with open(KALLSYMS, "w", encoding="ascii") as file:
        file.write("%x T kernel_one\n%x T kernel_two\n" %
                   (KERNEL, KERNEL + 4096))


def shares(log, elf, pid, tid, n, event=1):
    """10 n samples, 60/30/10: main calls caller, which calls two of the three."""
    main, caller = elf.at("main", 9), elf.at("caller", 9)
    log.sample(pid, tid, [elf.at("hot_sixty"), caller, main], 6 * n, event)
    log.sample(pid, tid, [elf.at("hot_thirty", 4), caller, main], 3 * n, event)
    log.sample(pid, tid, [elf.at("hot_ten"), main], n, event)


def simple_log():
    """One event, one program: /three, 1000 samples."""
    elf, log = program(), Log("./three --fast")
    log.event(1, "instructions:u", 1000)
    log.process(100, b"three", elf.path)
    elf.map(log, 100)
    shares(log, elf, 100, 100, 100)
    path = os.path.join(WORK, "simple.log")
    log.write(path)
    return elf, log, path


def rich_log():
    """Two events, two threads, another process; kernel, generated and unknown
    code, names that want to be something else, and drops."""
    elf, log = program(), Log("./three </title><script>alert(1)</script>", owner=2)
    kernel()
    log.event(1, "instructions", 1000)
    log.event(2, "cycles:u", 2003)
    log.process(100, b"three", elf.path)
    elf.map(log, 100)
    shares(log, elf, 100, 100, 20)
    shares(log, elf, 100, 101, 10)
    shares(log, elf, 100, 100, 30, event=2)
    # Into the kernel, and one whose kernel address is hidden.
    log.sample(100, 100, [KERNEL + 8, KERNEL + 4104, PC_USER,
                          elf.at("hot_ten", 3), elf.at("main", 9)], 7,
               flags=SPLIT)
    log.sample(100, 100, [PC_HIDDEN], 3, flags=HIDDEN)
    # Nothing is mapped there; a recursion; mapped, and not in a function.
    log.sample(100, 100, [0x1234, elf.at("main", 9)], 5)
    log.sample(100, 101, [elf.at("caller", 5)] + 3 * [elf.at("caller", 9)] +
               [elf.at("main", 9)], 11)
    log.sample(100, 100, [elf.base + elf.segments[1][1] + 1], 2)
    # It begins as another program, in the same thread.
    log.process(200, b"shell", "/bin/sh")
    log.sample(200, 200, [0x400000], 1)
    log.time += 500
    log.process(200, b"</script><b>x", "/bin/<evil>&")
    log.map(200, JIT, JIT + 0x100000, "//anon", flags=ANON)
    for i, pc in enumerate(generated(200)):
        log.sample(200, 200, [pc], 10 + i)
    log.drop(17)
    path = os.path.join(WORK, "rich.log")
    log.write(path)
    return elf, log, path


def report(log, kind, *options, status=0):
    """Its output's path, and what it said on stderr."""
    out = os.path.join(WORK, "%s.%s" % (os.path.basename(log), kind))
    if os.path.exists(out):
        os.unlink(out)
    done = subprocess.run(
        [HWPMC, "report", "-i", log, "--format", kind, "-o", out, "--kallsyms",
         KALLSYMS, "--perf-map", WORK, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode != status:
        raise AssertionError("hwpmc report --format %s: status %d: %s" %
                             (kind, done.returncode, said[-600:]))
    return out, said


def free_port():
    """One below those that the kernel gives to whoever connects meanwhile."""
    while True:
        port = random.randrange(10000, 30000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
