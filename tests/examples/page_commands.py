#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The EXAMPLES of the manual pages of sections 1 and 7 do what they show, and mandoc has no
warning of a page.

page_commands.py WEIR PAGES PARQUET

WEIR: the command. PAGES: the folder of the pages. PARQUET: that of the file they name. The lines
of a block that begin with "$ " are commands, and a line that ends in a backslash goes on in the
next one. bash runs those of a page in an empty folder, each with exit status 0. The other lines of
the block are the output. "..." stands for any lines, or at the end of a line for its rest. A block
without commands is only shown.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# The pages with examples. Those of weir-replicate need redis-server.
COMMANDS = """add apply build count delta drill info merge parquet plan query remove route seal
    verify""".split()
REPLICATE = "follow key publish rollback status".split()
PAGES = (["weir.1", "weir-keys.7", "weir-images.7", "weir-replicate.1"] +
         ["weir-%s.1" % name for name in COMMANDS] +
         ["weir-replicate-%s.1" % name for name in REPLICATE])
MARK = "-- end of command"


def shown(text):
    """What a literal line of mdoc prints."""
    text = re.sub(r"\\&", "", text)
    return text.replace("\\(aq", "'").replace("\\(dq", '"').replace("\\-", "-").replace("\\e", "\\")


def blocks(page):
    """The literal blocks of the section EXAMPLES, each a list of (line, text)."""
    inside, block = False, None
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith(".Sh "):
            inside = line == ".Sh EXAMPLES"
        elif inside and line.startswith(".Bd -literal"):
            block = []
        elif block is not None and line == ".Ed":
            yield block
            block = None
        elif block is not None:
            block.append((number, shown(line)))


def steps(page):
    """Each command as (line, text, lines of output)."""
    for block in blocks(page):
        goes_on, step = False, None
        for number, line in block:
            if goes_on:
                step[1] += "\n" + line
            elif line.startswith("$ "):
                if step:
                    yield step
                step = [number, line[2:], []]
            elif step:
                step[2].append(line)
            goes_on = step and not step[2] and step[1].endswith("\\")
        if step:
            yield step


def pattern(lines):
    """A regular expression for what a command prints."""
    out = ""
    for line in lines:
        if line == "...":
            out += r"(?:.*\n)*"
        elif line.endswith("..."):
            out += re.escape(line[:-3]) + ".*\n"
        else:
            out += re.escape(line) + "\n"
    return out


def start_redis(folder):
    """A server of its own, and its URL without a database; (None, None) where there is none."""
    if not shutil.which("redis-server"):
        return None, None
    socket = os.path.join(folder, "redis")
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--databases", "99",
         "--maxmemory-policy", "noeviction"], cwd=folder, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not os.path.exists(socket) and time.monotonic() < end:
        time.sleep(0.02)
    return server, "unix://%s?db=" % socket


def run(page, weir, parquet, url):
    """What bash prints for the steps of a page, as (step, output, status)."""
    found = list(steps(page))
    script = "exec 2>&1\n" + "".join("%s\necho \"%s $?\"\n" % (text, MARK) for _, text, _ in found)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(parquet, "numbers.parquet"), folder)
        variables = dict(os.environ, LC_ALL="C", WEIR_REDIS_URL=url)
        variables["PATH"] = os.path.dirname(weir) + ":" + variables["PATH"]
        printed = subprocess.run(["bash", "-c", script], cwd=folder, env=variables, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120,
                                 check=False).stdout
    parts = re.split(r"^%s (\d+)\n" % MARK, printed, flags=re.M)
    parts += ["", "none"] * len(found) # of a script that ended too soon
    return list(zip(found, parts[::2], parts[1::2]))


def faults(name, page, weir, parquet, url):
    """Whatever of a page's examples is not so, as "NAME:LINE: ..."."""
    found = run(page, weir, parquet, url)
    if not found:
        return ["%s: no command" % name]
    return ["%s:%d: %s: status %s, and prints:\n%s" % (name, line, text, status, output)
            for (line, text, lines), output, status in found
            if status != "0" or not re.fullmatch(pattern(lines), output)]


def check(weir, folder, parquet, url):
    """The names of the pages that have examples, of those that ran, and the faults."""
    have, jobs = [], []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            page = file.read()
        if name.endswith((".1", ".7")) and "\n.Sh EXAMPLES\n" in page:
            have.append(name)
            if url or "replicate" not in name:
                jobs.append((name, page, weir, parquet, "%s%d" % (url, len(jobs))))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return have, len(jobs), sum(pool.map(lambda job: faults(*job), jobs), [])


def main(weir, folder, parquet):
    weir = os.path.realpath(weir)
    help_text = subprocess.run([weir, "--help"], stdout=subprocess.PIPE, text=True, check=True)
    with tempfile.TemporaryDirectory() as work:
        server, url = start_redis(work) if " replicate " in help_text.stdout else (None, None)
        try:
            have, ran, wrong = check(weir, folder, parquet, url)
        finally:
            if server:
                server.terminate()
                server.wait()
    if shutil.which("mandoc"):
        wrong += subprocess.run(
            ["mandoc", "-Tlint", "-Wwarning"] + sorted(glob.glob(os.path.join(folder, "*.[17]"))),
            stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    wrong += ["%s: no such page with examples" % name for name in sorted(set(PAGES) - set(have))]
    wrong += ["%s: is not in the list of this test" % name for name in have if name not in PAGES]
    for line in wrong:
        print(line, file=sys.stderr)
    print("%d pages with examples, %d of them ran" % (len(have), ran))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
