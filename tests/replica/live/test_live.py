# SPDX-License-Identifier: MIT
"""Three nodes, a redis, and what may happen to them. test_live.py PROGRAM"""
import os
import re
import signal
import sys
import time
import unittest

import group
import nodes

SET = "{weir:seen}:"


class Live(nodes.OneServer):
    def start(self, n=3, **more):
        for i in range(n):
            self.ledger.start(**more)

    def settle(self):
        nodes.settle(self, self.ledger)

    def run_for(self, seconds, rate=20000):
        for n in self.ledger.nodes:
            n.rate(rate)
        time.sleep(seconds)

    def test_inserts_are_everywhere(self):
        self.start()
        self.run_for(0.5)
        self.settle()
        self.assertGreater(min(self.ledger.promises().values()), 1000)

    def test_a_late_node_has_all(self):
        self.start(2)
        self.run_for(0.3)
        self.settle()
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        self.run_for(0.3)
        self.start(1)
        self.settle()

    def test_generations_of_the_live_set(self):
        self.ledger.start(seconds=1)
        self.start(2)
        self.run_for(3.5)
        self.settle()
        self.assertGreaterEqual(self.ledger.nodes[2].stats()["generation"], 3)

    def test_generations_of_a_record(self):
        self.start()
        self.run_for(0.3)
        for _ in range(4):
            self.assertEqual(self.ledger.nodes[0].ask("record"), "0 ")
            time.sleep(0.1)
        self.settle()

    def test_seeds_change(self):
        """Batches of keys: each generation of the record is of another seed (L13)."""
        self.ledger.options += ("stream=keys",)
        self.start()
        seeds = set()
        for _ in range(6):
            self.run_for(0.2)
            self.assertEqual(self.ledger.nodes[1].ask("record"), "0 ")
            newest = self.ledger.nodes[1].stats()["newest"]
            group.wait_until("it serves", lambda: all(
                n.stats()["generation"] >= newest for n in self.ledger.nodes))
            seeds |= {n.stats()["seed"] for n in self.ledger.nodes}
        self.assertEqual(len(seeds), 6)
        self.settle()
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        self.server.again()
        self.run_for(0.2)
        self.ledger.options = self.ledger.options[:-1] # the set says so itself
        self.start(1)
        self.run_for(0.2)
        self.settle()

    def test_keys_or_hashes(self):
        self.start(1)
        with self.assertRaisesRegex(AssertionError, "its batches are of hashes"):
            self.ledger.start("stream=keys")
        self.settle()

    def test_a_generation_is_heard_of(self):
        """Without the channel each would look once in ten minutes."""
        self.ledger.options += ("poll=600000",)
        self.start(2)
        time.sleep(0.5)
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        newest = self.ledger.nodes[0].stats()["newest"]
        group.wait_until("the other serves it", lambda:
                         self.ledger.nodes[1].stats()["generation"] == newest)

    def test_rollback(self):
        self.ledger.options += ("keep=4",)
        self.start()
        self.run_for(0.3)
        self.settle()
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        good = self.ledger.nodes[0].stats()["generation"]
        for _ in range(2): # then no node retains what was before
            self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
            self.run_for(0.3)
            self.settle()
        self.assertEqual(self.ledger.nodes[2].ask("empty"), "0 ")
        group.wait_until("the broken generation serves", self.ledger.lost)
        self.assertEqual(self.ledger.nodes[1].ask("rollback %d" % good), "0 ")
        self.settle()
        answer = self.ledger.nodes[1].ask("rollback %d" % (good - 1))
        self.assertIn("is not kept", answer)

    def test_connections_are_killed(self):
        self.start()
        self.run_for(0.1)
        for _ in range(20):
            self.server.client.client_kill_filter(_type="normal", skipme=True)
            time.sleep(0.05)
        self.settle()

    def test_redis_restarts(self):
        self.ledger.start(seconds=1)
        self.start(2)
        for _ in range(3):
            self.run_for(0.5)
            self.server.again()
        self.run_for(0.5)
        self.settle()

    def test_everything_is_deleted(self):
        self.ledger.start(seconds=1)
        self.start(2)
        for what in ("flushall", "stream", "manifest", "kept"):
            self.run_for(0.5)
            if what == "flushall":
                self.server.client.flushall()
            else:
                self.server.client.delete(SET + what)
        self.settle()

    def test_nobody_publishes_it_again(self):
        node = self.ledger.start()
        self.assertEqual(node.ask("publish"), "0 ")
        self.server.client.delete(*self.server.client.keys(SET + "*"))
        group.wait_until("it says so", lambda: "no generation of it" in node.stats()["error"])

    def test_the_stream_is_trimmed_by_force(self):
        self.ledger.start(seconds=1)
        self.start(2)
        for _ in range(4):
            self.run_for(0.4)
            self.ledger.nodes[2].signal(signal.SIGSTOP)
            time.sleep(0.2)
            self.server.client.xtrim(SET + "stream", maxlen=0, approximate=False)
            self.ledger.nodes[2].signal(signal.SIGCONT)
        self.settle()

    def lose_a_node(self):
        """Of the node that stays, which has what the dead one had confirmed, and no other."""
        old = self.ledger.start(seconds=1000)
        dead = self.ledger.start()
        self.run_for(0.3)
        self.settle()
        self.ledger.kill(dead)
        self.server.client.xtrim(SET + "stream", maxlen=0, approximate=False)
        return old

    def test_trimmed_by_force_and_nobody_else_has_it(self):
        """A node that came after lacks it, and publishes: one that was there has it still, and
        publishes it at once (L12)."""
        old = self.lose_a_node()
        new = self.ledger.start(seconds=1000)
        group.wait_until("it lacks nothing that it could ask for",
                         lambda: new.stats()["complete"] and new.ask("publish") == "0 ")
        newest = new.stats()["newest"]
        group.wait_until("the other publishes too", lambda: new.stats()["generation"] > newest)
        self.assertEqual(self.ledger.lost(), [])
        self.assertEqual(old.stats()["error"], "")

    def test_nobody_else_has_it_nor_the_lease(self):
        """The one that came after publishes every second, and has the lease all the time."""
        old = self.lose_a_node()
        new = self.ledger.start(seconds=1)
        self.ledger.start(seconds=1)
        group.wait_until("it lacks nothing that it could ask for", lambda: new.stats()["complete"])
        group.wait_until("they have what the old one has", lambda: self.ledger.lost() == [])
        self.assertEqual(old.stats()["error"], "")

    def test_begun_anew_by_another_seed(self):
        """Nobody takes what a node of before inserts: it says so, for as long as it is so."""
        old = self.ledger.start()
        self.assertTrue(old.ask("confirm 1")[0] in "01")
        self.server.client.delete(*self.server.client.keys(SET + "*"))
        self.ledger.start(seconds=1000)
        group.wait_until("it says so", lambda: "another seed" in old.stats()["error"])
        answer = old.ask("confirm 2")
        self.assertTrue(answer.startswith("-129") and "pass by" in answer, answer)
        old.ask("confirm 3")
        self.assertIn("another seed", old.stats()["error"])
        # as it says
        self.server.client.delete(*self.server.client.keys(SET + "*"))
        group.wait_until("it has the set again", lambda: old.ask("publish") == "0 ")
        self.assertTrue(old.ask("confirm 4")[0] in "01")

    def test_nodes_are_killed(self):
        self.ledger.start(seconds=1)
        self.start(2)
        for _ in range(3):
            self.run_for(0.5)
            self.ledger.kill(self.ledger.nodes[1])
            self.start(1)
        self.settle()

    def test_a_full_server(self):
        self.start(2)
        self.run_for(0.3)
        self.settle()
        used = self.server.client.info("memory")["used_memory"]
        self.server.client.config_set("maxmemory", used + 1000000)
        self.run_for(0.5, rate=1000)
        answer = self.ledger.nodes[0].ask("flush 5000")
        self.assertTrue(answer.startswith("-11 "), answer)
        group.wait_until("it says so", lambda: "no room" in
                         self.ledger.nodes[0].stats()["error"])
        self.server.client.config_set("maxmemory", 0)
        self.settle()

    def test_a_full_server_takes_a_generation(self):
        """Batches leave room for one image and a manifest."""
        self.start(1)
        node, client = self.ledger.nodes[0], self.server.client
        self.assertEqual(node.ask("publish"), "0 ")
        text = client.hget(SET + "manifest", "text")
        image = int(re.search(rb"^image (\d+) ", text, re.M)[1])
        most = client.info("memory")["used_memory"] + image + (8 << 20)
        client.config_set("maxmemory", most)
        answer = "0 "
        for _ in range(100):
            node.ask("burst 20000")
            answer = node.ask("flush 5000")
            if answer != "0 ":
                break
        self.assertTrue(answer.startswith("-11 "), answer)
        self.assertGreater(most - client.info("memory")["used_memory"], image + (1 << 20))
        self.assertEqual(node.ask("publish"), "0 ") # and the stream is trimmed
        client.config_set("maxmemory", 0)
        self.settle()

    def test_somebody_writes_to_the_stream(self):
        """More strings than an answer may have; more bytes than a batch; the last id there is."""
        self.start(2)
        self.run_for(0.2)
        client = self.server.client
        client.execute_command("XADD", SET + "stream", "*", *["x"] * 1100000)
        client.xadd(SET + "stream", {"v": "1" * 5000000})
        self.run_for(0.2)
        self.go_on()
        client.xadd(SET + "stream", {"v": 1}, id="%d-%d" % (2 ** 64 - 1, 2 ** 64 - 1))
        self.run_for(0.3)
        self.go_on()
        self.start(1)
        self.go_on()

    def go_on(self):
        """All have all, though each says that it passed something by."""
        for n in self.ledger.nodes:
            n.rate(0)
            self.assertEqual(n.ask("flush 30000"), "0 ")
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def test_an_image_is_damaged(self):
        self.start(2)
        self.run_for(0.3)
        self.settle()
        before = self.ledger.nodes[1].stats()["generation"]
        self.ledger.nodes[1].signal(signal.SIGSTOP)
        self.assertEqual(self.ledger.nodes[0].ask("record"), "0 ")
        for chunk in self.server.client.scan_iter("{weir:seen}:c:*:0"):
            self.server.client.setrange(chunk, 5000, b"damage")
        self.ledger.nodes[1].signal(signal.SIGCONT)
        group.wait_until("the image is refused", lambda:
                         self.ledger.nodes[1].stats()["refused"] == before + 1)
        group.wait_until("it waits for another", lambda:
                         "refused before" in self.ledger.nodes[1].stats()["error"])
        self.assertEqual(self.ledger.nodes[1].stats()["image"], 0) # nothing of it is kept
        self.assertEqual(self.ledger.nodes[0].ask("record"), "0 ")
        self.settle()
        self.assertEqual(self.ledger.nodes[1].stats()["refused"], 0) # it has a later one


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
