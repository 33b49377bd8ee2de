# SPDX-License-Identifier: MIT
"""Each fault once, while three nodes insert: do all nodes have the keys that the table of
<weir/replica.h> promises, and are they well again? test_faults.py PROGRAM PART PARTS [NAME...]"""
import re
import sys
import unittest

import faults
import live


class Faults(unittest.TestCase):
    def look(self, name):
        fault = faults.FAULTS[name]
        w = fault.begin()
        self.addCleanup(w.close)
        seconds, lost = fault.round(w)
        print("%-36s well again after %6.3f s, %6d confirmed" % (
            name, seconds, sum(n.count(True) for n in w.nodes)), flush=True)
        self.assertEqual(lost, [])
        newcomer = w.start("connect_ms=10000", *w.signed("newcomer") if fault.signed else ())
        live.wait_until("the newcomer is well", newcomer.well) # other nodes may have to publish
        self.assertEqual(w.lost(), [])
        for node in w.nodes:
            self.assertEqual(node.quit()["result"], 0)


def add(name):
    setattr(Faults, "test_" + re.sub(r"\W+", "_", name), lambda self: self.look(name))


part, parts = int(sys.argv[2]), int(sys.argv[3])
for number, each in enumerate(faults.FAULTS):
    if number % parts == part:
        add(each)

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
