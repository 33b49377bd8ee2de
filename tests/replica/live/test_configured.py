# SPDX-License-Identifier: MIT
"""What whoever operates redis may do to it for a while, by its own commands: nodes and the shell
say why nothing goes, and all is well soon after it is over. test_configured.py PROGRAM WEIR"""
import os
import sys
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"


class Configured(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes()
        self.ledger.capacity = 20000
        for _ in range(2):
            self.ledger.start(seconds=3600)
        self.follower, self.path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(self.path))
        self.insert()
        nodes.settle(self, self.ledger)

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst 100")

    def say(self, sentence):
        """Each that has something to send; what is not sent is not confirmed."""
        self.insert()
        for node in self.ledger.nodes:
            group.wait_until("it says: " + sentence, lambda: sentence in node.stats()["error"])
            self.assertRegex(node.ask("flush 200"), "^-")

    def status_says(self, word):
        """At once, also before a report of a node is old."""
        said = self.status(status=1)
        self.assertRegex(said["no_writes"], "^" + word)
        self.assertLessEqual(len(said["no_writes"]), 400)
        self.assertEqual(said["alerts"], ["redis takes no writes, and so no inserts, nor what "
                                          "nodes report: " + said["no_writes"]])

    def well(self):
        """A generation is made, and is in the file; then all end."""
        self.insert()
        nodes.settle(self, self.ledger)
        group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")
        for node in self.ledger.nodes:
            last = node.stats()["inserted"] - 1
            group.wait_until("it is in the file", lambda: self.has(self.path, node, last))
        nodes.settle(self, self.ledger)
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])
        self.end(self.ledger, self.follower)

    def test_a_replica_by_mistake(self):
        self.client.execute_command("REPLICAOF", "127.0.0.1", "1")
        self.say("READONLY this server is not the master")
        self.assertIn("is not the master", self.replicate("status", status=2))
        self.client.execute_command("REPLICAOF", "NO", "ONE")
        self.well()

    def test_replicas_are_demanded(self):
        self.client.config_set("min-replicas-to-write", 1)
        self.status_says("NOREPLICAS Not enough good replicas to write")
        self.say("too few replicas to take writes")
        self.assertRegex(self.ledger.nodes[0].ask("publish"), "^-.*too few replicas")
        self.client.config_set("min-replicas-to-write", 0)
        self.well()

    def test_it_cannot_save(self):
        """A folder is where its file should be."""
        self.client.config_set("save", "3600 1")
        os.mkdir(self.folder + "/dump.rdb")
        self.client.bgsave()
        group.wait_until("it has failed", lambda: self.client.info("persistence")[
            "rdb_last_bgsave_status"] == "err")
        self.status_says("MISCONF Redis is configured to save RDB snapshots, but .* about the "
                         "RDB error.$")
        self.say("the server cannot save")
        os.rmdir(self.folder + "/dump.rdb")
        self.client.bgsave()
        self.well()

    def test_a_password(self):
        """It holds for whoever connects."""
        self.client.config_set("requirepass", "x")
        group.redis.Redis(unix_socket_path=self.server.socket, password="x").client_kill_filter(
            _type="normal", skipme=True)
        self.insert()
        for node in self.ledger.nodes:
            group.wait_until("it is cut off", lambda: not node.stats()["connected"])
        self.assertIn("NOAUTH", self.replicate("status", status=2))
        group.redis.Redis(unix_socket_path=self.server.socket, password="x").config_set(
            "requirepass", "")
        self.well()

    def test_answers_are_cut_off(self):
        self.client.config_set("client-output-buffer-limit", "normal 1000 1000 1")
        self.insert()
        self.assertIn("has closed the connection", self.replicate("status", status=2))
        self.client.config_set("client-output-buffer-limit", "normal 0 0 0")
        self.well()

    def test_another_database(self):
        """Nodes make the set there from what they have; and find it as it was when it is back."""
        for _ in range(2):
            self.client.swapdb(0, 1)
            self.insert()
            group.wait_until("it is there", lambda: self.client.exists(SET + "manifest"))
            nodes.settle(self, self.ledger)
        self.well()

    def test_writes_are_held_back(self):
        self.client.execute_command("CLIENT", "PAUSE", 60000, "WRITE")
        self.insert()
        for node in self.ledger.nodes:
            self.assertRegex(node.ask("flush 200"), "^-110 ")
        self.client.execute_command("CLIENT", "UNPAUSE")
        self.well()

    def test_all_is_to_expire(self):
        for name in self.client.scan_iter(SET + "*"):
            self.client.pexpire(name, 200)
        group.wait_until("it has expired", lambda: self.client.pttl(SET + "manifest") < 0)
        self.well()

    def test_keys_go_and_come_back(self):
        """Under their names of before, over what nodes have made there meanwhile."""
        for name in ("manifest", "stream", "nodes", "lease", "kept"):
            if not self.client.exists(SET + name):
                continue
            self.client.rename(SET + name, "away")
            self.insert()
            if name == "manifest":
                group.wait_until("another", lambda: self.client.exists(SET + name))
            self.client.rename("away", SET + name)
            self.insert()
            nodes.settle(self, self.ledger)
        self.well()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
