#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The large show: 1,000,000 blocked domains in named, by weir's plugin and by named's own RPZ.

show.py PLUGIN WEIR [DOMAINS [RATE]]      some ten minutes; RATE: queries a second in the load

Each server answers the same queries: every one of as many innocent names as there are domains, and
names below a tenth of the domains. The plugin's image is swapped every second meanwhile, and named
gets a SIGHUP every ten, after thirty. Prints a table; fails if a query is lost or answered wrongly.
"""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import served
from served import Named, wait_until

TLDS = ["com"] * 5 + ["net", "org", "info", "de", "top", "xyz", "co.uk", "com.br", "ru", "shop"]
PLUGIN = 'plugin query "@plugin" { file "list.weir"; log no; statistics-file "s.prom"; %s };'
POLICY = """zone "." { type primary; file "root.db"; };
zone "rpz" { type primary; file "rpz.db"; };"""
POLICY_DONE = "rpz: rpz: reload done"


def word(rng):
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(
        rng.choice((5, 7, 8, 9, 10, 11, 12, 14, 18))))


def make_names(n, rng):
    """Make domains to block, and innocent names that have no blocked suffix."""
    blocked, innocent = set(), set()
    while len(blocked) < n:
        blocked.add("%s.%s" % (word(rng), rng.choice(TLDS)) if rng.random() < 0.8 else
                    "%s.%s.%s" % (word(rng), word(rng), rng.choice(TLDS)))
    while len(innocent) < n:
        name = "%s%s.%s" % (rng.choice(("", "www.", "api.", "cdn.eu.")), word(rng),
                            rng.choice(TLDS))
        if not any(suffix in blocked for suffix in suffixes(name)):
            innocent.add(name)
    return sorted(blocked), sorted(innocent)


def suffixes(name):
    parts = name.split(".")
    return [".".join(parts[i:]) for i in range(len(parts))]


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def build_images(weir, blocked, innocent):
    """Build two images. Return the seconds of the second build and the bytes of the first."""
    write_lines("exclude", innocent)
    for i in range(2):
        write_lines("keys", blocked + ["only%d.in-this-one.invalid" % j for j in range(i * 1000)])
        begun = time.monotonic()
        subprocess.run([weir, "build", "-q", "-k", "layered", "--suffixes", "--lowercase",
                        "-p", "1e-6", "--exclude=exclude", "-o", "image%d" % i, "keys"],
                       check=True)
        seconds = time.monotonic() - begun
    return seconds, os.path.getsize("image0")


def put_image(s, i):
    shutil.copy("image%d" % (i % 2), s.path("next.weir"))
    os.chmod(s.path("next.weir"), 0o644)
    os.replace(s.path("next.weir"), s.path("list.weir"))


class Load:
    """Run dnsperf over the queries once. At most 50 queries are pending at a time. They fit in the
    socket's buffer, so the kernel itself drops no query."""

    def __init__(self, s, rate):
        self.out, self.s = open("answers", "w+", encoding="utf-8"), s
        self.cpu = s.cpu()
        self.process = subprocess.Popen(
            ["dnsperf", "-s", "127.0.0.1", "-p", str(s.port), "-d", "queries", "-n", "1", "-v",
             "-Q", str(rate), "-q", "50", "-t", "30"], stdout=self.out, stderr=subprocess.STDOUT)

    def end(self):
        self.process.wait()
        self.cpu = self.s.cpu() - self.cpu
        self.drops = dropped(self.s.port)
        self.codes, times = collections.Counter(), []
        self.out.seek(0)
        for line in self.out:
            found = re.match(r"> (\w+) (\S+) A ([\d.]+)", line)
            if found:
                kind = "blocked" if found.group(2).startswith("x9q.") else "innocent"
                self.codes[kind, found.group(1)] += 1
                times.append(float(found.group(3)))
            elif "Queries lost" in line:
                self.lost = int(line.split()[2])
        self.out.close()
        times.sort()
        self.p99, self.longest = times[len(times) * 99 // 100] * 1e3, times[-1] * 1e3
        self.each = self.cpu / len(times) * 1e6
        return self


def dropped(port):
    """Return the number of datagrams that the kernel dropped before named could read them."""
    with open("/proc/net/udp", encoding="utf-8") as file:
        return sum(int(line.split()[-1]) for line in file if ":%04X " % port in line)


class Row:
    def __init__(self, name, s, begun_cpu):
        self.name, self.load_cpu, self.rss = name, begun_cpu, s.status("VmRSS") / 1024

    def measured(self, load, s):
        self.load, self.peak = load, s.status("VmHWM") / 1024
        print("%s: %.1f us of CPU a query, p99 %.2f ms, longest %.1f ms, %d lost, %d dropped, "
              "%s, peak %.0f MiB" % (
                  self.name, load.each, load.p99, load.longest, load.lost, load.drops,
                  dict(load.codes), self.peak), flush=True)
        return self


def run_server(name, plugin, rate, text="", zones=None, options="", prepare=None, busy=None):
    os.makedirs(name)
    if prepare:
        prepare(name)
    with Named(name, plugin, text, zones=zones,
               options="recursion no; dnssec-validation no; " + options) as s:
        if zones:
            wait_until("the policy", lambda: POLICY_DONE in s.text())
        row = Row(name, s, s.cpu())
        load = Load(s, rate)
        stop, errors = threading.Event(), []
        thread = threading.Thread(target=busy, args=(s, stop, errors)) if busy else None
        if thread:
            thread.start()
        try:
            load.process.wait()
        finally:
            load.process.kill()
            stop.set()
            if thread:
                thread.join()
        assert not errors, errors
        return row.measured(load.end(), s)


def swap_each_second(s, stop, errors):
    try:
        i = 0
        while not stop.wait(1):
            i += 1
            put_image(s, i)
            if i == 30:
                print("after 29 swaps: peak %.0f MiB" % (s.status("VmHWM") / 1024), flush=True)
            if i % 10 == 0 and i >= 30:  # a reload takes memory of named's own
                s.reload()
        print("swaps: %d, with %d SIGHUPs" % (i, max(i // 10 - 2, 0)), flush=True)
    except Exception as error:  # it belongs to the main thread
        errors.append(error)


def reload_policy(s, stop, errors):
    """Reload the same policy once with a new serial, as a zone transfer would."""
    try:
        stop.wait(5)
        write_policy(s.folder, 2)
        before = s.text().count(POLICY_DONE)
        s.reload()
        wait_until("the policy again", lambda: s.text().count(POLICY_DONE) > before)
    except Exception as error:
        errors.append(error)


def write_policy(folder, serial):
    path = os.path.join(folder, "rpz.db")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("$TTL 60\n@ SOA ns. h. %d 3600 600 86400 60\n@ NS ns.\n" % serial)
        file.writelines("%s CNAME .\n*.%s CNAME .\n" % (name, name) for name in domains)
    os.chmod(path + ".new", 0o644)
    os.replace(path + ".new", path)


def table(rows, image, seconds, n):
    plain = rows[0]
    print("\n%d domains; image %.1f MiB, built in %.1f s\n" % (n, image / 2**20, seconds))
    print("| | memory, MiB | its peak | CPU to load, s | CPU a query, us | p99, ms | longest, ms "
          "| lost |\n|---|---|---|---|---|---|---|---|")
    for r in rows:
        print("| %s | %.0f | %.0f | %.2f | %.1f | %.2f | %.1f | %d |" % (
            r.name, r.rss, r.peak, max(r.load_cpu - plain.load_cpu, 0), r.load.each, r.load.p99,
            r.load.longest, r.load.lost))


def main():
    global domains
    plugin, weir = map(os.path.abspath, sys.argv[1:3])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 1000000
    rate = int(sys.argv[4]) if len(sys.argv) > 4 else 15000
    served.PATIENCE = 600
    folder = tempfile.mkdtemp(prefix="weir-bind-show.")
    os.chmod(folder, 0o755)
    try:
        os.chdir(folder)
        plugin = shutil.copy(plugin, folder)
        rng = random.Random(1)
        domains, innocent = make_names(n, rng)
        asked = ["x9q." + name for name in domains[::10]] + innocent
        rng.shuffle(asked)
        write_lines("queries", (name + " A" for name in asked))
        want = {("blocked", "NXDOMAIN"): len(domains[::10]), ("innocent", "NOERROR"): n}
        seconds, image = build_images(weir, domains, innocent)

        def image_there(name):
            shutil.copy("image0", os.path.join(name, "list.weir"))
        rows = [run_server("no policy", plugin, rate),
                run_server("weir", plugin, rate, PLUGIN % "", prepare=image_there),
                run_server("weir, a swap a second", plugin, rate, PLUGIN % "",
                           prepare=image_there, busy=swap_each_second)]
        policy = dict(zones=POLICY, options='response-policy { zone "rpz"; } recursive-only no '
                      "qname-wait-recurse no;", prepare=lambda name: write_policy(name, 1))
        rows += [run_server("RPZ", plugin, rate, **policy),
                 run_server("RPZ, reloaded once", plugin, rate, busy=reload_policy, **policy)]
        table(rows, image, seconds, n)
        for r in rows[1:3]:
            assert r.load.lost == 0, "%s: %d lost" % (r.name, r.load.lost)
            assert r.load.codes == want, "%s: %s" % (r.name, r.load.codes)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
