# SPDX-License-Identifier: MIT
"""The long show: many inserts over each fault, and a table of it.
usage: show.py PROGRAM [--inserts N] [--seed N] [WORD...]        only faults with these words"""
import argparse
import random
import statistics
import sys
import time

sys.argv, given = sys.argv[:2], sys.argv[2:]
import faults  # noqa: E402


def show(name, inserts):
    """Return: True if no key was lost."""
    fault, seconds, lost, begun = faults.FAULTS[name], [], [], time.monotonic()
    w = fault.begin()
    try:
        while w.confirmed() < inserts:
            took, missing = fault.round(w)
            seconds.append(took)
            lost += missing
        n = w.confirmed()
    finally:
        w.close()
    print("%-36s %6d %9d %6d %8.3f %8.3f %8.3f %7.0f" % (
        name, len(seconds), n, sum(m for _, _, m in lost), min(seconds),
        statistics.median(seconds), max(seconds), time.monotonic() - begun), flush=True)
    return not lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inserts", type=int, default=300000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args(given)
    random.seed(asked.seed)
    print("%-36s %6s %9s %6s %8s %8s %8s %7s" % ("fault", "rounds", "inserts", "lost", "least",
                                                 "median", "most", "seconds"))
    well = True
    for name in faults.FAULTS:
        if not asked.words or any(word in name for word in asked.words):
            try:
                well = show(name, asked.inserts) and well
            except AssertionError as error:
                well = False
                print("%-36s FAILED: %s" % (name, error), flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
