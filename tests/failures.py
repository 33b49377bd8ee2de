#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the failed tests of meson's log, each with the end of its output.

usage: failures.py TESTLOG.json"""

import json
import re
import sys

FINE = {"OK", "EXPECTEDFAIL", "SKIP"}
LINES = 15
REASON = re.compile(r"\[ +(ERROR|LINE) +\]")  # cmocka's messages and lines


def last_lines(test):
    """Return the last lines of a test's stdout and stderr, and cmocka's reasons above them, because
    the output that follows a failure may be long."""
    for stream in ("stdout", "stderr"):
        lines = test.get(stream, "").splitlines()
        reasons = []
        for i, line in enumerate(lines[:-LINES]):
            if REASON.match(line):
                reasons += [line] + [l for l in lines[i + 1:i + 3] if not l.startswith("[")]
        for line in reasons[:LINES] + lines[-LINES:]:
            yield line[:200]


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            test = json.loads(line)
            if test["result"] in FINE:
                continue
            print(f"{test['name']}: {test['result']}, exit status {test.get('returncode')}, "
                  f"{test['duration']:.1f} s")
            for output in last_lines(test):
                print(f"    {output}")


main()
