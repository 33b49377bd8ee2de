#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job replaces, damages and removes a file while two servers follow the file. One server accepts
any seed and starts before the file exists. The other server has the seed of the first image. No
lookup of a key that every good file has may miss, and no server may exit. A server must report each
file that it refuses, in its statistics and on standard error, and must report no other file.

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
SHRUNK = 10      # a server refuses a set with fewer than 1 / SHRUNK of the current set's keys
SHRANK = "under a tenth"  # words of that refusal


class Server:
    """One of the two servers, and the state that the test expects of it."""

    def __init__(self, program, seeds):
        self.name, self.seeds = seeds, seeds
        self.log = open(seeds + ".log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, seeds, IMAGE, "core"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.fingerprint = None  # seed fingerprint of the server's filter
        self.keys = 0
        self.swaps = self.refusals = 0
        self.state = "taken over"  # the state that the server's next line must report
        self.changes = 0           # how often the state has changed
        self.identity = None     # identity() of the last file that the server read

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
        """Return None if the server must load the file, or words of the expected refusal. If the
        estimated keys are close to a tenth, either is right, so @stats decides."""
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
    """The file as it is now, as the weir command reads it, with the keys that the job put in."""

    def __init__(self, weir, keys):
        self.keys, self.trouble, self.fingerprint, self.allowed = keys, None, None, False
        if not os.path.exists(IMAGE):
            self.trouble = MISSING
            return
        verified = subprocess.run([weir, "verify", IMAGE], capture_output=True, text=True)
        if verified.returncode:
            self.trouble = "set.weir"  # every sentence about the file names the file
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
    """Return True if the server's state fits the file. @new: the server has not read it before."""
    why = server.verdict(image, stats)
    refused = float(stats["refused_since"]) > 0
    if why is None:
        return (not refused and abs(float(stats["keys"]) - image.keys) <= 0.05 * image.keys and
                int(stats["swaps"]) > server.swaps - (not new))
    return (refused and why in stats["sentence"] and int(stats["swaps"]) >= server.swaps and
            (why == MISSING or int(stats["refused"]) > server.refusals - (not new)))


def settle(server, image):
    """Wait until the server's state fits the file. No lookup may have missed by then."""
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
    """Check that each change of state has a line, or is counted as held back in a later line. After
    ten lines at once, a server writes one line in 5 s."""
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
        # each action once, then random actions
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
    job.build("--like=first.weir", "--allow-shrink")  # both servers can load this file
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
