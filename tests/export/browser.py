# SPDX-License-Identifier: BSD-2-Clause
"""browser - a page in headless Chromium, by the debugging protocol over a pipe: what
people do with mouse and keyboard, what they see, and what the browser complains of."""
import base64
import json
import os
import select
import signal
import struct
import subprocess
import tempfile
import zlib

CHROMIUM = "chromium-headless-shell"
WIDTH, HEIGHT = 1000, 500
PATIENCE = 60


class Page:
    def __init__(self, path, width=WIDTH, height=HEIGHT):
        to_it, self.write_end = os.pipe()
        self.read_end, from_it = os.pipe()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_it, from_it), "sh",
             CHROMIUM, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--user-data-dir=" + self.profile.name, "--remote-debugging-pipe",
             "--window-size=%d,%d" % (width, height)],
            pass_fds=(to_it, from_it), stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(to_it)
        os.close(from_it)
        self.input, self.number, self.session = b"", 0, None
        self.requests, self.complaints = [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=False)
        self.loaded = False
        self.ask("Page.navigate", url="file://" + path)
        while not self.loaded:
            self.hear(self.receive())
        self.main = self.requests[:]

    def close(self):
        os.close(self.write_end)
        os.close(self.read_end)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- the protocol: JSON, each ended by a zero byte ---------------------------

    def receive(self):
        while b"\0" not in self.input:
            if not select.select([self.read_end], [], [], PATIENCE)[0]:
                raise AssertionError("the browser says nothing for %d s" %
                                     PATIENCE)
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise AssertionError("the browser is gone: status %s" %
                                     self.process.wait())
            self.input += data
        message, self.input = self.input.split(b"\0", 1)
        return json.loads(message)

    def hear(self, message):
        """Something that happened without having been asked for."""
        method, what = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get(
                "description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append("console.%s: %s" % (what["type"], [
                a.get("value") for a in what["args"]]))
        elif method == "Log.entryAdded":
            self.complaints.append(what["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + what["message"])
            self.tell("Page.handleJavaScriptDialog", accept=True)

    def tell(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.number

    def ask(self, method, **params):
        number = self.tell(method, **params)
        while True:
            message = self.receive()
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError("%s: %s" % (method, message["error"]))
                return message["result"]
            self.hear(message)

    # ---- what one sees -----------------------------------------------------------

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression,
                          returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError("%s: %s" % (expression, result))
        return result["result"].get("value")

    def text(self, ident):
        return self.value("document.getElementById(%s).textContent" %
                          json.dumps(ident))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(
                self.ask("Page.captureScreenshot", format="png")["data"]))

    def box(self, ident):
        """left, top, width, height of an element."""
        return self.value("(r => [r.left, r.top, r.width, r.height])(document"
                          ".getElementById(%s).getBoundingClientRect())" %
                          json.dumps(ident))

    def colour(self, x, y):
        """Red, green, blue of a point of the page."""
        png = base64.b64decode(self.ask(
            "Page.captureScreenshot", format="png", clip={
                "x": int(x), "y": int(y), "width": 1, "height": 1,
                "scale": 1})["data"])
        at, packed = 8, b""
        while at < len(png):
            size, kind = struct.unpack_from(">I4s", png, at)
            packed += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
            at += 12 + size
        return tuple(zlib.decompress(packed)[1:4])

    def scan(self, step):
        """Like the mouse over the graph, row by row: [text of details, x, y]."""
        return self.value("""(() => {
            const c = document.getElementById("graph"), found = [];
            const d = document.getElementById("details");
            const r = c.getBoundingClientRect(), step = %d;
            for (let y = r.top + step / 2; y < r.bottom; y += step)
                for (let x = r.left + 1.5; x < r.right; x += 3) {
                    c.dispatchEvent(new MouseEvent("mousemove",
                        { clientX: x, clientY: y, bubbles: true }));
                    found.push([d.textContent, x, y]);
                }
            return found;
        })()""" % step)

    # ---- what one does -----------------------------------------------------------

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y):
        self.move(x, y)
        for kind in "mousePressed", "mouseReleased":
            self.mouse(kind, x, y, button="left", clickCount=1)

    def press(self, ident):
        left, top, width, height = self.box(ident)
        self.click(left + width / 2, top + height / 2)

    def key(self, name, code):
        for kind in "keyDown", "keyUp":
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                     windowsVirtualKeyCode=code,
                     **({"text": name} if len(name) == 1 and kind == "keyDown"
                        else {}))

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def media(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
