# SPDX-License-Identifier: MIT
"""What whoever operates a set does to it in a week, by the shell, while a node serves it and one
follows it into a file. test_weeks.py PROGRAM WEIR [--kills=N] [--seed=N]"""
import os
import random
import subprocess
import sys
import time
import unittest

import group
import liar
import nodes
import tool

KILLS, SEED = nodes.numbers("--kills=", 8, "--seed=", 1)
SET = "{weir:seen}:"
SIZE = ["-n", "4000", "-p", "1e-6"]


class Weeks(tool.Tool):
    OPTIONS, STREAM, SEEDS = (), (), ("--seed=7", "--seed=7")

    def setUp(self):
        super().setUp()
        self.build("good", 0, 100, *SIZE, self.SEEDS[0])
        self.replicate("publish", *self.STREAM, "good")
        self.ledger = self.nodes("keep=8", *self.OPTIONS)
        self.node = self.ledger.start()
        self.follower, self.path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(self.path))

    def insert(self):
        self.node.ask("burst 100")
        group.wait_until("it is sent", lambda: self.node.ask("flush 5000") == "0 ")

    def well(self):
        """Whoever opens now has all, and so has everybody; then all end."""
        self.ledger.newcomer(self)
        nodes.settle(self, self.ledger)
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])
        self.end(self.ledger, self.follower)

    def test_a_bad_one_is_taken_back(self):
        """With all that was inserted before it and since, of which nodes keep nothing more."""
        for _ in range(3):
            self.insert()
            self.assertEqual(self.node.ask("publish"), "0 ")
        self.build("bad", 500, 510, *SIZE, self.SEEDS[1])
        self.replicate("publish", "--keep=8", "--replace", "bad", "--", "true")
        group.wait_until("it serves", self.ledger.lost)
        group.wait_until("it is in the file", lambda: self.query(self.path, 505))
        self.assertFalse(self.query(self.path, 50))
        self.insert()
        self.replicate("rollback", "--generation=1")
        group.wait_until("it is back", lambda: not self.ledger.lost())
        group.wait_until("so is the file", lambda: self.query(self.path, 50))
        self.assertFalse(self.query(self.path, 505))
        self.insert()
        self.assertEqual(self.status()["current"]["generation"], 6)
        self.well()

    def test_what_changes_nothing(self):
        """Wrong wishes are refused, and the set stays; to publish what it has is to publish it."""
        self.insert()
        self.assertIn("generation 77 is not kept",
                      self.replicate("rollback", "--generation=77", status=1))
        self.replicate("rollback", "--generation=0", status=2)
        if not self.STREAM: # one of keys stays so whatever is said
            self.assertIn("that is settled when a set is first published", self.replicate(
                "publish", "--stream=keys", "good", status=2))
        self.assertEqual(self.status()["current"]["generation"], 1)
        self.replicate("rollback", "--generation=1")
        self.replicate("publish", "served")
        group.wait_until("it serves", lambda: self.node.stats()["generation"] == 3)
        self.well()

    def test_the_file_after_a_flushall(self):
        """It was followed, so it is of the set's own seed: the shell has the set."""
        self.insert()
        self.server.client.flushall()
        self.node.ask("burst 100")
        self.replicate("publish", *self.STREAM, "served")
        self.assertIn("redis had no generation of it", self.aside)
        self.insert()
        # what it has beside the file nobody else would get, as it says after some turns
        group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
        self.well()

    def the_rest_goes(self):
        """What was stored and is of no generation that is kept: within a day, by itself."""
        pieces = [self.server.client.ttl(name)
                  for name in self.server.client.scan_iter(SET + "c:*")]
        kept = self.status(status=None)["kept"] # the image of each is of one piece
        self.assertEqual(sum(ttl < 0 for ttl in pieces), len(kept), pieces)
        self.assertLessEqual(max(pieces), 86400)

    def test_a_publisher_is_killed_at_any_moment(self):
        """Since it has the lease: the next one is not held up by it, and what it stored goes by
        itself."""
        rng = random.Random(SEED)
        self.build("more", 500, 600, "--like=good")
        for i in range(KILLS):
            command = ["more"] if i % 2 else ["--replace", "good", "--", "true"]
            with subprocess.Popen(
                    [tool.WEIR, "replicate", "publish", "--set=seen", *command], cwd=self.folder,
                    env=self.environment, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL) as process:
                group.wait_until("it has the lease", lambda: process.poll() is not None or
                                 self.server.client.exists(SET + "lease"))
                time.sleep(rng.random() * 0.003)
                process.kill()
            begun = time.monotonic()
            self.replicate("publish", "more")
            self.assertLess(time.monotonic() - begun, 10, "seed %d, kill %d" % (SEED, i))
        self.the_rest_goes()
        self.insert()
        group.wait_until("it is in the file", lambda: self.query(self.path, 550))
        self.well()

    def test_a_publisher_is_killed_with_the_lease(self):
        """Just before its generation is there."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        process = None

        def publish(args, answer, send):
            group.wait_until("it is started", lambda: process)
            process.kill()
            return answer
        between.refusals["publish"] = liar.Error(b"WEIRLEASE nobody")
        between.lies["publish"] = publish
        process = subprocess.Popen(
            [tool.WEIR, "replicate", "publish", "--set=seen", "--url=" + between.url, "good"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(process.wait(60), -9)
        self.assertGreater(self.server.client.pttl(SET + "lease"), 1000)
        self.replicate("publish", "good")
        self.the_rest_goes()
        self.insert()
        self.well()


class Keys(Weeks):
    """Then a bad one may be of another seed."""
    OPTIONS, STREAM, SEEDS = ("stream=keys",), ("--stream=keys",), ("--seed=7", "--seed=8")
    test_a_publisher_is_killed_at_any_moment = test_a_publisher_is_killed_with_the_lease = None


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
