# SPDX-License-Identifier: MIT
"""WEIR.PUBLISH and WEIR.LOAD of weir-redis.so in a real server. It runs as
test_publish.py MODULE."""
import sys
import unittest

from formats import own_bf
from served import wait_until
from sets import CAPACITY, Sets


class Commands(Sets):
    def test_there_and_back(self):
        self.make(seed=0x123456789abcdef)
        self.assertEqual(self.publish(), "1.1")
        self.assertEqual(self.load("l"), ("1.1", 0))
        self.assertTrue(self.has("l", range(500)))
        self.assertEqual(sum(self.run_("BF.MEXISTS", "l", *range(10000, 12000))),
                         sum(self.run_("BF.MEXISTS", "k", *range(10000, 12000))))
        self.assertAlmostEqual(self.run_("BF.CARD", "l"), 500, delta=50)
        self.run_("BF.ADD", "l", "more")
        self.assertEqual(self.publish("l"), "1.2")
        self.load("k") # its bits are united with what is there
        self.assertTrue(self.has("k", [*range(500), "more"]))

    def test_the_case_of_set(self):
        self.make()
        self.assertEqual(self.run_("WEIR.PUBLISH", "k", "set", "x"), b"1.1")

    def test_a_key_of_the_sets_own(self):
        """A key in a set's namespace might expire while the commands use it."""
        self.make()
        self.publish()
        for name in ("log", "head", "kept", "lease", "nodes", "img:0:0", "any"):
            self.client.delete(self.OF + name)
            self.client.copy("k", self.OF + name)
            for command in ("WEIR.LOAD", "WEIR.PUBLISH"):
                self.refused(self.run_, command, self.OF + name, "SET", "x", text="one of its own")
            self.client.delete(self.OF + name)
        self.client.copy("k", "{weir:x}:k")
        self.assertEqual(self.run_("WEIR.PUBLISH", "{weir:x}:k", "SET", "x"), b"1.1")

    def test_an_empty_set(self):
        self.make(n=0)
        self.assertEqual(self.publish(), "1.1")
        lines = self.manifest()
        self.assertEqual([lines[name] for name in ("version", "parent", "source", "kind", "steps")],
                         ["1.1", "none", "set", "blocked", "0"])
        self.assertEqual(lines["position"].split()[0], "1-1") # the epoch's first
        self.load("l")
        self.assertEqual(self.run_("BF.CARD", "l"), 0)

    def test_small_set(self):
        """A set may be smaller than the smallest blocked link of a key that BF.RESERVE makes."""
        self.run_("BF.LOADCHUNK", "k", 1, own_bf([(100, 192, 0, 1 << 16 | 4 << 32)], expansion=0))
        self.run_("BF.MADD", "k", *range(50))
        self.assertEqual(self.publish(), "1.1")
        self.load("l")
        self.assertTrue(self.has("l", range(50)))
        self.client.restore("r", 0, self.client.dump("l"))
        self.run_("BF.ADD", "r", "more")
        self.assertTrue(self.has("r", [*range(50), "more"]))
        self.assertEqual(self.publish("r"), "1.2")

    def test_another_kept_more(self):
        """The next generation also has items that only the previous generation has."""
        self.make()
        self.publish()
        self.load("l")
        self.run_("BF.MADD", "l", *range(500, 600))
        self.publish("l")
        self.run_("BF.ADD", "k", "own")
        self.assertEqual(self.publish("k"), "1.3")
        self.load("m")
        self.assertTrue(self.has("m", [*range(600), "own"]))
        self.assertFalse(self.has("k", range(500, 600)))

    def test_nothing_new(self):
        """A load without new items counts nothing again, since replicas would miss that."""
        for i in range(12): # an estimate is too high for half of the seeds
            self.make("k%d" % i, seed=i + 1)
            before = self.client.dump("k%d" % i)
            self.run_("WEIR.PUBLISH", "k%d" % i, "SET", "y%d" % i)
            self.run_("WEIR.LOAD", "k%d" % i, "SET", "y%d" % i)
            self.assertEqual(self.client.dump("k%d" % i), before)

    def test_the_count_is_an_estimate(self):
        """With new items a load estimates the count, from the old count to the capacity."""
        for seed in range(1, 13): # an estimate is too low for half of the seeds
            self.client.flushall()
            self.make(seed=seed)
            before = self.run_("BF.CARD", "k")
            self.publish()
            self.append([777])
            self.load("k")
            self.assertGreaterEqual(self.run_("BF.CARD", "k"), before)
        self.append(range(1000, 5000))
        self.load("k")
        self.assertEqual(self.run_("BF.CARD", "k"), CAPACITY)

    def test_what_follows(self):
        self.make()
        self.publish()
        self.append(range(500, 700))
        self.append(range(700, 800))
        self.touch(("c", "%016x 1.1" % 9)) # a call
        self.assertEqual(self.load("l"), ("1.1", 2))
        self.assertTrue(self.has("l", range(800)))
        before = self.client.dump("l")
        self.append([900], hashing="0" * 15 + "1") # by another seed: no node has it either
        self.assertEqual(self.load("l"), ("1.1", 3))
        self.assertEqual(self.client.dump("l"), before)
        for i in range(100): # more than one reading
            self.append([1000 + i])
        self.assertEqual(self.load("l"), ("1.1", 103))
        self.assertTrue(self.has("l", [*range(800), *range(1000, 1100)]))

    def test_what_follows_is_published(self):
        """The new position is the log's end, and the image has the items of all earlier batches."""
        self.make()
        self.publish()
        before = self.manifest()
        self.append(range(500, 600))
        last = self.append(range(600, 700))
        tag = self.client.hget(self.HEAD, "tag").decode()
        self.assertEqual(self.publish(), "1.2")
        lines = self.manifest()
        self.assertEqual(lines["position"], "%s %s" % (last, tag))
        self.assertEqual(lines["parent"], "1.1 " + before["id"])
        self.assertEqual(lines["has"], [lines["id"], before["id"]])
        self.assertNotIn("pure", lines) # the key's came by no log
        self.assertEqual(len({lines["publisher"], before["publisher"], "0" * 16}), 3)
        self.load("l")
        self.assertTrue(self.has("l", range(700)))
        self.assertFalse(self.has("k", range(500, 700)))

    def test_nodes_have_inserted_and_none_has_published(self):
        self.make()
        self.run_("WEIR.PUBLISH", "k", "SET", "other")
        hashing = self.client.hget("{weir:other}:2:head", "manifest").decode().split("hashing ")[1]
        self.touch()
        self.append(range(1000, 1100), hashing=hashing.split()[0])
        self.assertEqual(self.publish(), "1.1")
        self.load("l")
        self.assertTrue(self.has("l", [*range(500), *range(1000, 1100)]))

    def test_the_next_of_a_record(self):
        """The generation after a record has the record's era and is not a record itself."""
        self.make()
        self.publish()
        self.put_manifest({**self.manifest(), "version": "3.7", "source": "record"})
        self.assertEqual(self.publish(), "3.8")
        self.assertEqual(self.manifest()["source"], "set")

    def test_the_lease_is_left(self):
        self.make()
        self.client.set(self.LEASE, "a" * 16, px=60000)
        self.publish()
        self.assertEqual(self.client.get(self.LEASE), b"a" * 16)

    def test_chunks(self):
        """The newest chunks never expire, others do, and as many generations stay as before."""
        self.make("k", 100, 10000000) # 18 of them
        self.assertEqual(self.publish(), "1.1")
        first = [self.chunk(i) for i in range(int(self.manifest()["image"].split()[2]))]
        self.assertGreater(len(first), 10)
        self.assertEqual({self.client.ttl(c) for c in first}, {-1})
        for number in range(2, 5):
            self.run_("BF.ADD", "k", "another %d" % number)
            self.assertEqual(self.publish(), "1.%d" % number)
        self.assertEqual({1 <= self.client.ttl(c) <= 120 for c in first}, {True})
        self.assertEqual(sorted(self.client.hkeys(self.KEPT)), [b"1.3", b"1.4"])
        third = self.client.hget(self.KEPT, "1.3")
        self.client.hset(self.KEPT, "1.2", third.replace(b"version 1.3", b"version 1.2"))
        self.publish() # somebody keeps three
        self.assertEqual(self.client.hlen(self.KEPT), 3)
        self.client.hset(self.KEPT, mapping={"0.%d" % i: third for i in range(70)})
        self.publish() # nodes keep no more than 64 either
        self.assertEqual(self.client.hlen(self.KEPT), 64)
        self.load("l")
        self.assertTrue(self.has("l", range(100)))


