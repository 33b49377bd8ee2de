#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job that does to the file whatever jobs do, while two servers follow it: one takes any seed and
begins before there is a file, the other has the seed of the first. No lookup of a key that every
good file has may miss; no server may end; each file that a server does not take must be reported by
it, in its statistics and on standard error, and by nothing else.

test_flow.py WEIR FLOW_SERVER [--seconds N] [--every N] [--seed N]
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from flow_job import CORE, IMAGE, MOST, PATIENCE, Job

MISSING = "no such file"
SHRUNK = 10      # a set with fewer keys than this part of the current one is refused
SHRANK = "under a tenth"  # in that sentence


class Server:
    """One of the two, with what it must have by now."""

    def __init__(self, program, seeds):
        self.name, self.seeds = seeds, seeds
        self.log = open(seeds + ".log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, seeds, IMAGE, "core"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.fingerprint = None  # of the filter that it has
        self.keys = 0
        self.swaps = self.refusals = 0
        self.state = "taken over"  # as its next line has it
        self.changes = 0           # of that
        self.identity = None     # of the file that it judged last

    def stats(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != "\n":
            assert line, "%s ended: %s" % (self.name, self.text()[-2000:])
            lines.append(line)
        return dict(line.rstrip("\n").split(" ", 1) for line in lines)

    def text(self):
        with open(self.name + ".log", encoding="utf-8") as log:
            return log.read()

    def verdict(self, image, stats=None):
        """What it must make of the file: None, it is taken, or a part of the sentence. Where keys
        that are estimated are about a tenth, that is what it says itself, in @stats."""
        if image.trouble:
            return image.trouble
        if self.seeds == "one" and image.fingerprint != self.fingerprint:
            return "WEIR_HANDLE_ANY_SEED"  # the remedy
        fewer = image.keys * SHRUNK < self.keys
        if stats and abs(image.keys * SHRUNK - self.keys) < 0.05 * self.keys:
            fewer = float(stats["refused_since"]) > 0 and SHRANK in stats["sentence"]
        return SHRANK if fewer and not image.allowed else None

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()
        assert status == 0, "%s: exit status %d: %s" % (self.name, status, self.text()[-2000:])


class Image:
    """The file as it is now, by the command and by what the job put into it."""

    def __init__(self, weir, keys):
        self.keys, self.trouble, self.fingerprint, self.allowed = keys, None, None, False
        if not os.path.exists(IMAGE):
            self.trouble = MISSING
            return
        verified = subprocess.run([weir, "verify", IMAGE], capture_output=True, text=True)
        if verified.returncode:
            self.trouble = "set.weir"  # every sentence about it names it
            return
        shown = subprocess.run([weir, "info", "--json", IMAGE], capture_output=True, check=True)
        info = json.loads(shown.stdout)[0]
        self.fingerprint = info["seed_fingerprint"]
        self.allowed = info["shrink_allowed"]


def identity():
    try:
        s = os.stat(IMAGE)
    except FileNotFoundError:
        return None
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns


def settled(server, image, stats, new):
    """Is that what the server must be in? @new: the file is another than it judged last."""
    why = server.verdict(image, stats)
    refused = float(stats["refused_since"]) > 0
    if why is None:
        return (not refused and abs(float(stats["keys"]) - image.keys) <= 0.05 * image.keys and
                int(stats["swaps"]) > server.swaps - (not new))
    return (refused and why in stats["sentence"] and int(stats["swaps"]) >= server.swaps and
            (why == MISSING or int(stats["refused"]) > server.refusals - (not new)))


def settle(server, image):
    """Waits for it; nothing is lost meanwhile."""
    end = time.monotonic() + PATIENCE
    why, now = server.verdict(image), identity()
    stats = server.stats()
    while not settled(server, image, stats, now != server.identity):
        assert time.monotonic() < end, "%s, %s: not within %d s, but %s\n%s" % (
            server.name, why or "taken", PATIENCE, stats, server.text()[-2000:])
        time.sleep(0.005)
        stats = server.stats()
    why = server.verdict(image, stats)
    assert stats["lost"] == "0", "%s lost %s lookups" % (server.name, stats["lost"])
    state = stats["sentence"] if why else "taken over"
    server.changes += state != server.state
    server.state = state
    if why is None:
        server.fingerprint, server.keys = image.fingerprint, image.keys
    server.swaps, server.refusals = int(stats["swaps"]), int(stats["refused"])
    server.identity = now


def check_lines(server):
    """Each change had a line, or was counted in one: after ten at once there is one in 5 s."""
    end = time.monotonic() + PATIENCE
    while server.state not in (server.text().splitlines() or [""])[-1]:
        assert time.monotonic() < end, "no line of %r in: %s" % (server.state,
                                                                 server.text()[-2000:])
        time.sleep(0.005)
    text = server.text()
    held = sum(int(n) for n in re.findall(r"\((\d+) lines before it were held back\)", text))
    assert len(text.splitlines()) + held >= server.changes, "%d changes, %d held back: %s" % (
        server.changes, held, text)


def settle_all(o, job, servers, cases):
    image = Image(o.weir, job.keys)
    for server in servers:
        why = server.verdict(image)
        case = "%s %s" % (server.name, "refused: " + why if why else "takes")
        cases[case] = cases.get(case, 0) + 1
        settle(server, image)


def resident(process, name):
    with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
        return int(re.search(name + r":\s*(\d+)", file.read()).group(1))


def run(o):
    dice = random.Random(o.seed)
    os.mkdir("set")
    with open("core", "w", encoding="ascii") as file:
        file.writelines("core:%d\n" % i for i in range(CORE))
    job = Job(o.weir, dice)
    servers = [Server(o.server, "any")]
    settle_all(o, job, servers, {})
    job.build("-p", "1%", "-n", str(CORE + MOST))
    shutil.copyfile(IMAGE, "first.weir")
    servers.append(Server(o.server, "one"))
    servers[1].fingerprint = Image(o.weir, 0).fingerprint
    begun, done, cases, minute = time.monotonic(), 0, {}, -1
    everything = job.everything()
    while time.monotonic() < begun + o.seconds or done < len(everything):
        time.sleep(max(0, begun + done * o.every - time.monotonic()))
        # each once, then at random
        what = everything[done] if done < len(everything) else dice.choice(everything)
        if o.verbose:
            print(what.__name__, flush=True)
        what()
        done += 1
        settle_all(o, job, servers, cases)
        if int(time.monotonic() - begun) // 60 > minute:
            minute += 1
            print("minute %d: %d times something done; resident: %s KiB" % (minute, done,
                  " and ".join(str(resident(s.process, "VmRSS")) for s in servers)), flush=True)
    job.build("--like=first.weir", "--allow-shrink")  # both can take it
    settle_all(o, job, servers, {})
    for server in servers:
        check_lines(server)
        stats = server.stats()
        print("%s: lookups %s, lost %s, swaps %s, files refused %s, changes of state %d, lines %d, "
              "peak %d KiB" % (
            server.name, stats["lookups"], stats["lost"], stats["swaps"], stats["refused"],
            server.changes, len(server.text().splitlines()), resident(server.process, "VmHWM")))
        assert server.state == "taken over"
        server.end()
    print("done %d, of them refused by the command %d; %s" % (done, job.refusals, ", ".join(
        "%s %d" % case for case in sorted(cases.items()))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir", type=os.path.abspath)
    parser.add_argument("server", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--every", type=float, default=0, help="seconds from one to the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    o = parser.parse_args()
    signal.alarm(int(o.seconds) + 20 * PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run(o)
        finally:
            os.chdir("/")


main()
