# SPDX-License-Identifier: MIT
"""WEIR.PUBLISH and WEIR.LOAD of weir-redis.so: their effects on replicas and the append-only file,
and what an enemy who writes to the server cannot do. It runs as test_publish_kept.py MODULE."""
import random
import sys
import unittest

import redis

from enemy import Enemy
from served import HOSTILE, free_port
from sets import Sets


class Kept(Sets):
    def test_replica(self):
        """A replica gets the master's items, although it never received the image."""
        self.start(self.serve(port=free_port()))
        self.make("k", 2000, 20000000)
        self.publish()
        self.append(range(5000, 5100))
        replica = self.replica_of(self.server)
        self.run_("BF.RESERVE", "t", "0.001", 1000)
        self.load("l")
        self.client.delete(*self.client.scan_iter(self.OF + "img:*"))
        self.client.wait(1, 0)
        self.assertEqual(replica.client.dump("l"), self.client.dump("l"))
        answers = replica.client.execute_command("BF.MEXISTS", "l", *range(2000),
                                                 *range(5000, 5100))
        self.assertEqual(answers, [1] * 2100)

    def calls(self, replica):
        return replica.client.info("commandstats").get("cmdstat_bf.loadchunk", {}).get("calls", 0)

    def test_what_a_replica_is_sent(self):
        self.start(self.serve(port=free_port()))
        self.make("k", 2000, 20000000)
        self.publish()
        replica = self.replica_of(self.server)
        self.load("l")
        self.client.expire("l", 5000)
        self.client.wait(1, 0)
        pieces = self.calls(replica)
        self.assertEqual(pieces, 4) # a header, and 36 MB in pieces of 16 MiB
        self.load("k") # it brings nothing
        self.load("l") # nor this
        for i in range(4): # they are in several pieces
            self.append([7777777 + i])
            self.load("l")
            self.client.wait(1, 0)
            before, pieces = pieces, self.calls(replica)
            self.assertEqual(pieces - before, 1)
        self.assertEqual(replica.client.dump("l"), self.client.dump("l"))
        self.assertGreater(replica.client.ttl("l"), 0)

    def test_in_a_transaction(self):
        self.start(self.serve(port=free_port(), options=["--appendonly", "yes", "--appendfsync",
                                                         "always"]))
        replica = self.replica_of(self.server)
        self.make()
        with self.client.pipeline(transaction=True) as together:
            for command in ("WEIR.PUBLISH k", "WEIR.LOAD l", "WEIR.PUBLISH l", "WEIR.LOAD k"):
                together.execute_command(*command.split(), "SET", "x")
            answers = together.execute()
        self.assertEqual([answers[0], answers[2], answers[3][1]], [b"1.1", b"1.2", b"1.2"])
        self.client.wait(1, 0)
        before = self.all()
        for key in ("k", "l"):
            self.assertEqual(replica.client.dump(key), before[key.encode()])
        self.server.again()
        self.start(self.server)
        self.assertEqual(self.all(), before)

    def test_failover(self):
        self.start(self.serve(port=free_port()))
        replica = self.replica_of(self.server)
        self.make()
        self.publish()
        self.append(range(500, 520))
        self.load("l")
        self.client.wait(1, 0)
        self.server.kill()
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.start(replica)
        self.assertTrue(self.has("l", range(520)))
        self.assertEqual(self.publish("l"), "1.2")
        self.load("m")
        self.assertTrue(self.has("m", range(520)))

    def test_read_only_replica(self):
        self.start(self.serve(port=free_port()))
        replica = self.replica_of(self.server)
        for command in ("WEIR.LOAD", "WEIR.PUBLISH"):
            with self.assertRaises(redis.exceptions.ReadOnlyError):
                replica.client.execute_command(command, "k", "SET", "x")

    def test_append_only_file(self):
        for preamble in ("yes", "no"):
            self.start(self.serve(options=["--appendonly", "yes", "--appendfsync", "always",
                                           "--aof-use-rdb-preamble", preamble]))
            self.make()
            self.publish()
            self.append(range(500, 520))
            self.load("l")
            self.run_("BF.ADD", "l", "more")
            self.publish("l")
            self.load("k")
            self.client.delete(self.chunk())
            before = self.all()
            for _ in range(2):
                self.server.again()
                self.start(self.server)
                self.assertEqual(self.all(), before)
                self.rewrite(self.server)


class Hostile(Enemy, Sets):
    """Whatever an enemy has written into a set's keys, a command works or fails with a message."""
    MOST = 64 << 20

    def test_hostile(self):
        self.make()
        self.publish()
        for i in range(3):
            self.append([600 + i])
        ways = self.ways()
        good = {k: self.client.dump(k) for k in self.client.scan_iter("*")}
        dice, counts = random.Random(29), {way: [0, 0] for way in ways}
        for i in range(HOSTILE * 3):
            for way in ways if i % 10 == 9 else (ways[i % len(ways)],):
                try:
                    way(dice)
                except (redis.exceptions.ResponseError, AttributeError, LookupError, TypeError,
                        ValueError):
                    pass # another way was there before
            for command in (("WEIR.LOAD", "h"), ("WEIR.LOAD", "k"), ("WEIR.PUBLISH", "k")):
                try:
                    self.run_(*command, "SET", "x")
                    counts[way][0] += 1
                except redis.exceptions.ResponseError as e:
                    counts[way][1] += 1
                    self.assertRegex(str(e), "set x|WRONGTYPE")
            self.assertTrue(self.has("k", range(0, 500, 50)))
            self.client.delete(*self.client.keys("*"))
            for key, value in good.items():
                self.client.restore(key, 0, value)
        self.assertLess(self.client.info("memory")["used_memory_peak"], self.MOST)
        self.assertIsNone(self.server.process.poll())
        for way, (taken, refused) in counts.items():
            self.assertGreater(refused, 0, way)
            # One of the image's own checksums covers every bit of an image.
            self.assertTrue(taken or way == self.change_image, way)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
