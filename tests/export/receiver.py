# SPDX-License-Identifier: BSD-2-Clause
"""receiver - a server that takes profiles as Pyroscope's push.v1.PusherService, Pyroscope's
/ingest and Parca's ProfileStoreService do by their published descriptions, and is strict:
what it does not understand to the last byte is answered by 400 and kept as a complaint."""
import base64
import contextlib
import gzip
import http.server
import json
import re
import socket
import threading
import urllib.parse

MOST = 64 << 20


class Wrong(Exception):
    pass


def need(true, what):
    if not true:
        raise Wrong(what)


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 64, "a varint that does not end")
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a protobuf message; value: int or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            need(key & 7 == 2, "a wire type that pprof has not")
            size, at = varint(data, at)
            need(at + size <= len(data), "a field beyond its message")
            value, at = data[at:at + size], at + size
        need(key >> 3, "field number 0")
        yield key >> 3, value


def packed(value):
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        numbers.append(number)
    return numbers


class Profile:
    """A pprof profile whose references are all there."""

    def __init__(self, data):
        need(data[:2] == b"\x1f\x8b", "no gzip")
        try:
            raw = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise Wrong("gzip: %s" % error) from error
        self.strings, samples, self.locations, functions = [], [], {}, {}
        types, self.comments, numbers = [], [], {}
        for number, value in fields(raw):
            need(1 <= number <= 14, "field %d of a profile" % number)
            if number == 1:
                types.append(dict(fields(value)))
            elif number == 2:
                samples.append(list(fields(value)))
            elif number == 4:
                place = list(fields(value))
                self.locations[dict(place)[1]] = [dict(fields(v)) for n, v in place if n == 4]
            elif number == 5:
                function = dict(fields(value))
                functions[function[1]] = function
            elif number == 6:
                self.strings.append(value.decode("utf-8"))
            elif number == 13:
                self.comments += packed(value)
            else:
                numbers[number] = value
        need(self.strings and self.strings[0] == "", "the first string is empty")
        self.types = [(self.text(t.get(1, 0)), self.text(t.get(2, 0))) for t in types]
        need(types, "no type of samples")
        self.functions = {i: self.text(f.get(2, 0)) for i, f in functions.items()}
        self.comments = [self.text(c) for c in self.comments]
        self.period = numbers.get(12, 0)
        self.time, self.duration = numbers.get(9, 0), numbers.get(10, 0)
        self.stacks = [self.sample(s) for s in samples]

    def text(self, index):
        need(index < len(self.strings), "string %d" % index)
        return self.strings[index]

    def sample(self, parts):
        places, values = [], []
        for number, value in parts:
            if number == 1:
                places += packed(value)
            elif number == 2:
                values += packed(value)
            else:
                need(number == 3, "field %d of a sample" % number)
        need(len(values) == len(self.types), "a value of each type")
        names = []
        for place in places:
            need(place in self.locations, "location %d" % place)
            for line in self.locations[place]:
                need(line.get(1) in self.functions, "function %r" % line.get(1))
                names.append(self.functions[line[1]])
        need(names, "a sample without a place")
        return names, values

    def samples(self):
        return sum(values[0] for _, values in self.stacks)


class Got:
    """What was taken."""

    def __init__(self, protocol, labels, raw, ident=None, headers=None):
        self.protocol, self.labels, self.id = protocol, labels, ident
        self.headers = headers
        self.profile = Profile(raw)


def keys(value, wanted, what):
    need(isinstance(value, dict) and set(value) <= set(wanted),
         "fields of %s: %r" % (what, sorted(value) if isinstance(value, dict) else value))


def label_pairs(pairs):
    need(isinstance(pairs, list), "labels")
    labels = {}
    for pair in pairs:
        keys(pair, ("name", "value"), "a label")
        need(re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", pair["name"]) and
             pair["name"] not in labels and pair["value"], "label %r" % pair)
        labels[pair["name"]] = pair["value"]
    need("__name__" in labels, "__name__")
    return labels


