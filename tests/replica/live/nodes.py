# SPDX-License-Identifier: MIT
"""Nodes (node.c) and the ledger of what they were promised. The test's argument is the program."""
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import group

PATIENCE = 2 * group.PATIENCE


def numbers(*pairs):
    """The options "--name=" of the test that are numbers, or what each is without."""
    return [next((int(of[len(name):]) for of in sys.argv if of.startswith(name)), number)
            for name, number in zip(pairs[::2], pairs[1::2])]


def words(first=2):
    """The others, which are unittest's."""
    return [of for of in sys.argv[first:] if "=" not in of]


# ---- what a process takes ----

def descriptors(process):
    return len(os.listdir("/proc/%d/fd" % process.pid))


def megabytes(process):
    with open("/proc/%d/status" % process.pid) as f:
        of = dict(line.split(":", 1) for line in f)
    return int(of["VmRSS"].split()[0]) >> 10


def ticks(process):
    """Hundredths of a second of a processor."""
    with open("/proc/%d/stat" % process.pid) as f:
        return sum(int(t) for t in f.read().rsplit(")")[1].split()[11:13])


def key_of(name, n):
    """The key of that number that the node of that name inserts, as node.c has it."""
    return ((name + 1) << 40 | n).to_bytes(8, "little")


class Node:
    def __init__(self, program, name, *options, seconds=0, capacity=1000000, errors=None):
        self.name, self.confirmed, self.inserted = name, 0, 0
        self.process = subprocess.Popen(
            [program, str(name), str(seconds), str(capacity), *options], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        self.answers = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.opened = self.answer("open")

    def read(self):
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "confirmed":
                self.confirmed = int(rest)
            else:
                self.answers.put((word, rest))
        self.answers.put(("end", ""))

    def answer(self, expected):
        try:
            word, rest = self.answers.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError("node %d: no %s within %d s" % (self.name, expected,
                                                                 PATIENCE)) from None
        if word != expected:
            raise AssertionError("node %d: %s instead of %s: %s" % (self.name, word, expected,
                                                                   rest))
        return rest

    def ask(self, line, expected=None):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(expected or line.split(" ")[0])

    def rate(self, n):
        self.ask("rate %d" % n)

    def stats(self):
        text, _, error = self.ask("stats").partition(" error=")
        numbers = {k: int(v) for k, v in (w.split("=") for w in text.split(" "))}
        return {**numbers, "error": error}

    def missing(self, node, n):
        """How many of the first n keys of that node, and the first of them."""
        count, first = self.ask("check %d %d" % (node, n), "missing").split(" ")
        return int(count), int(first)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        """What it had said is confirmed stays so."""
        self.process.kill()
        self.process.wait()
        self.reader.join(PATIENCE)

    def quit(self):
        answer = self.ask("quit")
        self.process.wait(PATIENCE)
        return answer

    def close(self):
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()
        self.reader.join(PATIENCE)
        self.process.stdin.close()
        self.process.stdout.close()


def is_of_this_epoch(client, manifest="{weir:seen}:manifest"):
    """Was the generation there is made since redis began anew last?"""
    text = client.hget(manifest, "text") or b""
    epoch = re.search(rb"(?m)^epoch (\w{40})", text)
    return bool(epoch) and epoch[1].decode() == client.info("replication")["master_replid"]


def all_well(ledger, but=None):
    """@but: a sentence with these words may stay."""
    of = [n.stats() for n in ledger.nodes]
    newest = max(s["newest"] for s in of)
    return all(s["complete"] and s["generation"] == newest and
               (not s["error"] or but and but in s["error"]) for s in of)


def settle(test, ledger):
    """Nobody inserts any more; all have all."""
    for n in ledger.nodes:
        n.rate(0)
    for n in ledger.nodes:
        test.assertEqual(n.ask("flush 60000").split(" ")[0], "0")
    group.wait_until("nodes are complete and serve the newest", lambda: all_well(ledger))
    group.wait_until("nothing is lost: %s" % ledger.lost(), lambda: not ledger.lost())


def publish_anyhow(node):
    """What a damaged image has made it refuse, a generation of the record replaces."""
    if node.ask("publish") != "0 ":
        group.wait_until("a generation", lambda: node.ask("record") == "0 ")


class Ledger:
    """Starts nodes, remembers the promises to those that have gone, and checks them all."""

    def __init__(self, program, *options, capacity=1000000, errors=None):
        self.program, self.options, self.capacity = program, options, capacity
        self.errors = errors
        self.nodes, self.gone, self.next = [], {}, 0

    def start(self, *options, seconds=0):
        node = Node(self.program, self.next, *self.options, *options, seconds=seconds,
                    capacity=self.capacity, errors=self.errors)
        self.next += 1
        if node.opened.split(" ")[0] != "0":
            node.close()
            raise AssertionError("a node did not open: %s" % node.opened)
        self.nodes.append(node)
        return node

    def kill(self, node):
        node.kill()
        self.gone[node.name] = node.confirmed
        self.nodes.remove(node)
        node.close()

    def promises(self):
        """Node -> how many of its first keys everybody has to have."""
        return {**self.gone, **{n.name: n.stats()["inserted"] for n in self.nodes}}

    def confirmed(self):
        """What a record that applications write first has at the least."""
        of = {**self.gone, **{n.name: n.confirmed for n in self.nodes}}
        return [of.get(i, 0) for i in range(self.next)]

    def lost(self, promises=None):
        """(node, whose keys, how many, the first) of what is missing."""
        return [(n.name, of, *n.missing(of, many))
                for of, many in (promises or self.promises()).items()
                for n in self.nodes if n.missing(of, many)[0]]

    def newcomer(self, test):
        """It has all as soon as it is open, also what another reads a moment later."""
        node = self.start()
        lacks = [(of, many) for of, many in self.promises().items() if node.missing(of, many)[0]]
        test.assertFalse(lacks, node.stats())
        return node

    def close(self):
        for n in self.nodes:
            n.close()


class Alive(threading.Thread):
    """Nodes that report and do nothing else, until it is stopped."""

    def __init__(self, client, *names):
        super().__init__(daemon=True)
        self.client, self.names, self.over = client, list(names), threading.Event()
        self.report()
        self.start()

    def report(self):
        now = int(time.time() * 1000)
        self.client.hset("{weir:seen}:nodes", mapping={
            "%016x" % name: "%d host b" % now for name in self.names})

    def run(self):
        while not self.over.wait(0.2):
            self.report()

    def stop(self):
        self.over.set()
        self.join()


class OneServer(unittest.TestCase):
    def setUp(self):
        self.errors = open(os.devnull, "w")
        self.addCleanup(self.errors.close)
        self.server = group.Server()
        self.addCleanup(self.server.close)
        self.ledger = Ledger(os.path.abspath(sys.argv[1]), "set=seen",
                             "url=unix://" + self.server.socket, "poll=20", "idle=300",
                             "record=%s/record" % self.server.folder, errors=self.errors)
        self.addCleanup(self.ledger.close)


class Publishing(OneServer):
    """One node publishes, another reads."""

    def stats(self, node, name):
        return node.stats()[name]

    def confirms(self, node, n=1000):
        """Microseconds: of half of them, of 99 of 100, of all."""
        return [int(word) for word in node.ask("confirms %d" % n).split(" ")]

    def publish(self, node):
        """From the record: an image of its set the other would not need."""
        self.assertEqual(node.ask("record"), "0 ")
        return self.stats(node, "newest")

    def inserts(self, node):
        node.rate(5000)
        time.sleep(0.3)
        node.rate(0)
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def on_its_way(self, node, generation):
        group.wait_until("a part of it is here", lambda: 0 < self.stats(node, "here") <
                         self.stats(node, "image"))
        s = node.stats()
        self.assertEqual((s["newest"], s["complete"], s["error"]), (generation, 0, ""))
        self.assertLess(s["generation"], generation)
