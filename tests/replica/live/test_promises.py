# SPDX-License-Identifier: MIT
"""What a call has done when it returns. test_promises.py PROGRAM"""
import os
import signal
import sys
import time
import unittest

import group
import nodes

SET = "{weir:seen}:"


class Lacking(nodes.OneServer):
    """Batches that are lacking, of nodes that the test itself is."""
    IDLE = 300 # nodes.OneServer's

    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.node = self.ledger.start()
        self.alive = nodes.Alive(self.client, 0xb)
        self.addCleanup(self.alive.stop)

    def idle(self, name, sequence=5):
        """Whoever reads this lacks those up to the number."""
        self.client.xadd(SET + "stream", {"v": 1, "n": "%016x" % name, "q": sequence,
                                          "s": "0" * 16, "i": ""})

    def gone(self, name):
        """Return: seconds until a node that has not reported is given up."""
        for _ in range(2): # a whole round in which nothing is lacking
            self.assertEqual(self.node.ask("flush 10000"), "0 ")
        begun = time.monotonic()
        self.idle(name)
        group.wait_until("it is noticed", lambda: not self.node.stats()["complete"])
        group.wait_until("it is given up", lambda: self.node.stats()["complete"])
        return time.monotonic() - begun

    def wanted(self):
        """Whose batches were asked for, in turn: always from the first."""
        self.assertEqual({fields[b"w"].split()[1] for _, fields in self.client.xrange(
            SET + "stream") if b"w" in fields} - {b"1"}, set())
        return [fields[b"w"].split()[0] for _, fields in self.client.xrange(SET + "stream")
                if b"w" in fields]

    def test_a_report_of_a_time_to_come(self):
        """It is of nobody who lives."""
        self.alive.stop()
        self.client.hset(SET + "nodes", "%016x" % 0xb, b"99999999999999 host b")
        self.assertLess(self.gone(0xb), 30)

    def test_each_has_its_time(self):
        for name in (0xa, 0xc):
            before = len(self.wanted())
            seconds = self.gone(name)
            self.assertGreaterEqual(seconds, 4 * self.IDLE / 1000)
            self.assertLessEqual(len(self.wanted()) - before, 2 + seconds / (self.IDLE / 1000))

    def test_who_has_gone_is_not_asked(self):
        self.gone(0xa)
        before = len(self.wanted())
        self.idle(0xb)
        group.wait_until("it is asked", lambda: len(self.wanted()) >= before + 3)
        self.assertEqual(set(self.wanted()[before:]), {b"%016x" % 0xb})

    def test_each_in_its_turn(self):
        """Also while one of them lives and does not answer."""
        names = [b"%016x" % name for name in (0xb, 0xd)]
        self.alive.names.append(0xd)
        for name in (0xb, 0xd):
            self.idle(name)
        group.wait_until("both are asked", lambda: set(self.wanted()) >= set(names))

    def test_many_live(self):
        """In whatever order they reported."""
        self.alive.names.extend(range(0x60, 0x40, -1))
        self.alive.report()
        self.idle(0x60)
        group.wait_until("it is asked", lambda: len(self.wanted()) >= 10)
        self.assertFalse(self.node.stats()["complete"])

    def test_who_has_gone_is_told_once(self):
        """Whatever else is lacking then."""
        self.ledger.errors = open(self.server.folder + "/said", "w")
        self.addCleanup(self.ledger.errors.close)
        self.node = self.ledger.start()

        def told():
            with open(self.ledger.errors.name) as f:
                return f.read().count("no node that lives has sent them")
        self.gone(0xa)
        group.wait_until("it is told", told)
        before = len(self.wanted())
        self.idle(0xb)
        group.wait_until("both have asked", lambda: len(self.wanted()) >= before + 20)
        self.assertEqual(told(), 1)


