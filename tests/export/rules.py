# SPDX-License-Identifier: BSD-2-Clause
"""rules - what the published descriptions of the JSON formats demand of a file, and
of the flame graph's page what it promises itself. Each reader returns what it read."""
import json
import re


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=_refuse)


def _refuse(word):
    raise AssertionError("%s is no JSON" % word)


def demand(fact, what):
    if not fact:
        raise AssertionError(what)


def is_index(value, size, what):
    demand(type(value) is int and 0 <= value < size,
           "%s: %r is no index below %d" % (what, value, size))


def keys(thing, needed, what):
    demand(isinstance(thing, dict), "%s is no object" % what)
    missing = set(needed.split()) - set(thing)
    demand(not missing, "%s lacks %s" % (what, sorted(missing)))


# ---- speedscope: file-format-schema.json ---------------------------------------

UNITS = ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


def speedscope(path):
    file = load(path)
    keys(file, "$schema shared profiles", "file")
    demand(set(file) <= {"$schema", "shared", "profiles", "name", "exporter",
                         "activeProfileIndex"}, "unknown keys: %s" % set(file))
    demand(file["$schema"] ==
           "https://www.speedscope.app/file-format-schema.json", "schema")
    for frame in file["shared"]["frames"]:
        keys(frame, "name", "frame")
        demand(set(frame) <= {"name", "file", "line", "col"}, "keys of frame")
    for profile in file["profiles"]:
        _speedscope_profile(profile, len(file["shared"]["frames"]))
    return file


def _speedscope_profile(profile, frames):
    keys(profile, "type name unit startValue endValue samples weights", "profile")
    demand(profile["type"] == "sampled", "type")
    demand(profile["unit"] in UNITS, "unit")
    demand(len(profile["samples"]) == len(profile["weights"]), "weights")
    demand(profile["endValue"] - profile["startValue"] ==
           sum(profile["weights"]), "endValue")
    for stack in profile["samples"]:
        demand(stack, "a sample without a frame")
        for frame in stack:
            is_index(frame, frames, "frame")


