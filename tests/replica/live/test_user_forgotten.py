# SPDX-License-Identifier: MIT
"""The user of redis that nodes and a follower are (ACL) is of redis's memory alone, and redis
restarts. test_user_forgotten.py PROGRAM WEIR"""
import os
import sys
import unittest

import group
import nodes
import tool


class UserForgotten(tool.Tool):
    def setUp(self):
        super().setUp()
        self.password = os.path.join(self.folder, "password")
        self.option = "--password-file=" + self.password
        self.environment["WEIR_REDIS_URL"] = "unix://weir@" + self.server.socket
        self.options[1] = "url=unix://weir@" + self.server.socket
        self.user("pw")
        self.write("pw")
        self.ledger = self.nodes("password_file=" + self.password)
        self.ledger.capacity = 20000
        for _ in range(2):
            self.ledger.start(seconds=3600)
        self.follower, self.path = self.follow("served", self.option)
        group.wait_until("the file", lambda: os.path.exists(self.path))

    def user(self, password):
        self.server.client.execute_command("ACL", "SETUSER", "weir", "on", "resetpass",
                                           ">" + password, "~*", "&*", "+@all")

    def write(self, password):
        with open(self.password, "w") as f:
            f.write(password + "\n")

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst 100")

    def refused(self):
        """Nodes, the follower and a shell wait for what whoever operates redis does."""
        for node in self.ledger.nodes:
            node.ask("burst 100")
            group.wait_until("it says so", lambda: "AUTH is refused" in node.stats()["error"])
        self.assertIn("AUTH is refused", self.replicate("status", self.option, status=2))
        self.assertIsNone(self.follower.poll())

    def forget(self):
        self.insert()
        nodes.settle(self, self.ledger)
        self.server.again()
        self.refused()

    def well(self):
        self.insert()
        nodes.settle(self, self.ledger)
        group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")
        for node in self.ledger.nodes:
            last = node.stats()["inserted"] - 1
            group.wait_until("it is in the file", lambda: self.has(self.path, node, last))
        group.wait_until("status is well", lambda: not self.status(self.option, status=None)[
            "alerts"])
        self.follower.terminate()
        self.assertEqual(self.follower.wait(60), 0)

    def test_it_is_back(self):
        self.forget()
        self.user("pw")
        self.well()

    def test_it_is_back_by_another_password(self):
        """Nobody is to be started again: the file is read whenever one connects."""
        self.forget()
        self.user("new")
        self.refused()
        self.write("new")
        self.well()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