def raw_profile(text):
    need(isinstance(text, str), "rawProfile")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Wrong("base64: %s" % error) from error


def take_json(kind, handler, body):
    need(handler.headers["Content-Type"] == "application/json", "Content-Type")
    try:
        message = json.loads(body.decode("utf-8"))
    except ValueError as error:
        raise Wrong("JSON: %s" % error) from error
    keys(message, ("series", "normalized") if kind == "parca" else ("series",), "the request")
    need(kind != "parca" or message["normalized"] is True, "normalized")
    taken = []
    for series in message["series"]:
        keys(series, ("labels", "samples"), "a series")
        pairs = series["labels"]
        if kind == "parca":
            keys(pairs, ("labels",), "a set of labels")
            pairs = pairs["labels"]
        labels = label_pairs(pairs)
        need("service_name" in labels, "service_name")
        for sample in series["samples"]:
            keys(sample, ("rawProfile",) if kind == "parca" else ("rawProfile", "ID"), "a sample")
            taken.append(Got(kind, labels, raw_profile(sample["rawProfile"]),
                             sample.get("ID"), handler.headers))
    need(taken, "no profile")
    return taken


def take_ingest(handler, query, body):
    want = {"format", "name", "from", "until"}
    need(set(query) == want and query["format"] == ["pprof"], "query %r" % query)
    match = re.fullmatch(r"([^{}]+)\{([^{}]*)\}", query["name"][0])
    need(match, "name %r" % query["name"])
    labels = dict(pair.split("=") for pair in match[2].split(","))
    labels["service_name"] = match[1]
    begin, end = int(query["from"][0]), int(query["until"][0])
    need(0 < begin < end < 2 ** 33, "from and until")
    match = re.fullmatch("multipart/form-data; boundary=([-0-9a-zA-Z]{1,70})",
                         handler.headers["Content-Type"])
    need(match, "Content-Type")
    mark = match[1].encode()
    match = re.fullmatch(b"--" + mark + b"\r\n((?:[^\r\n]+\r\n)+)\r\n(.*)\r\n--" + mark +
                         b"--\r\n", body, re.S)
    need(match, "a form of one part")
    need(b'form-data; name="profile"; filename="' in match[1], "the part's name")
    return [Got("ingest", labels, match[2], headers=handler.headers)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"{}", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def take(self, body):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/ingest":
            return take_ingest(self, urllib.parse.parse_qs(url.query, strict_parsing=True), body)
        need(not url.query, "a query")
        if url.path == "/push.v1.PusherService/Push":
            return take_json("pyroscope", self, body)
        need(url.path == "/profiles/writeraw", "path %r" % url.path)
        return take_json("parca", self, body)

    def do_POST(self):                  # pylint: disable=invalid-name
        server = self.server.receiver
        size = int(self.headers["Content-Length"])
        need(size <= MOST, "a body of %d bytes" % size)
        body = self.rfile.read(size)
        if len(body) < size:
            return
        with server.lock:
            server.requests += 1
            script = server.script.pop(0) if server.script else None
        if script:
            script(self)
            return
        try:
            taken = self.take(body)
        except (Wrong, KeyError, ValueError, IndexError) as error:
            server.wrong.append(str(error))
            self.answer(400, b'{"code":"invalid_argument"}')
            return
        with server.lock:
            server.got += taken
        self.answer(200)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *args):
        super().__init__(*args)
        self.connections = set()

    def process_request(self, request, client_address):
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.connections.discard(request)
        super().shutdown_request(request)


class Receiver:
    """up() listens, down() ends connections and refuses others; .script: what the next requests get."""

    def __init__(self):
        self.lock = threading.Lock()
        self.got, self.wrong, self.script, self.requests = [], [], [], 0
        self.server = None
        self.port = 0

    def up(self):
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.receiver = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def down(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.server.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port