class Promises(nodes.OneServer):
    """What a call says when it returns. The thread looks so rarely that only who asks wakes it."""

    def node(self, *options):
        return self.ledger.start("poll=600000", "idle=600000", *options)

    def test_confirmed(self):
        node = self.node()
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertIsNone(self.server.client.get(SET + "lease"))
        self.assertEqual(node.ask("confirm 7"), "1 ")
        self.assertEqual(node.ask("confirm 7"), "0 ")

    def test_nothing_is_kept_for_others(self):
        """A thread may have 1,048,576 inserts pending, and no batch can be made."""
        node = self.node("pending=40")
        node.ask("burst 1048577")
        group.wait_until("it is counted", lambda: node.stats()["lost"] == 1)
        answer = node.ask("confirm 1")
        self.assertTrue(answer.startswith("-11 ") and "no room" in answer, answer)

    def test_room_for_less_than_a_batch(self):
        """Batches are smaller then: each generation but one makes room for more."""
        node = self.ledger.start("pending=20000")
        self.server.process.send_signal(signal.SIGSTOP)
        node.ask("burst 9000")
        self.server.process.send_signal(signal.SIGCONT)
        group.wait_until("it is confirmed", lambda: node.ask("publish") == "0 " and
                         node.ask("flush 1000") == "0 ")

    def full(self, *options, **more):
        """A node whose room for batches is all taken."""
        node = self.ledger.start("pending=65536", *options, **more)
        for _ in range(12):
            node.ask("burst 1000")
            time.sleep(0.03)
        self.assertTrue(node.ask("flush 1000").startswith("-11 "))
        return node

    def test_full_and_it_publishes(self):
        """That is its duty, and makes room: it tries more rarely than an idle node speaks."""
        node = self.full(seconds=2)
        group.wait_until("it is confirmed", lambda: node.ask("flush 1000") == "0 ")

    def goes_on(self, what):
        before = what()
        group.wait_until("another one", lambda: what() != before)

    def test_redis_is_full(self):
        """It takes no batch and no word any more, but reports and a generation."""
        self.ledger.capacity = 1000
        node = self.ledger.start("idle=1", seconds=2)
        client = self.server.client
        client.config_set("maxmemory", client.info("memory")["used_memory"] + (3 << 20))
        node.ask("burst 1")
        self.assertTrue(node.ask("flush 1000").startswith("-11 "))
        time.sleep(0.5)
        self.assertIn(b"no room for inserts", client.hvals(SET + "nodes")[0])
        self.goes_on(lambda: client.hvals(SET + "nodes"))
        self.goes_on(lambda: client.hget(SET + "manifest", "generation"))

    def test_full_and_cut_off(self):
        """It connects again, has what others insert, and a generation of another's makes room."""
        node, other = self.full(), self.ledger.start()
        for _ in range(2):
            self.server.client.client_kill_filter(_type="normal", skipme=True)
            other.ask("burst 50")
            group.wait_until("it is sent", lambda: other.ask("flush 5000") == "0 ")
            group.wait_until("it has come", lambda: not node.missing(other.name, 50)[0])
        group.wait_until("it publishes", lambda: node.ask("publish") == "0 ")
        group.wait_until("all has come", lambda: not other.missing(node.name, 12000)[0])

    def test_full_and_it_speaks(self):
        """All that could be sent is there: others may wait for its number."""
        self.full()
        self.goes_on(lambda: sum(b"i" in fields for _, fields in
                                 self.server.client.xrange(SET + "stream")))

    def test_closed(self):
        node, other = self.node(), self.ledger.start()
        node.ask("burst 1000")
        self.assertEqual(node.quit(), "0 ")
        group.wait_until("all has come", lambda: other.missing(node.name, 1000)[0] == 0)
        names = self.server.client.hgetall(SET + "nodes")
        self.assertLessEqual(len(names), 1, names)

    def test_closed_when_the_set_is_another(self):
        """By whose seed nobody will read what this node inserted."""
        node = self.ledger.start()
        node.ask("burst 100")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        node.signal(signal.SIGSTOP)
        self.server.client.flushall()
        self.ledger.start()
        node.signal(signal.SIGCONT)
        group.wait_until("it knows", lambda: "another seed" in node.stats()["error"])
        answer = node.quit()
        self.assertRegex(answer, r"^-129 .* \d+ bytes of inserts of this node are by another")

    def test_closed_without_redis(self):
        node = self.node()
        self.server.kill()
        node.ask("burst 1000")
        answer = node.quit()
        self.assertTrue(answer.startswith("-11 ") and " 8000 bytes" in answer, answer)

    def test_redis_stands_still(self):
        """What is not confirmed in time is said to be so, and comes when it goes on."""
        node, other = self.node("answer=500", "connect=500"), self.ledger.start()
        self.server.process.send_signal(signal.SIGSTOP)
        node.ask("burst 1000")
        begun = time.monotonic()
        self.assertTrue(node.ask("flush 500").startswith("-110 "))
        self.assertLess(time.monotonic() - begun, 5)
        self.server.process.send_signal(signal.SIGCONT)
        group.wait_until("it is confirmed", lambda: node.ask("flush 5000") == "0 ")
        group.wait_until("all has come", lambda: other.missing(node.name, 1000)[0] == 0)
        self.server.process.send_signal(signal.SIGSTOP)
        node.ask("burst 1000")
        answer = node.quit()
        self.assertTrue(answer.startswith("-11 ") and " 8000 bytes" in answer, answer)

    def test_another_epoch(self):
        """A generation is due then, of whoever's duty it is, and whatever the node was about when
        it found that out."""
        node = self.ledger.start(seconds=3600)
        for _ in range(8):
            self.assertEqual(node.ask("publish"), "0 ")
            before = node.stats()["generation"]
            self.server.again()
            group.wait_until("it is published", lambda: node.stats()["generation"] > before)
        newest = node.stats()["generation"]
        time.sleep(1) # once in an epoch
        self.assertEqual(node.stats()["generation"], newest)

    def test_not_connected(self):
        node = self.ledger.start()
        group.wait_until("it is connected", lambda: node.stats()["connected"])
        self.server.kill()
        group.wait_until("it is not", lambda: not node.stats()["connected"])

    def test_saved_without_redis(self):
        """What is asked of redis fails then. This needs none."""
        node = self.node()
        self.server.kill()
        begun = time.monotonic()
        self.assertEqual(node.ask("save %s/image" % self.server.folder), "0 ")
        self.assertTrue(node.ask("publish").startswith("-"))
        self.assertEqual(node.ask("save %s/image" % self.server.folder), "0 ")
        self.assertLess(time.monotonic() - begun, 5)
        self.assertTrue(os.path.exists(self.server.folder + "/image"))

    def test_saved_and_published(self):
        """Each has an error of its own: none goes by what the other does."""
        node = self.ledger.start(seconds=1)
        answer = node.ask("save %s/no/image" % self.server.folder)
        self.assertTrue(answer.startswith("-2 "), answer)
        before = node.stats()["generation"]
        group.wait_until("its duty is done", lambda: node.stats()["generation"] > before)
        self.assertIn("no/image", node.stats()["error"])
        self.assertEqual(node.ask("save %s/image" % self.server.folder), "0 ")
        self.assertEqual(node.stats()["error"], "")

    def test_no_replica(self):
        node = self.node("confirm=1")
        begun = time.monotonic()
        answer = node.ask("flush 1500")
        self.assertLess(time.monotonic() - begun, 7) # and not what is usual, 10 s
        self.assertTrue(answer.startswith("-110 ") and "within 1500 ms" in answer, answer)

    def replica(self):
        replica = group.Server(("--replicaof", "127.0.0.1 %d" % self.server.port))
        self.addCleanup(replica.close)
        return replica

    def test_a_replica_stands_still(self):
        replica = self.replica()
        group.wait_until("it follows", lambda: group.Group.in_step(self.server))
        node = self.ledger.start("confirm=4294967295")
        os.kill(replica.process.pid, signal.SIGSTOP)
        node.ask("burst 10")
        self.assertTrue(node.ask("flush 1000").startswith("-110 "))
        os.kill(replica.process.pid, signal.SIGCONT)
        self.assertEqual(node.ask("flush 60000"), "0 ")

    def test_a_replica_begins(self):
        """It may be promoted before it has what the master had."""
        self.server.client.config_set("repl-diskless-sync-delay", 3)
        node = self.ledger.start("confirm=4294967295")
        node.ask("burst 10")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.replica()
        group.wait_until("it is there", lambda: self.server.client.info("replication")[
            "connected_slaves"])
        node.ask("burst 10")
        self.assertTrue(node.ask("flush 500").startswith("-110 "))
        self.assertFalse(group.Group.in_step(self.server))
        self.assertEqual(node.ask("flush 60000"), "0 ")
        self.assertTrue(group.Group.in_step(self.server))

    def test_a_replica_is_promoted(self):
        """What it was waited for is there, though the node and the master have gone."""
        replica = self.replica()
        group.wait_until("it follows", lambda: group.Group.in_step(self.server))
        node = self.ledger.start("confirm=4294967295")
        node.ask("burst 1000")
        self.assertEqual(node.ask("publish"), "0 ")
        node.ask("burst 1000") # which are in the stream alone
        self.assertEqual(node.ask("flush 60000"), "0 ")
        self.ledger.kill(node)
        self.ledger.gone[node.name] = 2000
        self.server.kill()
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.ledger.start("url=unix://" + replica.socket)
        group.wait_until("all are there", lambda: not self.ledger.lost())

    def test_who_asks_takes_the_lease(self):
        """From the node whose duty it is: that one has it all the time."""
        duty, node = self.ledger.start(seconds=1), self.ledger.start()
        group.wait_until("it has published", lambda: duty.stats()["generation"] > 1)
        self.assertEqual(node.ask("publish"), "0 ")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