class Missing(Sets):
    """Log entries that are missing or unknown, so that the key would lack their items."""

    def setUp(self):
        super().setUp()
        self.make()
        self.publish()
        self.ids = [self.append([500 + i]) for i in range(3)]

    def both_refuse(self, text):
        for command, key in (("WEIR.LOAD", "l"), ("WEIR.PUBLISH", "k")):
            self.refused(self.run_, command, key, "SET", "x", text=text)
        self.assertFalse(self.client.exists("l"))
        self.assertEqual(self.manifest()["version"], "1.1")

    def test_the_oldest(self):
        self.client.xtrim(self.LOG, maxlen=1, approximate=False)
        self.both_refuse("entries between 1-1 and 1-4 are missing in the log")

    def test_one_between(self):
        self.client.xdel(self.LOG, self.ids[1])
        self.both_refuse("entries between 1-3 and 1-4 are missing in the log")

    def test_the_newest(self):
        self.client.xdel(self.LOG, self.ids[2])
        self.both_refuse("entries between 1-4 and 1-5 are missing in the log")

    def test_the_log(self):
        self.client.delete(self.LOG)
        self.both_refuse("are missing in the log")

    def another_log(self):
        """Replace the log by one with the same ids and other tags."""
        entries = self.client.xrange(self.LOG)
        self.client.delete(self.LOG)
        for id_, fields in entries:
            fields[b"a"] = b"1" * 16
            self.client.xadd(self.LOG, fields, id=id_)

    def test_another_log(self):
        self.another_log()
        self.both_refuse("are missing in the log")

    def test_another_log_that_was_given_up(self):
        self.another_log()
        self.client.hset(self.HEAD, "lost", self.ids[2])
        self.both_refuse("are missing in the log")

    def test_what_was_given_up(self):
        """An entry that the nodes gave up is not reported as missing."""
        self.client.xdel(self.LOG, self.ids[1])
        self.touch(give_up=self.client.hget(self.HEAD, "mark"))
        self.assertEqual(self.load("l"), ("1.1", 2))
        self.assertTrue(self.has("l", [*range(501), 502]))
        self.assertEqual(self.publish("l"), "1.2")

    def test_what_was_given_up_at_the_end(self):
        self.client.xdel(self.LOG, self.ids[2])
        self.touch(give_up=self.client.hget(self.HEAD, "mark"))
        self.assertEqual(self.load("l"), ("1.1", 2))
        self.assertTrue(self.has("l", range(502)))

    def test_what_cannot_be_read(self):
        """The commands refuse an unknown entry, since it may contain items."""
        id_ = self.client.xadd(self.LOG, {"somebody": "else's"}, id="1-*").decode()
        self.both_refuse("set x: entry %s of the log: it does not begin with its tag" % id_)

    def test_of_a_later_version(self):
        self.touch(("z", "new"))
        self.both_refuse("set x: entry 1-6 of the log is of a kind that this library does not know")

    def test_another_epoch(self):
        """The server restarts, and the log continues."""
        self.client.config_set("appendonly", "yes")
        wait_until("all is in the file", lambda: not self.client.info()["aof_rewrite_in_progress"])
        self.server.options = ["--appendonly", "yes"]
        self.server.again()
        self.start(self.server)
        self.assertEqual(self.load("l"), ("1.1", 3))
        self.assertEqual(self.publish(), "1.2")
        self.assertEqual(self.manifest()["position"].split()[0], "2-1")
        self.client.delete("l")
        self.load("l")
        self.assertTrue(self.has("l", range(503)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
