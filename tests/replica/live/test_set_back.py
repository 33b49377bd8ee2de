# SPDX-License-Identifier: MIT
"""Somebody gives the stream an id of a time to come, later empties it and sets its last id back,
with its counts as they were: what comes then is before everybody's position, and read all the same.
test_set_back.py PROGRAM"""
import sys
import time
import unittest

import group
import liar
import nodes

STREAM = "{weir:seen}:stream"

# Of the moment at which all that was sent was read. Return: whether it was.
SET_BACK = """local about = redis.call('XINFO', 'STREAM', KEYS[1])
local of = {}
for i = 1, #about, 2 do of[about[i]] = about[i + 1] end
if of['last-generated-id'] ~= ARGV[1] then return 0 end
redis.call('XTRIM', KEYS[1], 'MAXLEN', '0')
redis.call('XSETID', KEYS[1], '1-1', 'ENTRIESADDED', of['entries-added'], 'MAXDELETEDID', '0-0')
return 1"""


class SetBack(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.client = self.server.client

    def set_back(self):
        last = self.last_id()
        time.sleep(0.1)
        return self.client.eval(SET_BACK, 1, STREAM, last)

    def last_id(self):
        return self.client.xinfo_stream(STREAM)["last-generated-id"]

    def a_year_ahead(self, first, second):
        """Of ids that all have, two generations that all have joined."""
        self.client.execute_command("XSETID", STREAM, "%d-0" % ((time.time() + 31536000) * 1000))
        self.sends(second)
        for _ in range(2): # of which the one covers what is before the other
            group.wait_until("it publishes", lambda: first.ask("publish") == "0 ")
        group.wait_until("they are joined", lambda: nodes.all_well(self.ledger))

    def sends(self, node):
        node.ask("burst 100")
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_ids_come_again(self):
        first, second = self.ledger.start(), self.ledger.start()
        self.sends(first)
        self.a_year_ahead(second, first)
        group.wait_until("ids are set back", self.set_back)
        self.sends(first)
        group.wait_until("the other has it", lambda: second.missing(0, 300)[0] == 0)
        self.ledger.kill(first) # all of it was confirmed
        group.wait_until("the other is complete", lambda: second.stats()["complete"])
        for _ in range(3): # what is covered by the ids of before would be trimmed
            self.sends(second)
            group.wait_until("it publishes", lambda: second.ask("publish") == "0 ")
        self.ledger.start()
        nodes.settle(self, self.ledger)

    def set_back_while(self, word):
        """It stores the image; another confirms what that lacks, and ends."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        first, second = self.ledger.start("url=" + between.url), self.ledger.start()
        self.sends(second)
        self.a_year_ahead(first, second)
        did = []

        def meanwhile(args, answer, send):
            if not did:
                did.append(self.client.eval(SET_BACK, 1, STREAM, self.last_id()))
                self.sends(second)
                did.append(second.quit())
            return answer
        between.lies["set"] = meanwhile
        self.assertEqual((first.ask(word), did), ("0 ", [1, "0 "]))
        self.ledger.nodes.remove(second)
        third = self.ledger.start()
        group.wait_until("both have it", lambda: all(
            node.missing(second.name, 300)[0] == 0 for node in (first, third)))
        nodes.settle(self, self.ledger)

    def test_while_it_publishes(self):
        self.set_back_while("publish")

    def test_while_a_record_is_published(self):
        self.set_back_while("record")

    def test_more_than_can_be_counted(self):
        """Somebody sets the number of entries: none is lost, and it is counted again."""
        first, second = self.ledger.start(), self.ledger.start()
        self.sends(first)
        self.sends(second)
        for added in (2 ** 63 - 1, 2 ** 62, 2 ** 53):
            with self.subTest(added=added):
                self.client.execute_command("XSETID", STREAM, self.last_id(), "ENTRIESADDED",
                                            added, "MAXDELETEDID", "0-0")
                self.sends(first)
                self.sends(second)
                third = self.ledger.start()
                inserted = first.stats()["inserted"]
                for node, of in ((first, second), (second, first), (third, first), (third, second)):
                    group.wait_until("it has all", lambda: not node.missing(of.name, inserted)[0])
                group.wait_until("it publishes", lambda: second.ask("publish") == "0 ")
                there = self.client.xlen(STREAM)
                time.sleep(2) # in which nobody sends again what it has
                self.assertLess(self.client.xlen(STREAM), there + 40)
                self.assertEqual(third.quit(), "0 ")
                self.ledger.nodes.remove(third)
        nodes.settle(self, self.ledger)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
