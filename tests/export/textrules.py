# SPDX-License-Identifier: BSD-2-Clause
"""textrules - what the descriptions of folded stacks, callgrind's format, gmon.out, CSV (RFC
4180) and JSON (RFC 8259) demand of a file. Each reader returns what it read."""
import json
import re
import struct

from rules import demand, keys

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def text_of(data, errors="strict"):
    """UTF-8 without control characters, in lines that all end."""
    text = data.decode("utf-8", errors)
    demand(not CONTROL.search(text), "a control character: %r" % CONTROL.search(text))
    demand(not text or text.endswith("\n"), "the last line has no end")
    return text


# ---- folded stacks: flamegraph.pl, inferno, speedscope -----------------------------

def folded(data):
    """(frames, samples) of each line. A last frame that ends in a blank and a number would be
    read as a first column of counts, and an empty frame has no name."""
    stacks = []
    for line in text_of(data).split("\n")[:-1]:
        found = re.fullmatch("(.+) ([1-9][0-9]*)", line)
        demand(found, "no stack and count: %r" % line)
        demand(not re.search(r"\s\d+(\.\d*)?$", found[1]), "two counts: %r" % line)
        frames = found[1].split(";")
        demand(all(frames), "an empty frame: %r" % line)
        stacks.append((frames, int(found[2])))
    return stacks


# ---- callgrind: valgrind's manual, "Callgrind Format Specification" ----------------

NAME = "[A-Za-z][A-Za-z0-9_]*"
SPACES = {"ob": "ob", "fl": "fl", "fi": "fl", "fe": "fl", "fn": "fn",
          "cob": "ob", "cfi": "fl", "cfl": "fl", "cfn": "fn"}


