#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the example programs as their first comments show, including the jobs for cron.

test_servers.py SOURCE WEIR EPOLL PREFORK [DISTINCT]
"""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

source, weir, epoll, prefork, *more = map(os.path.abspath, sys.argv[1:])
PATIENCE = 60


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.02)


class Client:
    def __init__(self, port):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.s.makefile("r")

    def __call__(self, line):
        self.s.sendall(line.encode() + b"\n")
        return self.file.readline().rstrip("\n")

    def many(self, lines):
        lines = list(lines)
        self.s.sendall("".join(line + "\n" for line in lines).encode())
        return [self.file.readline().rstrip("\n") for _ in lines]

    def stats(self):
        self.s.sendall(b"stats\n")
        return dict(line.split() for line in iter(self.file.readline, "\n"))

    def close(self):
        self.file.close()
        self.s.close()


class Server:
    def __init__(self, *command):
        self.log = open("log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), self.text()
        self.port = int(line.split()[-1])

    def text(self):
        with open("log", encoding="utf-8") as log:
            return log.read()

    def sockets(self):  # not all files: now and then it opens the image to check it
        folder, found = "/proc/%d/fd/" % self.process.pid, 0
        for number in os.listdir(folder):
            try:
                found += os.readlink(folder + number).startswith("socket:")
            except FileNotFoundError: # closed meanwhile
                pass
        return found

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        self.process.stdout.close()
        self.log.close()
        assert status == 0, "exit status %d: %s" % (status, self.text())


def job(program):
    """Run in this folder what cron runs, according to the program's first comment."""
    with open(os.path.join(source, program), encoding="utf-8") as file:
        found = re.search(r"^ \*     \S+ \S+ \* \* \*  app  (.*)$", file.read(), re.M)
    command = re.sub(r"/var/lib/app/|/srv/", "", found.group(1)).split(" && ")[0]
    subprocess.run(command, shell=True, check=True,
                   env=dict(os.environ, PATH=os.path.dirname(weir) + ":" + os.environ["PATH"]))


def write(name, lines):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def damage(name):
    """Replace the file by one that is not an image, by renaming."""
    write("new", ["no image"])
    os.replace("new", name)


def test_epoll():
    keys = ["user:%d" % i for i in range(5000)]
    write("record", keys)
    server = Server(epoll, "set.weir", "record")
    client, other = Client(server.port), Client(server.port)
    assert client("? guest:1") == "maybe" and client("+ user:early") == "seen"
    wait_until("its line in the log", lambda: "set.weir: cannot open" in server.text())
    job("epoll.c")
    wait_until("the first set", lambda: client.stats()["swaps"] == "1")
    assert client("? user:early") == "maybe"
    asked = random.Random(1).sample(keys, 1000)  # lines of all lengths, across the ends of reads
    assert client.many("? " + key for key in asked) == ["maybe"] * 1000
    assert client.many("? guest:%d" % i for i in range(1000)).count("no") > 980
    client.s.sendall(b"? guest:1\n? use")
    assert client.file.readline() == "no\n"
    assert client("r:17") == "maybe", "the part of a line that came first is lost"
    assert client("+ user:new") == "new" and other("+ user:new") == "seen"
    assert other("? user:new") == "maybe" and client("hello").startswith("error")
    assert client("+ nul:\0:1") == "new" and client("? nul:\0:1") == "maybe"
    with open("record", encoding="utf-8") as record:
        lines = record.read().split("\n")
    assert lines == keys + ["user:early", "user:new", "user:new", "nul:\0:1", ""], lines[-5:]
    assert client.stats()["generation"] == "2" and client.stats()["saturated"] == "0"
    assert float(client.stats()["rate"]) < 0.0001, "of the keys there are, not of those asked for"

    lost, going = [], threading.Event()

    def look_up():
        while not going.is_set():
            lost.extend(answer for answer in other.many("? " + key for key in keys[:50])
                        if answer != "maybe")

    reader = threading.Thread(target=look_up)
    reader.start()
    try:
        for swaps in range(2, 7):  # the job runs while keys are made
            made = "late:%d" % swaps
            assert client("+ " + made) == "new"
            job("epoll.c")
            wait_until("a swap", lambda: int(client.stats()["swaps"]) == swaps)
            assert client("? " + made) == "maybe" and client("? user:new") == "maybe"
        shutil.copy("record", "earlier")  # like a job that read it before the next key
        assert client("+ late:7") == "new"
        subprocess.run([weir, "build", "-q", "--like=set.weir", "-o", "set.weir", "earlier"],
                       check=True)
        wait_until("a swap", lambda: client.stats()["swaps"] == "7")
        assert client("? late:7") == "maybe", "lost between the record and the swap"
        damage("set.weir")
        wait_until("a refusal", lambda: client.stats()["refused"] != "0")
        wait_until("its line in the log", lambda: "the set stays as it is: " in server.text())
        assert client("? user:17") == "maybe" and client.stats()["swaps"] == "7"
    finally:
        going.set()
        reader.join()
    assert not lost, "%d lookups lost" % len(lost)
    sockets = server.sockets()
    client.close()
    other.close()
    wait_until("both connections closed", lambda: server.sockets() == sockets - 2)
    server.end()


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def shared(pid, name):
    """Is the file mapped, read-only, without pages of the process's own?"""
    with open("/proc/%d/smaps" % pid, encoding="ascii") as file:
        maps = re.split(r"\n(?=[0-9a-f]+-)", file.read())
    own = [part for part in maps if part.split("\n")[0].endswith("/" + name)]
    return bool(own) and all(" r--s " in part and "Private_Dirty:         0 kB" in part
                             for part in own)


