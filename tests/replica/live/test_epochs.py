# SPDX-License-Identifier: MIT
"""Redis begins a new epoch: a generation is made in it, whatever became of those whose duty it was
before. test_epochs.py PROGRAM"""
import re
import signal
import sys
import time
import unittest

import group
import liar
import nodes

SET = "{weir:seen}:"
HOUR = 3600


class Epochs(nodes.OneServer):
    """Nodes that publish each hour."""

    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger.capacity = 10000

    def begin(self, n):
        for _ in range(n):
            self.ledger.start(seconds=HOUR)
        for node in self.ledger.nodes:
            node.ask("burst 1000")
            self.assertEqual(node.ask("flush 10000"), "0 ")

    def restart(self):
        self.server.again()
        self.client = self.server.client

    def is_of_this_epoch(self, name=SET):
        return nodes.is_of_this_epoch(self.client, name + "manifest")

    def a_generation(self):
        group.wait_until("a generation of this epoch", self.is_of_this_epoch)
        nodes.settle(self, self.ledger)

    def owner(self):
        """The node that has the lease."""
        name = self.client.get(SET + "lease").split(b" ")[0]
        pid = int(re.search(rb" pid (\d+) ", self.client.hget(SET + "nodes", name))[1])
        return next(n for n in self.ledger.nodes if n.process.pid == pid)

    def test_the_publisher_dies_with_its_epoch(self):
        self.begin(3)
        self.restart()
        self.a_generation()
        self.assertGreater(self.client.pttl(SET + "lease"), HOUR * 1000)
        self.ledger.kill(self.owner())
        self.restart()
        self.a_generation()

    def test_its_duty_goes_on(self):
        """Once in an epoch a generation is due at once; the next ones are due as before."""
        node = self.ledger.start(seconds=1)
        self.restart()
        group.wait_until("a generation of this epoch", self.is_of_this_epoch)
        before = node.stats()["newest"]
        group.wait_until("two more", lambda: node.stats()["newest"] >= before + 2)

    def test_nobody_who_lives_has_the_lease(self):
        self.begin(2)
        self.client.set(SET + "lease", "%016x" % 0xdead, px=2 * HOUR * 1000)
        self.restart()
        self.a_generation()

    def test_who_said_nothing_yet(self):
        """Redis has lost who there is: a node whose turn has not come yet has not gone."""
        self.begin(2)
        nodes.settle(self, self.ledger) # each has what the other sent
        silent = self.ledger.nodes[1]
        own = {fields[b"n"] for _, fields in self.client.xrange(SET + "stream")
               if fields.get(b"h")}
        silent.signal(signal.SIGSTOP)
        self.client.delete(SET + "nodes")
        self.restart()
        group.wait_until("a generation of this epoch", self.is_of_this_epoch)
        text = self.client.hget(SET + "manifest", "text")
        self.assertEqual({name for name in own if b"origin " + name in text}, own)
        self.assertEqual(len(own), 2)
        silent.signal(signal.SIGCONT)
        nodes.settle(self, self.ledger)

    def test_the_publisher_stands_still(self):
        """Others make generations of the epochs that it sleeps through; when it goes on, none goes
        back, and it reports under one name."""
        self.begin(3)
        for epochs in (1, 3):
            self.restart()
            self.a_generation()
            sleeps = self.owner()
            sleeps.ask("burst 50") # which may not be sent yet
            sleeps.signal(signal.SIGSTOP)
            for _ in range(epochs):
                for node in self.ledger.nodes:
                    if node is not sleeps:
                        node.ask("burst 50")
                self.restart()
                group.wait_until("a generation of this epoch", self.is_of_this_epoch)
            self.assertIsNot(self.owner(), sleeps)
            newest = int(self.client.hget(SET + "manifest", "generation"))
            sleeps.signal(signal.SIGCONT)
            sleeps.ask("burst 50")
            self.a_generation()
            self.assertGreaterEqual(int(self.client.hget(SET + "manifest", "generation")), newest)
            pids = [re.search(rb" pid (\d+) ", report)[1]
                    for report in self.client.hvals(SET + "nodes")]
            self.assertEqual(len(pids), len(set(pids)), pids)

    def test_a_generation_that_was_not_made(self):
        """One node's fails; another has the lease, and dies: each is tried again, not at once and
        not in an hour."""
        between = {name: liar.Liar(self.server.socket) for name in ("fails", "dies")}
        for name, error in (("fails", b"WEIRCHUNK 0"), ("dies", b"WEIRLEASE another")):
            self.addCleanup(between[name].close)
            self.ledger.start("url=" + between[name].url, "set=" + name, seconds=HOUR)
            between[name].refusals["publish"] = liar.Error(error)
            between[name].calls.clear()
        begun = time.monotonic()
        self.restart()
        for name, of in between.items():
            group.wait_until("it is tried", lambda: of.calls.get("publish"))
            del of.refusals["publish"]
        for name, of in between.items():
            group.wait_until("a generation",
                             lambda: self.is_of_this_epoch("{weir:%s}:" % name), 60)
            self.assertLessEqual(of.calls["publish"], 3) # the first time redis has no scripts
        self.assertGreater(time.monotonic() - begun, 20)
        nodes.settle(self, self.ledger)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