class Callgrind:
    """The parts of a file: .header (key to texts), .events, .total, and .own and .calls, which
    have costs by function, and by function and called function."""

    def __init__(self, data):
        self.header, self.events, self.total = {}, [], None
        self.own, self.calls, self.names = {}, {}, {}
        self.place, self.called, self.pending = {}, {}, None
        # Names of files are what a reader opens: their bytes stay.
        lines = text_of(data, "surrogateescape").split("\n")
        demand(lines[:2] == ["# callgrind format", "version: 1"], "the first lines")
        demand(lines[2].startswith("creator: "), "creator")
        body = next(i for i, line in enumerate(lines) if line == "")
        for line in lines[1:body]:
            self._header(line)
        self._check_header()
        for line in lines[body:-1]:
            if line and not line.startswith("#"):
                self._body(line)
        demand(self.pending is None, "calls= without a line of costs")
        self._check_totals()

    def _header(self, line):
        found = re.fullmatch("([a-z]+): (.*)", line)
        demand(found, "no header line: %r" % line)
        self.header.setdefault(found[1], []).append(found[2])

    def _check_header(self):
        for key in "version", "creator", "cmd", "positions", "events", "summary":
            demand(len(self.header.get(key, [])) == 1, "%s comes once" % key)
        demand(set(self.header) <= {"version", "creator", "cmd", "positions", "events", "event",
                                    "summary", "desc"}, "a header: %s" % set(self.header))
        demand(self.header["positions"] == ["instr line"], "positions")
        self.events = self.header["events"][0].split(" ")
        demand(len(set(self.events)) == len(self.events), "events have names of their own")
        for name in self.events:
            demand(re.fullmatch(NAME, name), "name of an event: %r" % name)
        for line in self.header.get("event", []):
            found = re.fullmatch("(%s) : (.+)" % NAME, line)
            demand(found and found[1] in self.events, "event: %r" % line)
        for line in self.header.get("desc", []):
            demand(re.match("[A-Z][a-z ]*: ", line), "desc: %r" % line)

    def _body(self, line):
        if line.startswith("totals: "):
            demand(self.total is None, "totals come once")
            self.total = self._costs(line.split(" ")[1:])
            return
        demand(self.total is None, "a line behind totals: %r" % line)
        found = re.fullmatch(r"(c?(?:ob|fl|fi|fe|fn))=(?:\((\d+)\))(?: (.*))?", line)
        if found:
            demand(self.pending is None, "a name between calls= and its costs")
            self._position(*found.groups())
            return
        found = re.fullmatch(r"calls=(\d+) (.*)", line)
        if found:
            demand(self.pending is None, "calls= twice")
            self._places(found[2].split(" "))
            demand(set(self.called) >= {"ob", "fl", "fn"}, "calls= of an unknown function")
            self.pending = self.called["fn"]
            return
        words = line.split(" ")
        self._places(words[:2])
        self._cost(self._costs(words[2:]))

    def _position(self, key, number, name):
        space = SPACES[key]
        known = self.names.setdefault(space, {})
        demand((number in known) == (name is None), "%s=(%s) %s" % (key, number, name))
        if name is not None:
            demand(name.strip(), "%s=(%s) has no name" % (key, number))
            demand(space != "fn" or not re.search("[\udc80-\udcff]", name),
                   "no UTF-8: %a" % name)
            known[number] = name
        (self.called if key.startswith("c") else self.place)[space] = number

    @staticmethod
    def _places(words):
        demand(len(words) == 2 and re.fullmatch("0x[0-9a-f]+", words[0]) and
               re.fullmatch("[0-9]+", words[1]), "instr and line: %r" % (words,))

    def _costs(self, words):
        demand(0 < len(words) <= len(self.events), "%d costs" % len(words))
        demand(all(re.fullmatch("[0-9]+", word) for word in words), "costs: %r" % words)
        return [int(word) for word in words] + [0] * (len(self.events) - len(words))

    def _cost(self, costs):
        demand(set(self.place) == {"ob", "fl", "fn"}, "costs without a function")
        table, key = self.own, self.place["fn"]
        if self.pending is not None:
            table, key = self.calls, (self.place["fn"], self.pending)
        self.pending = None
        table[key] = [a + b for a, b in zip(table.get(key, [0] * len(costs)), costs)]

    def _check_totals(self):
        sums = [sum(column) for column in zip(*self.own.values())] or [0] * len(self.events)
        demand(self.total == sums, "totals %s, costs %s" % (self.total, sums))
        demand(self._costs(self.header["summary"][0].split(" ")) == sums, "summary")
        for (_, callee), costs in self.calls.items():
            demand(all(c <= t for c, t in zip(costs, sums)), "a call of more than all")
            demand(callee in self.names["fn"], "a called function without a name")

    def function(self, number):
        return self.names["fn"][number]


def callgrind(data):
    return Callgrind(data)


# ---- gmon.out: sys/gmon_out.h, gprof(1) -----------------------------------------------