def test_prefork():
    keys = ["user:%d" % i for i in range(100000)]
    write("keys", keys)
    job("prefork.c")
    server = Server(prefork, "set.weir", "3")
    parent = server.process.pid

    def ask(lines):
        client = Client(server.port)
        answers = client.many("? " + line for line in lines)
        client.close()
        return answers

    wait_until("three children", lambda: len(children_of(parent)) == 3)
    for i in range(0, 1000, 100):
        assert ask(keys[i:i + 100]) == ["maybe"] * 100
    assert ask("guest:%d" % i for i in range(1000)).count("no") > 980
    first = children_of(parent)
    for _ in range(60):
        assert ask(["user:1"]) == ["maybe"]

    def open_files():
        return [len(os.listdir("/proc/%d/fd" % child)) for child in first]

    wait_until("connections closed", lambda: max(open_files()) < 12)
    assert all(shared(child, "set.weir") for child in first), "the image is not shared"

    os.kill(first[0], signal.SIGKILL)
    wait_until("a successor", lambda: len(set(children_of(parent)) - {first[0]}) == 3)
    write("keys", keys + ["user:new"])
    job("prefork.c")
    before = set(children_of(parent))
    server.process.send_signal(signal.SIGHUP)
    wait_until("new children alone", lambda: len(children_of(parent)) == 3 and
               not before & set(children_of(parent)))
    assert ask(["user:new"]) == ["maybe"]
    with open("/proc/%d/maps" % parent, encoding="ascii") as maps:
        assert "set.weir (deleted)" not in maps.read(), "the old image is still mapped"
    damage("set.weir")
    server.process.send_signal(signal.SIGHUP)
    wait_until("a refusal", lambda: "the set stays as it is: " in server.text())
    assert ask(["user:new", "user:17"]) == ["maybe"] * 2
    last = children_of(parent)
    idle = [Client(server.port) for _ in last]  # idle clients delay no exit
    server.end()
    assert not any(os.path.exists("/proc/%d" % child) for child in last)
    for client in idle:
        client.close()


def test_prefork_killed():
    write("keys", ["user:1"])
    job("prefork.c")
    server = Server(prefork, "set.weir", "2")
    wait_until("two children", lambda: len(children_of(server.process.pid)) == 2)
    last = children_of(server.process.pid)
    server.process.kill()
    server.process.wait()
    server.process.stdout.close()
    server.log.close()
    try:
        wait_until("the end of its children",
                   lambda: not any(os.path.exists("/proc/%d" % child) for child in last))
    except AssertionError:
        for child in last:
            os.kill(child, signal.SIGKILL)
        raise


def test_distinct(program):
    write("a", ["line %d" % i for i in range(0, 20000)])
    write("b", ["line %d" % i for i in range(10000, 30000)] * 2)

    def run(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=False)

    answer = run("1000000", "a", "b", "a")
    assert (answer.returncode, answer.stdout) == (0, "30000\n"), answer
    answer = run("1000", "a", "b")
    assert answer.returncode == 1 and "more lines than 1000" in answer.stderr, answer
    assert run("1000000", "a", "gone").returncode == 1
    answer = run("0", "a")
    assert answer.returncode == 1 and "capacity" in answer.stderr, answer


tests = [test_epoll, test_prefork, test_prefork_killed]
for test in tests + [lambda: test_distinct(more[0])] * len(more):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
print("%d programs" % (2 + len(more)))
