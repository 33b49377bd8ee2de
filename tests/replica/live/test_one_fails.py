# SPDX-License-Identifier: MIT
"""Of two whose duty it is to publish one cannot: the other does it. test_one_fails.py PROGRAM"""
import os
import signal
import sys
import time
import unittest

import group
import liar
import nodes

HOUR = 3600
BOUND = 100 # seconds: it is tried each 30 to 38


class OneFails(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.ledger.capacity = 10000
        self.between = liar.Liar(self.server.socket)
        self.addCleanup(self.between.close)

    def is_of_this_epoch(self):
        return nodes.is_of_this_epoch(self.server.client)

    def other_publishes(self, tries):
        """Redis restarts; it is the turn of the first, who fails again and again."""
        other, first = self.ledger.nodes
        self.between.calls.clear()
        other.signal(signal.SIGSTOP)
        self.server.again()
        group.wait_until("the first tries", lambda: self.between.calls.get(tries))
        time.sleep(1)
        other.signal(signal.SIGCONT)
        group.wait_until("a generation of this epoch", self.is_of_this_epoch, BOUND)
        self.assertTrue(first.stats()["error"])

    def test_what_it_stored_has_gone(self):
        self.ledger.start(seconds=HOUR)
        self.ledger.start("url=" + self.between.url, seconds=HOUR)
        self.between.refusals["publish"] = liar.Error(b"WEIRCHUNK 0")
        self.other_publishes("publish")

    def test_its_folder_has_gone(self):
        images = os.path.join(self.server.folder, "images")
        os.mkdir(images)
        self.ledger.start(seconds=HOUR)
        self.ledger.start("url=" + self.between.url, "folder=" + images, seconds=HOUR)
        os.rename(images, images + "2")
        self.other_publishes("lease")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
