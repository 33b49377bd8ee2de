# SPDX-License-Identifier: MIT
"""Somebody gives the stream an id of a time to come, later empties it and sets its last id back,
with its counts as they were: what comes then is before everybody's position, and read all the same.
test_set_back.py PROGRAM"""
import sys
import time
import unittest

import group
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
    def set_back(self):
        last = self.client.xinfo_stream(STREAM)["last-generated-id"]
        time.sleep(0.1)
        return self.client.eval(SET_BACK, 1, STREAM, last)

    def sends(self, node):
        node.ask("burst 100")
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_ids_come_again(self):
        self.client = self.server.client
        first, second = self.ledger.start(), self.ledger.start()
        self.sends(first)
        self.client.execute_command("XSETID", STREAM, "%d-0" % ((time.time() + 31536000) * 1000))
        self.sends(first)
        for _ in range(2): # of which the one covers what is before the other
            group.wait_until("it publishes", lambda: first.ask("publish") == "0 ")
        group.wait_until("they are joined", lambda: nodes.all_well(self.ledger))
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
