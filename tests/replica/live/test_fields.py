# SPDX-License-Identifier: MIT
"""Somebody writes any text into a manifest's field, beside any number, or a token that no node
drew: can a node publish its set, or a record, and what does it say where it cannot?
test_fields.py PROGRAM"""
import sys
import unittest

import group
import nodes

SET = "{weir:seen}:"
MANIFEST = SET + "manifest"
STAYS, OLD = "it stays", "of before"


class Fields(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger.capacity = 2000
        self.node, self.other = self.ledger.start("keep=8"), self.ledger.start()
        self.node.ask("burst 100")
        self.old = self.client.hget(MANIFEST, "text")
        self.goes("publish")

    def goes(self, how):
        """And it serves that: else it would lack an image of which no text speaks any more."""
        group.wait_until("%s: %s" % (how, self.node.stats()["error"]),
                         lambda: self.node.ask(how) == "0 ")
        group.wait_until("it serves", self.serves)

    def serves(self):
        of = self.node.stats()
        return of["generation"] == of["newest"]

    def put(self, field, value):
        if value is None:
            self.client.hdel(MANIFEST, field)
        elif value != STAYS:
            self.client.hset(MANIFEST, field, self.old if value == OLD else value)

    def test_each_text_beside_each_number(self):
        """Neither is in anybody's way."""
        for text in (STAYS, "junk", "", None, OLD):
            for number in (STAYS, None, "0", "x", "99"):
                for how in ("publish", "record"):
                    with self.subTest(text=text, number=number, how=how):
                        self.put("text", text)
                        self.put("generation", number)
                        self.node.ask("burst 1")
                        self.goes(how)
        nodes.settle(self, self.ledger)

    def test_a_token_of_another_form(self):
        """Another takes its place, and with it an epoch begins: nothing has stopped."""
        for token in ("x", "f" * 17, " " * 16, "0123456789ABCDEF"):
            with self.subTest(token=token):
                self.client.hset(MANIFEST, "token", token)
                self.node.ask("burst 10")
                self.goes("publish")
                nodes.settle(self, self.ledger)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