def speedscope_self(file):
    count = {}
    for profile in file["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            name = file["shared"]["frames"][stack[-1]]["name"]
            count[name] = count.get(name, 0) + weight
    return count


# ---- Firefox Profiler: processed profile, version 57 -----------------------------

TABLES = {
    "samples": "stack time weight",
    "stackTable": "frame prefix",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol "
                  "innerWindowID line column",
    "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "markers": "data name startTime endTime phase category",
}
COLOURS = ("transparent purple green orange yellow lightblue blue brown magenta red "
           "lightred darkgrey grey").split()


def firefox(path):
    profile = load(path)
    keys(profile, "meta libs shared threads", "profile")
    _firefox_meta(profile["meta"])
    strings = profile["shared"]["stringArray"]
    demand(len(set(strings)) == len(strings), "strings come once")
    for lib in profile["libs"]:
        keys(lib, "arch name path debugName debugPath breakpadId codeId", "lib")
        demand(re.fullmatch("([0-9A-F]{33})?", lib["breakpadId"]), "breakpadId")
    for thread in profile["threads"]:
        _firefox_thread(profile, thread)
    ids = [thread["tid"] for thread in profile["threads"]]
    demand(len(set(map(str, ids))) == len(ids), "threads have their own ids")
    return profile


def _firefox_meta(meta):
    keys(meta, "interval startTime processType product stackwalk version "
         "preprocessedProfileVersion markerSchema categories", "meta")
    demand(meta["preprocessedProfileVersion"] == 57, "version")
    demand(meta["interval"] > 0, "interval")
    demand(any(c["color"] == "grey" for c in meta["categories"]), "a grey one")
    for category in meta["categories"]:
        keys(category, "name color subcategories", "category")
        demand(category["color"] in COLOURS, "colour")
        demand(category["subcategories"][0] == "Other", "subcategory 0")
    demand(meta["symbolicated"] is True, "symbolicated")


def _table(table, columns, what):
    keys(table, columns + " length", what)
    for column in columns.split():
        demand(len(table[column]) == table["length"], "%s.%s has %d of %d" % (
            what, column, len(table[column]), table["length"]))


def _firefox_thread(profile, thread):
    keys(thread, "processType processStartupTime processShutdownTime registerTime "
         "unregisterTime pausedRanges name isMainThread pid tid samples markers "
         "stackTable frameTable funcTable resourceTable nativeSymbols", "thread")
    for table, columns in TABLES.items():
        _table(thread[table], columns, table)
    demand(isinstance(thread["pid"], str), "pid is a string")
    demand(isinstance(thread["tid"], (int, str)), "tid")
    samples = thread["samples"]
    demand(samples["weightType"] == "samples", "weightType")
    demand(samples["time"] == sorted(samples["time"]), "order of time")
    for stack in samples["stack"]:
        is_index(stack, thread["stackTable"]["length"], "stack")
    _firefox_stacks(thread["stackTable"], thread["frameTable"])
    _firefox_functions(profile, thread)


def _firefox_stacks(stacks, frames):
    for i, (frame, prefix) in enumerate(zip(stacks["frame"], stacks["prefix"])):
        is_index(frame, frames["length"], "frame")
        if prefix is not None:
            is_index(prefix, i, "prefix")
        depth = frames["inlineDepth"][frame]
        if depth:
            outer = stacks["frame"][prefix]
            demand(frames["inlineDepth"][outer] == depth - 1, "inlineDepth")
            demand(frames["address"][outer] == frames["address"][frame],
                   "inlined at another address")
    pairs = list(zip(stacks["frame"], stacks["prefix"]))
    demand(len(set(pairs)) == len(pairs), "stacks come once")


def _firefox_functions(profile, thread):
    frames, functions = thread["frameTable"], thread["funcTable"]
    strings = len(profile["shared"]["stringArray"])
    for i in range(frames["length"]):
        is_index(frames["func"][i], functions["length"], "func")
        is_index(frames["category"][i], len(profile["meta"]["categories"]),
                 "category")
        demand(frames["address"][i] >= -1, "address")
        if frames["nativeSymbol"][i] is not None:
            _firefox_symbol(thread["nativeSymbols"], frames["nativeSymbol"][i],
                            frames["address"][i])
    for i in range(functions["length"]):
        is_index(functions["name"][i], strings, "name")
        is_index(functions["resource"][i], thread["resourceTable"]["length"],
                 "resource")
        if functions["fileName"][i] is not None:
            is_index(functions["fileName"][i], strings, "fileName")
    for lib in thread["resourceTable"]["lib"] + \
            thread["nativeSymbols"]["libIndex"]:
        is_index(lib, len(profile["libs"]), "lib")
    for name in thread["resourceTable"]["name"] + \
            thread["nativeSymbols"]["name"]:
        is_index(name, strings, "name of resource")


def _firefox_symbol(symbols, symbol, address):
    is_index(symbol, symbols["length"], "nativeSymbol")
    demand(address >= symbols["address"][symbol], "an address before its symbol")
    demand(symbols["functionSize"][symbol] is None or address <
           symbols["address"][symbol] + symbols["functionSize"][symbol],
           "an address behind its symbol")


def firefox_self(profile, thread):
    count = {}
    for stack, weight in zip(thread["samples"]["stack"],
                             thread["samples"]["weight"]):
        frame = thread["stackTable"]["frame"][stack]
        name = thread["funcTable"]["name"][thread["frameTable"]["func"][frame]]
        name = profile["shared"]["stringArray"][name]
        count[name] = count.get(name, 0) + weight
    return count


# ---- the flame graph's page --------------------------------------------------------

def flamegraph(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    demand(page.startswith("<!doctype html>"), "doctype")
    demand(page.count("<script") == 2 and page.count("</script") == 2,
           "scripts: a name became one")
    demand(page.count("<img") == 0 and page.count("<!--") == 0, "markup")
    demand("src=" not in page.split("<script")[0], "something from elsewhere")
    start = page.index('id="profile">') + len('id="profile">')
    data = json.loads(page[start:page.index("</script>", start)])
    keys(data, "title version samples kept unknown lost cut events frames", "data")
    for event in data["events"]:
        demand(len(event["self"]) == len(event["parent"]) ==
               len(event["frame"]), "columns")
        for i, (parent, frame) in enumerate(zip(event["parent"], event["frame"])):
            is_index(parent, i + 1, "parent")
            is_index(frame, len(data["frames"]), "frame")
        demand(sum(event["self"]) == event["samples"], "samples")
    return data
