# SPDX-License-Identifier: MIT
"""The file of the secret key goes away, or another takes its place, while nodes that sign live on.
test_secret.py PROGRAM WEIR"""
import os
import re
import sys
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"
UNTRUSTED = "none of the 1 that are trusted"


class Secret(tool.Tool):
    def setUp(self):
        super().setUp()
        for of in "", "2":
            self.weir("replicate", "key", "secret" + of, "public" + of)
        self.secret = os.path.join(self.folder, "secret")
        self.ledger = self.nodes("secret=" + self.secret, "trusted=%s/public" % self.folder)
        self.ledger.capacity = 20000
        for _ in range(2):
            self.ledger.start(seconds=3600)
        self.insert()
        nodes.settle(self, self.ledger)

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst 100")

    def is_of_this_epoch(self):
        text = self.server.client.hget(SET + "manifest", "text")
        epoch = self.server.client.info("replication")["master_replid"]
        return re.search(rb"(?m)^epoch (\w{40})", text)[1].decode() == epoch

    def well(self):
        self.insert()
        nodes.settle(self, self.ledger)
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        self.ledger.newcomer(self)
        nodes.settle(self, self.ledger)
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])

    def test_it_is_away(self):
        """Whoever is open has the key, and signs in an epoch that begins meanwhile, too; nobody
        opens or signs from a shell until it is back."""
        os.rename(self.secret, self.secret + ".away")
        self.server.again()
        self.insert()
        group.wait_until("a generation", self.is_of_this_epoch)
        nodes.settle(self, self.ledger)
        with self.assertRaisesRegex(AssertionError, "secret: cannot open it: no such file"):
            self.ledger.start()
        self.assertIn("secret: No such file or directory: no key", self.replicate(
            "rollback", "--generation=1", "--secret=" + self.secret, self.trust(), status=2))
        os.rename(self.secret + ".away", self.secret)
        self.well()

    def trust(self, *names):
        """The option, of these public keys."""
        path = os.path.join(self.folder, "trusted" + "".join(names))
        with open(path, "w") as f:
            for name in names or ("public",):
                with open(os.path.join(self.folder, name)) as one:
                    f.write(one.read())
        return "--trusted=" + path

    def another_signs(self):
        """Nobody takes it, and what is there stays. Return: the generation before."""
        generation = self.status()["current"]["generation"]
        self.replicate("rollback", "--generation=%d" % generation, "--secret=%s2" % self.secret,
                       self.trust())
        for node in self.ledger.nodes:
            group.wait_until("it says so", lambda: UNTRUSTED in node.stats()["error"])
        group.wait_until("status says so", lambda: len([
            a for a in self.status(status=None)["alerts"] if UNTRUSTED in a]) >= 2)
        self.insert()
        self.assertEqual([n.stats()["generation"] for n in self.ledger.nodes], [generation] * 2)
        self.assertFalse(self.ledger.lost({n.name: 100 for n in self.ledger.nodes}))
        return generation

    def test_another_signs_and_it_is_taken_back(self):
        """By a shell that knows both, and signs rightly."""
        generation = self.another_signs()
        self.replicate("rollback", "--generation=%d" % generation, "--secret=" + self.secret,
                       self.trust("public", "public2"))
        self.well()

    def test_another_signs_and_keys_are_deleted(self):
        """A node publishes its own then."""
        self.another_signs()
        self.server.client.delete(*self.server.client.keys(SET + "*"))
        group.wait_until("a generation", lambda: self.server.client.exists(SET + "manifest"))
        self.well()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
