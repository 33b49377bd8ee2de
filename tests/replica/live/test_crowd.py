# SPDX-License-Identifier: MIT
"""Somebody makes up nodes in redis: tens of thousands that report, or that have each sent a batch,
or one that asks for batches again and again. Do two nodes that are there go on, lose nothing and
take no more than they should? test_crowd.py PROGRAM WEIR"""
import re
import sys
import time
import unittest

import group
import liar
import nodes
import tool

SET = "{weir:seen}:"
MANIFEST, STREAM, NODES = SET + "manifest", SET + "stream", SET + "nodes"
MANY = 70000    # more than are followed (65,536)
HOUR = 3600000
MEGABYTES = 96
BOUND = 30


def name(i):
    """Of a node that there is not."""
    return "%016x" % ((i + 1) * 0x9e3779b97f4a7c15 % 2 ** 64)


class Alive(nodes.Alive):
    """All those that were made up report again and again."""
    AGAIN = """local t = redis.call('TIME')
local now = string.format('%.0f host x pid 1', t[1] * 1000 + math.floor(t[2] / 1000))
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
	if string.find(all[i + 1], ' host x ', 1, true) then
		redis.call('HSET', KEYS[1], all[i], now)
	end
end"""

    def report(self):
        self.client.eval(self.AGAIN, 1, NODES)


class Crowd(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes()
        self.ledger.capacity = 100000
        self.one, self.other = self.ledger.start(), self.ledger.start()
        self.insert()
        self.assertEqual(self.one.ask("publish"), "0 ")

    def insert(self, n=100):
        for node in self.ledger.nodes:
            node.ask("burst %d" % n)
            self.assertEqual(node.ask("flush 10000"), "0 ")

    def hashing(self):
        text = self.client.hget(MANIFEST, "text").decode()
        return re.search(r"(?m)^hashing (\w+)", text)[1].rjust(16, "0")

    def entry(self, to, sender, number, what, data=b""):
        to.xadd(STREAM, {"v": "1", "n": sender, "q": str(number), "s": self.seed, what: data})

    def at_once(self, many, each):
        pipe = self.client.pipeline(transaction=False)
        for i in range(many):
            each(pipe, i)
            if i % 5000 == 0:
                pipe.execute()
        pipe.execute()

    def send(self, first, many):
        """A batch of each."""
        self.seed = self.hashing()
        self.at_once(many, lambda pipe, i: self.entry(pipe, name(first + i), 1, "h"))

    def report(self, many):
        """Until the test ends."""
        self.at_once(many, lambda pipe, i: pipe.hset(NODES, name(i), "0 host x pid 1"))
        self.addCleanup(Alive(self.client).stop)

    def publishes(self, node, how="publish"):
        group.wait_until("it publishes", lambda: node.ask(how) == "0 ")

    def all_is_well(self):
        """And nodes end in time, and took little."""
        self.insert()
        nodes.settle(self, self.ledger)
        for node in self.ledger.nodes:
            self.assertLess(nodes.megabytes(node.process), MEGABYTES)
            begun = time.monotonic()
            self.assertEqual(node.quit(), "0 ")
            self.assertLess(time.monotonic() - begun, BOUND)

    def test_many_have_sent_a_batch(self):
        """Beyond a number they are not followed, and nobody waits for them. A manifest names those
        that are, and who begins reads it."""
        self.send(0, MANY // 2)
        self.publishes(self.one)
        self.send(MANY // 2, MANY - MANY // 2)
        self.insert()
        self.publishes(self.other)
        self.assertGreater(len(self.client.hget(MANIFEST, "text")), 1 << 20)
        self.ledger.start()
        self.insert()
        self.publishes(self.one, "record")
        self.all_is_well()

    def test_many_report_and_a_batch_is_lacking(self):
        """Whose sender is not among them."""
        self.report(MANY // 2)
        self.seed = self.hashing()
        self.entry(self.client, "00000000deadbeef", 5, "h")
        group.wait_until("it is lacking", lambda: not self.one.stats()["complete"])
        self.insert()
        group.wait_until("nobody waits for it", lambda: self.one.stats()["complete"])
        self.publishes(self.one)
        self.assertEqual(len(self.status(status=None)["nodes"]), MANY // 2 + 2)
        self.all_is_well()

    def test_more_report_than_are_followed(self):
        self.report(MANY)
        self.seed = self.hashing()
        self.entry(self.client, "00000000deadbeef", 5, "h")
        group.wait_until("it is lacking", lambda: not self.one.stats()["complete"])
        self.insert()
        group.wait_until("nobody waits for it", lambda: self.one.stats()["complete"])
        self.assertEqual(self.one.stats()["error"], "")
        self.publishes(self.one)
        self.all_is_well()

    def test_more_report_than_an_answer_has(self):
        """Then nobody can say who lives, and a lacking batch is waited for until there is an image
        or those that report go. That it is refused test_scripts.py sees."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.lies["alive"] = lambda *_: liar.Error(b"WEIRCROWD 1000001 nodes report")
        late = self.ledger.start("url=" + between.url)
        self.seed = self.hashing()
        self.entry(self.client, "00000000deadbeef", 5, "h")
        group.wait_until("it says why", lambda: "somebody makes them up (DEL the set's key nodes): "
                         "WEIRCROWD 10000" in late.stats()["error"])
        self.assertIn("lacks inserts of others", late.ask("publish"))
        between.lies.clear()
        for node in self.ledger.nodes:
            group.wait_until("nobody waits for it", lambda: node.stats()["complete"])
        self.publishes(self.one)
        self.all_is_well()

    def test_more_have_gone_than_an_answer_has(self):
        """Nobody takes them for those who live."""
        self.client.eval("for i = 1, 600000 do redis.call('HSET', KEYS[1], i, ARGV[1]) end", 1,
                         NODES, "%d h" % (time.time() * 1000 - HOUR))
        self.seed = self.hashing()
        self.entry(self.client, "00000000deadbeef", 5, "h")
        group.wait_until("it is lacking", lambda: not self.one.stats()["complete"])
        group.wait_until("nobody waits for it", lambda: self.one.stats()["complete"])
        self.assertEqual(self.one.stats()["error"], "")
        self.publishes(self.one)
        self.client.delete(NODES)
        self.all_is_well()

    def test_one_asks_for_what_all_have_forgotten(self):
        """Each takes another name then, and the one before goes."""
        for _ in range(3):
            self.insert(500)
            self.publishes(self.one)
            self.publishes(self.other)
        self.seed, before = self.hashing(), self.client.hkeys(NODES)
        for _ in range(20):
            for of in self.client.hkeys(NODES):
                self.entry(self.client, "00000000deadbeef", 0, "w", of + b" 1")
            self.insert(1)
        group.wait_until("two report", lambda: self.client.hlen(NODES) == 2)
        self.assertFalse(set(before) & set(self.client.hkeys(NODES)))
        self.publishes(self.one)
        self.assertLess(self.client.hget(MANIFEST, "text").count(b"\norigin "), 100)
        self.all_is_well()
        self.assertEqual(self.client.hlen(NODES), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
