# SPDX-License-Identifier: MIT
"""The module and nodes of libweir-redis share a set. test_nodes.py MODULE NODE"""
import os
import subprocess
import sys
import unittest

from sets import Sets
from served import wait_until

NODE = os.path.abspath(sys.argv[2])


class Nodes(Sets):
    def setUp(self):
        super().setUp()
        self.make()
        self.assertEqual(self.publish(), "1.1")

    def node(self):
        process = subprocess.Popen([NODE, "unix://" + self.server.socket, "x"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def end():
            process.stdin.close()
            process.wait()
            process.stdout.close()
        self.addCleanup(end)

        def ask(word, key="."):
            process.stdin.write("%s %s\n" % (word, key))
            process.stdin.flush()
            return process.stdout.readline().strip()
        return ask

    def test_a_node_has_what_a_key_had(self):
        ask = self.node()
        self.assertEqual(ask("joined"), "1.1")
        self.assertEqual([ask("has", i) for i in range(0, 500, 10)], ["1"] * 50)

    def test_a_key_has_what_nodes_insert(self):
        ask = self.node()
        for i in range(500, 550):
            ask("insert", i)
        self.assertEqual(self.load("l")[0], "1.1")
        self.assertTrue(self.has("l", range(550)))
        self.assertEqual(ask("publish"), "0")
        self.assertEqual(self.load("m"), ("1.2", 0))
        self.assertTrue(self.has("m", range(550)))

    def test_a_node_takes_what_is_published_meanwhile(self):
        """The node merges the published generation into its set, so it keeps its own items."""
        ask, other = self.node(), self.node()
        ask("insert", "of-a-node")
        self.run_("BF.ADD", "k", "of-the-key")
        self.assertEqual(self.publish(), "1.2")
        for each in ask, other:
            wait_until("the nodes join it", lambda: each("joined") == "1.2")
            self.assertEqual([each("has", key) for key in ("of-a-node", "of-the-key", "7")],
                             ["1"] * 3)
        ask("insert", "later")
        wait_until("the other has it", lambda: other("has", "later") == "1")
        self.load("l")
        self.assertTrue(self.has("l", ["of-a-node", "of-the-key", "later"]))

    def test_nodes_publish_what_the_log_has_lost(self):
        """The commands refuse until a node has published."""
        ask = self.node()
        ask("insert", "before")
        ask("insert", "after")
        self.client.xtrim(self.LOG, maxlen=1, approximate=False)
        self.refused(self.run_, "WEIR.LOAD", "l", "SET", "x", text="are missing in the log")
        self.assertEqual(ask("publish"), "0")
        self.load("l")
        self.assertTrue(self.has("l", [*range(500), "before", "after"]))

    def test_a_set_that_redis_has_lost(self):
        """The key may be published before the node notices the loss. No item is lost."""
        ask = self.node()
        ask("insert", "of-a-node")
        key = self.client.dump("k")
        self.client.flushall()
        self.client.restore("k", 0, key)
        self.run_("BF.ADD", "k", "of-the-key")
        self.publish()
        wait_until("the node has it", lambda: ask("has", "of-the-key") == "1")

        def all_is_there():
            self.load("l")
            return self.has("l", [*range(500), "of-a-node", "of-the-key"])
        wait_until("the node has published what it had", all_is_there)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
