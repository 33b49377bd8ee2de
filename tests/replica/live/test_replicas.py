# SPDX-License-Identifier: MIT
"""Do confirmed inserts wait for the right replicas of redis, and for how long?
test_replicas.py PROGRAM"""
import errno
import signal
import sys
import time
import unittest

import live


class Set(unittest.TestCase):
    grace = 60000

    def begin(self, *options, replicas=1):
        self.w = live.World(replicas=replicas, options=(
            "capacity=10000", "confirm_ms=1500", "replica_grace_ms=%d" % self.grace, *options))
        self.addCleanup(self.w.close)
        self.node, self.key = self.w.start(), 0
        return self.w.servers[-1]

    def insert(self, node=None):
        node, self.key = node or self.node, self.key + 1
        answer = node.insert(self.key, self.key + 1, "confirmed")
        self.assertEqual(node.missing(self.key, self.key + 1), 0)
        return answer

    def confirms(self, node=None):
        answer = self.insert(node)
        self.assertGreaterEqual(answer["result"], 0, answer)

    def refuses(self, node=None):
        answer = self.insert(node)
        self.assertEqual(answer["result"], -errno.EAGAIN, answer)
        self.assertIn("replica", answer["error"])

    def stop(self, server, number=signal.SIGSTOP):
        server.process.send_signal(number)


class Replicas(Set):
    def test_one_that_is_stopped(self):
        """An insert that is refused because of a stopped replica is sent and later confirmed."""
        replica = self.begin()
        self.confirms()
        self.stop(replica)
        self.refuses()
        newcomer = self.w.start()
        self.refuses(newcomer)
        self.assertEqual(newcomer.missing(1, 3), 0)
        self.stop(replica, signal.SIGCONT)
        live.wait_until("it is confirmed", lambda: self.node.ask("flush", 0)["result"] == 0)
        self.confirms()

    def test_one_of_two(self):
        replica = self.begin(replicas=2)
        self.confirms()
        self.stop(replica)
        self.refuses()
        enough = self.w.start("confirm_replicas=1")
        self.confirms(enough)
        self.confirms(self.w.start("confirm_replicas=%d" % live.NO_REPLICAS))

    def test_more_than_there_are(self):
        self.begin("confirm_replicas=2")
        self.refuses()

    def test_a_master_that_is_back_before_its_replica(self):
        """The master has no replica yet, but inserts must wait for one."""
        replica = self.begin()
        self.confirms()
        replica.kill()
        self.w.master.again()
        live.wait_until("it is connected", lambda: self.node.stats()["state"] == "following")
        self.refuses()
        self.refuses(self.w.start())
        replica.start()
        live.wait_until("it is confirmed", lambda: self.node.ask("flush", 0)["result"] == 0)


class Grace(Set):
    grace = 4000

    def test_one_that_does_not_come_back(self):
        replica = self.begin()
        self.confirms()
        replica.kill()
        begun = time.monotonic()
        self.refuses()
        live.wait_until("it does not count", lambda: self.insert()["result"] >= 0)
        self.assertGreaterEqual(time.monotonic() - begun, self.grace / 1000 - 1.5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
