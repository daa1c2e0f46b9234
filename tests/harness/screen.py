#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""screen.py COMMAND... - run a program on a terminal and play its user.

Steps come on standard input, a line each:

    see REGEX       wait until a line of the screen matches
    gone REGEX      wait until none does
    keys TEXT       type it; escapes as in Python: \\n, \\x1b
    size ROWS COLUMNS  the user makes the window so large
    run COMMAND     by sh; it must succeed
    end             wait until the program has ended
    next COMMAND    the same with another program, by sh, on a terminal of its own:
                    python is slow to start. The one before must have succeeded.

Fails, with the screen, when a step does not come true within a minute (HARNESS_SCALE
times that), when the program leaves the terminal in other modes than it found it in,
or on its second screen. The status is the last program's.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

ROWS, COLUMNS = 40, 132
PATIENCE = 60 * int(os.environ.get("HARNESS_SCALE", 1))


class Screen(pyte.Screen):
    cells = {}

    # As pyte draws text: that takes thousands of instructions a character, the most of what
    # a screen costs.
    def draw(self, text):
        if not text.isascii() or self.charset or self.g0_charset is not pyte.charsets.LAT1_MAP \
                or pyte.modes.IRM in self.mode or pyte.modes.DECAWM not in self.mode:
            super().draw(text)
            return
        attrs = self.cursor.attrs
        cells = self.cells.setdefault(attrs, {})
        while text:
            if self.cursor.x == self.columns:
                self.carriage_return()
                self.linefeed()
            line, x = self.buffer[self.cursor.y], self.cursor.x
            piece = text[:self.columns - x]
            for x, char in enumerate(piece, x):
                line[x] = cells.get(char) or cells.setdefault(char, attrs._replace(data=char))
            self.cursor.x = x + 1
            self.dirty.add(self.cursor.y)
            text = text[len(piece):]


class Terminal:
    def __init__(self, command):
        self.screen = Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.unseen = b""
        self.status = None
        self.master, self.slave = pty.openpty()
        self.resize(ROWS, COLUMNS)
        self.modes = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.environ["TERM"] = "xterm-256color"
            os.execvp(command[0], command)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.lines = [""] * rows
        self.regex, self.matches = None, set()
        self.screen.dirty.update(range(rows))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    # Up to the next return to the start of a line: what is there for a moment, before
    # it is written over, is to be seen however late this program comes.
    def take(self, seconds):
        if not self.unseen and select.select([self.master], [], [], seconds)[0]:
            self.unseen = os.read(self.master, 65536)
            self.raw += self.unseen
        piece = self.unseen[:1] + self.unseen[1:].partition(b"\r")[0]
        self.unseen = self.unseen[len(piece):]
        self.stream.feed(piece)
        pid, status = os.waitpid(self.pid, os.WNOHANG) if self.status is None \
            else (0, 0)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(piece)

    # The lines that have changed, rendered: pyte renders all of them each time that it is
    # asked, and it is asked after each piece of output.
    def render(self):
        changed = [y for y in self.screen.dirty if y < len(self.lines)]
        self.screen.dirty.clear()
        for y in changed:
            cells = [" "] * self.screen.columns
            for x, cell in self.screen.buffer[y].items():
                if x < len(cells):
                    cells[x] = cell.data
            self.lines[y] = "".join(cells)
        return changed

    # Of a regex that was asked for last, too, only what has changed is searched.
    def has(self, regex):
        changed = self.render()
        if regex != self.regex:
            self.regex, self.matches = regex, set()
            changed = range(len(self.lines))
        for y in changed:
            if re.search(regex, self.lines[y]):
                self.matches.add(y)
            else:
                self.matches.discard(y)
        return bool(self.matches)

    def until(self, what, true):
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                self.fail(f"waited for: {what}")
            if self.status is not None and not what.startswith("end"):
                # A kernel thread brings what was written, later on a busy machine.
                while self.take(0.5):
                    if true():
                        return
                self.fail(f"it ended with {self.status} before: {what}")
            self.take(0.1)

    def fail(self, why):
        print(why, *self.screen.display, sep="\n", file=sys.stderr)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
        sys.exit(1)

    def finish(self):
        self.until("end", lambda: self.status is not None)
        self.check_restored()
        os.close(self.master)
        os.close(self.slave)
        return self.status if self.status >= 0 else 128 - self.status

    def check_restored(self):
        while self.take(0.5):
            pass
        if termios.tcgetattr(self.slave) != self.modes:
            self.fail("the terminal is not in the modes that it was in")
        if self.raw.rfind(b"\x1b[?1049h") > self.raw.rfind(b"\x1b[?1049l"):
            self.fail("the terminal is still on its second screen")


def play(t, step):
    word, _, rest = step.partition(" ")
    if word == "see":
        t.until(step, lambda: t.has(rest))
    elif word == "gone":
        t.until(step, lambda: not t.has(rest))
    elif word == "keys":
        os.write(t.master, rest.encode().decode("unicode_escape").encode())
    elif word == "size":
        t.resize(*map(int, rest.split()))
    elif word == "run":
        if subprocess.call(["sh", "-c", rest], stdin=subprocess.DEVNULL):
            t.fail(step)
    elif word == "end":
        t.until(step, lambda: t.status is not None)
    else:
        t.fail(f"no such step: {step}")


def main():
    t = Terminal(sys.argv[1:])
    for step in sys.stdin:
        word, _, rest = step.strip().partition(" ")
        if word == "next":
            if t.finish():
                t.fail(f"it ended with {t.status} before: {step.strip()}")
            t = Terminal(["sh", "-c", "exec " + rest])
        elif word:
            play(t, step.strip("\n").strip())
    sys.exit(t.finish())


main()
