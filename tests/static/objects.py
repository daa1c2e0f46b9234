# SPDX-License-Identifier: BSD-2-Clause
"""What nm says of the objects of a tree, for the checks beside this file."""
import os
import re
import subprocess

DEFINED = set("TDBRVWCGSu")
USED = set("Uwv")


class Object:
    """A file of the tree without its suffix ("core/row"), and its external symbols."""

    def __init__(self, name):
        self.name = name
        self.folder = name.split("/")[0]
        self.defined = set()
        self.used = set()

    def add(self, line):
        kind, symbol = line.split()[-2:]
        if kind in DEFINED:
            self.defined.add(symbol)
        elif kind in USED:
            self.used.add(symbol)


def read(source, objects):
    """Of the objects below `objects` those that have a .c file in `source`: not what was
    linked of others or generated, and not what is left of a file that was renamed."""
    found = {}
    for folder, _, names in os.walk(objects):
        for name in names:
            path = os.path.join(folder, name)
            base = re.sub(r"\.o$", "", os.path.relpath(path, objects))
            if name.endswith(".o") and os.path.exists(os.path.join(source, base + ".c")):
                found[path] = Object(base)
    # Once for all: to start it costs more than to read a file.
    run = subprocess.run(["nm", "-A", "--", *found], capture_output=True, text=True,
                         check=True) if found else None
    for line in run.stdout.splitlines() if run else []:
        path, symbol = line.split(":", 1)
        found[path].add(symbol)
    return sorted(found.values(), key=lambda o: o.name)


def uses(objects):
    """{(user, definer): symbols} between different files."""
    where = {symbol: o for o in objects for symbol in o.defined}
    edges = {}
    for user in objects:
        for symbol in user.used:
            definer = where.get(symbol)
            if definer and definer is not user:
                edges.setdefault((user, definer), set()).add(symbol)
    return edges
