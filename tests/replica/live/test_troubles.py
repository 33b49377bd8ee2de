# SPDX-License-Identifier: MIT
"""A day's troubles of three nodes: status says each while it lasts, a rule of alerts.yml begins to
fire, the way out that is named leads out, and nothing is lost.
test_troubles.py PROGRAM WEIR ALERTS"""
import os
import shutil
import signal
import sys
import unittest

import alerting
import group
import nodes
import tool

SET = "{weir:seen}:"
ALERTS = os.path.abspath(sys.argv[3])


class Troubles(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes("keep=8")

    def start(self, *options, **more):
        nodes_ = [self.ledger.start(*options, **more if i == 0 else {}) for i in range(3)]
        self.insert()
        return nodes_

    def insert(self, n=500):
        for node in self.ledger.nodes:
            node.ask("burst %d" % n)

    def firing(self):
        text = self.replicate("status", "--prometheus", status=None)
        return alerting.firing(ALERTS, text)

    def not_well(self, sentence, *fires):
        """The sentence is among those of status, which exits with 1, and the rules fire."""
        def said():
            return self.status(status=None)["alerts"]
        try:
            group.wait_until(sentence, lambda: any(sentence in a for a in said()))
            group.wait_until("they fire", lambda: self.firing() >= {*fires, "WeirReplicaNotWell"})
        except AssertionError:
            self.fail("%s, %s: %s %s" % (sentence, fires, said(), self.firing()))
        self.assertIn("\nnot well\n", self.replicate("status", status=1))
        self.assertIn(sentence, self.replicate("status", "-q", status=1))

    def well(self):
        """Everybody has all, and the shell and the rules say so."""
        nodes.settle(self, self.ledger)
        group.wait_until("they report so", lambda: not self.status(status=None)["alerts"])
        self.replicate("status")
        group.wait_until("nothing fires", lambda: not self.firing())

    def report_of(self, node):
        """Its field in redis."""
        name, = (n["node"] for n in self.status(status=None)["nodes"]
                 if n["pid"] == node.process.pid)
        return name

    def grow_old(self, name, seconds=61):
        """As if the report were so much older."""
        at, rest = self.client.hget(SET + "nodes", name).split(b" ", 1)
        self.client.hset(SET + "nodes", name, b"%d %s" % (int(at) - 1000 * seconds, rest))

    def lose_all(self):
        """Redis restarts with nothing."""
        self.server.kill()
        shutil.rmtree(os.path.join(self.folder, "appendonlydir"))

    def test_the_publisher_dies(self):
        dead, *_ = self.start(seconds=1)
        group.wait_until("it publishes", lambda: self.status()["current"]["generation"] > 1)
        group.wait_until("what it says is confirmed", lambda: dead.confirmed == 500)
        name = self.report_of(dead)
        self.ledger.kill(dead)
        self.insert()
        self.grow_old(name, 31)
        self.not_well("publisher %s (" % name)
        self.assertIn(") has not reported for ", self.replicate("status", status=1))
        self.assertNotIn("WeirReplicaPublisherDead", self.firing())
        self.grow_old(name, 30)
        self.not_well("publisher %s (" % name, "WeirReplicaPublisherDead")
        before = self.status(status=1)["current"]["generation"]
        self.ledger.start(seconds=1)
        self.client.hdel(SET + "nodes", name)
        self.well()
        group.wait_until("another generation",
                         lambda: self.status()["current"]["generation"] > before)

    def test_redis_loses_all(self):
        """And a node publishes now and then. What was confirmed just before nobody else has."""
        one, node, other = self.start(seconds=1)
        self.well()
        for n in (one, other):
            n.signal(signal.SIGSTOP)
        node.ask("burst 500")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.lose_all()
        for n in (one, other):
            n.signal(signal.SIGCONT)
        self.insert()
        said = self.replicate("status", "--prometheus", status=2)
        self.assertRegex(said, r"^weir replicate status: unix://%s: nobody listens there\n$"
                         % self.server.socket) # and no metric
        self.assertEqual(alerting.firing(ALERTS, ""), {"WeirReplicaUnknown"})
        self.server.start()
        self.insert()
        self.well()

    def test_redis_loses_all_and_nobody_publishes(self):
        _, node, _ = self.start()
        self.lose_all()
        self.insert()
        self.server.start()
        self.not_well("redis has no generation of this set", "WeirReplicaNoGeneration")
        self.not_well(": set seen: redis has no generation of it (any more): publish one",
                      "WeirReplicaNoGeneration", "WeirReplicaFailing")
        self.insert()
        self.assertEqual(node.ask("publish"), "0 ")
        self.well()

    def test_a_node_stands_still(self):
        """Behind it the stream is trimmed, and who has what has gone stands still as well."""
        late, other, _ = self.start("idle=500")
        self.well()
        name = self.report_of(late)
        late.signal(signal.SIGSTOP)
        for _ in range(2):
            other.ask("burst 500")
            self.assertEqual(other.ask("publish"), "0 ")
        other.ask("burst 500") # no generation has these
        self.assertEqual(other.ask("flush 10000"), "0 ")
        self.grow_old(name)
        self.not_well("node %s (" % name, "WeirReplicaNodeDead")
        group.wait_until("it counts as behind no more", # which is said of those that report
                         lambda: "WeirReplicaBehind" not in self.firing())
        self.client.xtrim(SET + "stream", maxlen=0, approximate=False)
        other.signal(signal.SIGSTOP)
        late.signal(signal.SIGCONT)
        group.wait_until("it lacks them", lambda: not late.stats()["complete"])
        group.wait_until("it fires", lambda: "WeirReplicaIncomplete" in self.firing())
        other.signal(signal.SIGCONT)
        self.well()

    def test_a_wrong_seed_over_deleted_keys(self):
        """As the page has it: delete the set's keys, and publish from a node."""
        _, node, _ = self.start()
        self.well()
        self.build("w", 0, 100, "-n", "1000000", "--seed=9")
        self.assertIn("another seed", self.replicate("publish", "w", status=1))
        for n in self.ledger.nodes: # of which the shell would lack words
            n.signal(signal.SIGSTOP)
        self.client.delete(*self.client.keys(SET + "*"))
        self.replicate("publish", "w")
        for n in self.ledger.nodes:
            n.signal(signal.SIGCONT)
        self.assertIn("redis had no generation of it", self.aside)
        self.not_well("is hashed by another seed or key: ", "WeirReplicaFailing")
        group.wait_until("each names the way out", lambda: 3 == len([
            a for a in self.status(status=1)["alerts"] if a.endswith(
                " (DEL the set's keys, and a node of either can publish its own)")]))
        group.wait_until("it is behind", lambda: "WeirReplicaIncomplete" in self.firing())
        self.insert()
        self.client.delete(*self.client.keys(SET + "*"))
        self.assertEqual(node.ask("publish"), "0 ")
        self.well()
        self.assertGreater(self.status()["current"]["image_bytes"], 1000000)

    def test_redis_is_full(self):
        one, node, _ = self.start("kind=blocked")
        self.well()
        used = self.client.info("memory")["used_memory"]
        self.client.config_set("maxmemory", used + 1000000)
        self.insert()
        self.not_well(": the server has no room for inserts: ", "WeirReplicaFailing")
        self.not_well("redis uses ")
        self.assertRegex(self.replicate("status", "-q", status=1), r"redis uses \d+ of %d bytes: "
                         r"there is no room for another image\n" % (used + 1000000))
        answer = node.ask("publish")
        self.assertTrue(answer.startswith("-28 "), answer)
        self.assertIn("the server's memory is full", answer)
        self.insert()
        self.client.config_set("maxmemory", 0)
        self.well()
        self.assertEqual(one.ask("publish"), "0 ")
        self.well()

    def test_a_node_has_no_room(self):
        """What it keeps to itself a generation of it brings to the others, as the rule says."""
        self.ledger.capacity = 2000000
        _, node, _ = self.start("pending=1000000", "kind=blocked")
        self.well()
        self.client.config_set("maxmemory", self.client.info("memory")["used_memory"] + 1000000)
        node.ask("burst 1300000") # a thread of it may have 1,048,576 pending
        group.wait_until("it keeps some", lambda: node.stats()["lost"])
        self.not_well(" inserts to itself: it had no room for them", "WeirReplicaNotReplicated",
                      "WeirReplicaFailing")
        self.client.config_set("maxmemory", 0)
        group.wait_until("they lack no more than that", lambda: node.stats()["retained"] > 900000)
        self.assertTrue(self.ledger.lost())
        self.assertEqual(node.ask("publish"), "0 ")
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())
        self.assertEqual(node.stats()["lost"], 0)

    def test_redis_restarts_and_a_node_has_no_room(self):
        """What it has for others is more than it may keep for them: a generation of it brings
        that. It joins the one before, since redis has restarted."""
        _, node, _ = self.start("pending=1000000", "kind=blocked")
        self.well()
        self.server.kill()
        node.ask("burst 300000")
        self.server.start()
        self.not_well(": max_pending_bytes 1000000: ", "WeirReplicaFailing")
        self.assertTrue(self.ledger.lost())
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertEqual(node.stats()["lost"], 0)
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def test_back_and_forth(self):
        """From a broken record, and the generation before it is no good either."""
        one, node, _ = self.start()
        self.well()
        self.assertEqual(one.ask("publish"), "0 ")
        good = self.status()["current"]["generation"]
        self.insert()
        self.assertEqual(node.ask("publish"), "0 ")
        newer = self.status()["current"]["generation"]
        for _ in range(2): # then no node keeps what was before, to send it again
            self.assertEqual(node.ask("publish"), "0 ")
        self.assertEqual(node.ask("empty"), "0 ")
        group.wait_until("it serves", self.ledger.lost)
        for generation in (good, newer, good):
            done = self.replicate("rollback", "--generation=%d" % generation, "--keep=16")
            self.assertRegex(done, r"^set seen: generation \d+\n$")
            self.insert()
            self.well()
        kept = [g["generation"] for g in self.status()["kept"]]
        self.assertEqual((len(kept), kept[-1]), (newer + 6, 1))
        said = self.replicate("rollback", "--generation=99", status=1)
        self.assertIn("set seen: generation 99 is not kept", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