class Gmon:
    """.bins: samples by address; .arcs: (from, to) to calls."""

    def __init__(self, data, word=8):
        self.bins, self.arcs, self.ranges, self.units = {}, {}, set(), set()
        self.data, self.at, self.address = data, 20, "<" + {4: "I", 8: "Q"}[word]
        demand(data[:4] == b"gmon", "cookie")
        demand(data[4:8] == struct.pack("<i", 1), "version")
        demand(data[8:20] == bytes(12), "spare bytes")
        while self.at < len(data):
            tag = self._take("<B")
            demand(tag in (0, 1), "tag %d" % tag)
            (self._histogram, self._arc)[tag]()
        demand(len(self.units) <= 1, "units differ: %s" % self.units)
        self._check_ranges()

    def _take(self, form):
        size = struct.calcsize(form)
        demand(self.at + size <= len(self.data), "a record ends early")
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return value

    def _histogram(self):
        low, high = self._take(self.address), self._take(self.address)
        n, rate = self._take("<I"), self._take("<I")
        name, short = self._take("15s"), self._take("c")
        demand(low < high and n, "a histogram of nothing")
        demand(rate > 0, "rate")
        demand((high - low) % n == 0, "bins of unequal size")
        demand(re.fullmatch(b"[a-z]+\0+", name) and short.isalpha(), "dimension: %r" % name)
        self.units.add((rate, name, short, (high - low) // n))
        self.ranges.add((low, high))
        for i in range(n):
            count = self._take("<H")
            if count:
                at = low + i * ((high - low) // n)
                self.bins[at] = self.bins.get(at, 0) + count

    def _arc(self):
        pair = self._take(self.address), self._take(self.address)
        count = self._take("<I")
        demand(count, "a call that did not happen")
        demand(pair[0] and pair[1], "a call from or to nowhere")
        self.arcs[pair] = self.arcs.get(pair, 0) + count

    def _check_ranges(self):
        """gprof adds up histograms of equal ranges, and refuses those that overlap."""
        end = 0
        for low, high in sorted(self.ranges):
            demand(low >= end, "histograms overlap at %#x" % low)
            end = high

    def within(self, low, high):
        """Are all bins and calls between these addresses?"""
        demand(all(low <= a and b <= high for a, b in self.ranges),
               "histograms %s are not in %#x-%#x" % (self.ranges, low, high))
        demand(all(low <= a < high and low <= b < high for a, b in self.arcs),
               "calls are not in %#x-%#x" % (low, high))


def gmon(data, word=8):
    return Gmon(data, word)


# ---- CSV: RFC 4180, but for the line's end, which is that of the machine ----------------

FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",\n]*)')


def csv_rows(data):
    """Lists of fields, the header first."""
    text, rows, at = text_of(data), [], 0
    while at < len(text):
        row = []
        while True:
            found = FIELD.match(text, at)
            quoted = found[1] is not None
            row.append(found[1].replace('""', '"') if quoted else found[2])
            at = found.end()
            demand(text[at] in ",\n", "a quote within a field: %r" % text[at - 20:at + 20])
            at += 1
            if text[at - 1] == "\n":
                break
        rows.append(row)
    demand(rows, "there is no header")
    demand(len(set(rows[0])) == len(rows[0]) and all(rows[0]), "header: %s" % rows[0])
    for row in rows:
        demand(len(row) == len(rows[0]), "%d fields of %d: %s" % (len(row), len(rows[0]), row))
    return rows


def csv_dicts(data):
    rows = csv_rows(data)
    return [dict(zip(rows[0], row)) for row in rows[1:]]


# ---- JSON: RFC 8259, a text a line --------------------------------------------------------

def _refuse(word):
    raise AssertionError("%s is no JSON" % word)


def _number(text):
    value = int(text)
    demand(-2**63 <= value < 2**64, "a number of more than 64 bits: %s" % text)
    return value


def _real(text):
    value = float(text)
    demand(abs(value) < 1e300, "no finite number: %s" % text)
    return value


def _object(pairs):
    names = [name for name, _ in pairs]
    demand(len(set(names)) == len(names), "a name comes twice: %s" % names)
    return dict(pairs)


def json_lines(data):
    text = text_of(data)
    values = [json.loads(line, parse_constant=_refuse, parse_int=_number, parse_float=_real,
                         object_pairs_hook=_object) for line in text.split("\n")[:-1]]
    for value in values:
        demand(isinstance(value, dict), "no object: %r" % value)
        _check_strings(value)
    _check_types(values)
    return values


def _type_of(item):
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return "number"
    return type(item).__name__


def _check_types(values):
    """A member has the same type, or null, in all lines of a type."""
    types = {}
    for value in values:
        for name, item in value.items():
            key = value.get("type"), name
            if item is not None:
                demand(types.setdefault(key, _type_of(item)) == _type_of(item),
                       "two types of %s: %r" % (key, item))


def _check_strings(value):
    if isinstance(value, str):
        demand(not re.search("[\ud800-\udfff]", value), "half a character: %a" % value)
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_strings(name)
            _check_strings(item)
    elif isinstance(value, list):
        for item in value:
            _check_strings(item)


__all__ = ["csv_dicts", "csv_rows", "callgrind", "folded", "gmon", "json_lines", "keys"]
