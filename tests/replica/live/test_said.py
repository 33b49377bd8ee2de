# SPDX-License-Identifier: MIT
"""What a node says of a redis that refuses what is sent now and then, by a configuration: once, in
all its words, and that it is over when it is. test_said.py PROGRAM WEIR"""
import os
import sys
import time
import unittest

import group
import tool

AGAIN = "all is well again"


class Said(tool.Tool):
    def begin(self):
        self.client = self.server.client
        self.begun = 0 # sentences of before
        self.said = open(os.path.join(self.folder, "said"), "w+")
        self.addCleanup(self.said.close)
        self.errors = self.said
        self.node = self.nodes().start()
        group.wait_until("it reports", lambda: self.status(status=None)["nodes"])
        self.begun = len(self.sentences())

    def sentences(self):
        with open(self.said.name) as f:
            return f.read().splitlines()[self.begun:]

    def is_said_once(self, word):
        """Nothing else fails, so each reading of the stream goes well meanwhile."""
        group.wait_until("it says so", lambda: any(word in s for s in self.sentences()))
        end = time.monotonic() + 3 # ten times as long as between reports
        while time.monotonic() < end:
            self.assertIn(word, self.node.stats()["error"])
            time.sleep(0.02)
        of = self.sentences()
        self.assertEqual(len(of), 1, of)
        self.assertNotIn(" script: ", of[0]) # each of several has another name

    def is_over(self):
        group.wait_until("it is over", lambda: AGAIN in self.sentences()[-1])
        self.assertEqual(len(self.sentences()), 2)
        self.assertEqual(self.node.stats()["error"], "")
        time.sleep(0.1)
        self.assertEqual(self.status()["alerts"], []) # before another report is due

    def test_no_writes_are_taken(self):
        self.begin()
        self.client.config_set("min-replicas-to-write", 1)
        self.is_said_once("too few replicas")
        self.client.config_set("min-replicas-to-write", 0)
        self.is_over()

    def test_a_rule_is_lacking(self):
        """What it reports is refused, and all else is taken."""
        acl = lambda *words: self.server.client.execute_command("ACL", "SETUSER", "one", *words)
        acl("on", ">word", "~*", "&*", "+@all")
        self.options[1] = "url=unix://one:word@" + self.server.socket
        self.begin()
        acl("-time")
        self.is_said_once("a rule (ACL)")
        acl("+time")
        self.is_over()

    def test_it_cannot_save(self):
        """What redis says of the way out comes to whoever reads it, also beside a long name."""
        name = "n" * 64
        self.options[0] = "set=" + name
        node = self.nodes().start()
        os.mkdir(os.path.join(self.folder, "dump.rdb"))
        self.server.client.config_set("save", "3600 1")
        self.server.client.bgsave()
        group.wait_until("it cannot", lambda: self.status("--set=" + name, status=None)[
            "no_writes"])
        node.ask("burst 10")
        group.wait_until("the node says so", lambda: "MISCONF" in node.stats()["error"])
        said = self.status("--set=" + name, status=1)
        for text in (said["no_writes"], said["alerts"][0], node.stats()["error"],
                     node.ask("flush 1000")):
            self.assertIn("(stop-writes-on-bgsave-error option)", text)
            self.assertRegex(text, r"check the Redis logs for details about the RDB error\.$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
