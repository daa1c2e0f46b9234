# SPDX-License-Identifier: BSD-2-Clause
"""sums - the samples that an exported file holds, by its format. As a program:
sums.py FORMAT FILE prints them."""
import gzip
import os
import re
import sys

import rules
from hwlog import run

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))

def sum_folded(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return sum(int(line.rsplit(" ", 1)[1]) for line in file)


def sum_flamegraph(path):
    page = rules.flamegraph(path)
    return sum(sum(event["self"]) for event in page["events"])


def decoded(path):
    """pprof's messages as protoc prints them."""
    with gzip.open(path) as file:
        return run("protoc", "--decode=pprof.Profile", "--proto_path=" +
                   os.path.join(TOP, "tools", "export"), "pprof.proto",
                   input=file.read())


def sum_pprof(path):
    text = decoded(path)
    values = [int(v) for sample in re.findall(r"^sample \{(.*?)^\}", text,
                                              re.S | re.M)
              for v in re.findall(r"^  value: (\d+)", sample, re.M)[::2]]
    return sum(values)


def sum_callgrind(path):
    total, own = 0, True
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("calls="):
                own = False
            elif re.match(r"0x[0-9a-f]+ \d+ ", line):
                total += sum(map(int, line.split()[2:])) if own else 0
                own = True
    return total


def sum_firefox(path):
    return sum(sum(thread["samples"]["weight"])
               for thread in rules.firefox(path)["threads"])


def sum_speedscope(path):
    return sum(sum(profile["weights"])
               for profile in rules.speedscope(path)["profiles"])


SUMS = {"folded": sum_folded, "flamegraph": sum_flamegraph,
        "pprof": sum_pprof, "callgrind": sum_callgrind,
        "firefox": sum_firefox, "speedscope": sum_speedscope}


if __name__ == "__main__":
    print(SUMS[sys.argv[1]](sys.argv[2]))
