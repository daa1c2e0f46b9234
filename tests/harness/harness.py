# SPDX-License-Identifier: BSD-2-Clause
"""harness - test programs in Python, with the same TAP as harness.c. A test is a
function of the main program whose name is a sentence (three underscores or more); it
fails by an exception. HARNESS_ONLY=text runs those whose name has the text.

    import harness
    def what_goes_in_comes_out_again():
        harness.equal(unpack(pack(x)), x, "the value")
    harness.run(globals())
"""
import os
import sys
import traceback
import types


def equal(got, want, what):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


def near(got, want, by, what):
    if not abs(got - want) <= by:
        raise AssertionError("%s: got %r, want %r within %r" %
                             (what, got, want, by))


def _line(error):
    where = traceback.extract_tb(error.__traceback__)[-1]
    text = "%s: %s (%s:%d)" % (type(error).__name__, error, os.path.basename(
        where.filename), where.lineno)
    return " ".join(text.split())


def run(names):
    tests = [f for name, f in names.items() if isinstance(f, types.FunctionType)
             and name.count("_") >= 3 and f.__module__ == "__main__"
             and os.environ.get("HARNESS_ONLY", "") in name]
    print("1..%d" % len(tests))
    for i, test in enumerate(tests, 1):
        print("# plan %d - %s" % (i, test.__name__), flush=True)
    failed = 0
    for i, test in enumerate(tests, 1):
        try:
            test()
            print("ok %d - %s" % (i, test.__name__), flush=True)
        except Exception as error:      # pylint: disable=broad-except
            failed = 1
            traceback.print_exc()
            print("not ok %d - %s # %s" % (i, test.__name__, _line(error)),
                  flush=True)
    sys.exit(failed)
