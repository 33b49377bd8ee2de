# SPDX-License-Identifier: MIT
"""WEIR.PUBLISH and WEIR.LOAD of weir-redis.so in a real server. It runs as
test_publish.py MODULE."""
import sys
import unittest

import redis

from served import wait_until
from sets import Sets


class Commands(Sets):
    def test_there_and_back(self):
        self.make()
        self.assertEqual(self.publish(), 1)
        self.assertEqual(self.load("l"), {b"generation": 1, b"entries": 0})
        self.assertTrue(self.has("l", range(500)))
        self.assertEqual(sum(self.run_("BF.MEXISTS", "l", *range(10000, 12000))),
                         sum(self.run_("BF.MEXISTS", "k", *range(10000, 12000))))
        self.assertAlmostEqual(self.run_("BF.CARD", "l"), 500, delta=50)
        self.run_("BF.ADD", "l", "more")
        self.assertEqual(self.publish("l"), 2)
        self.load("k") # its bits are united with what is there
        self.assertTrue(self.has("k", [*range(500), "more"]))

    def test_a_token_that_nobody_drew(self):
        """The next publisher draws another."""
        self.make()
        self.publish()
        for token in ("a" * 4000, "x" * 16):
            self.client.hset(self.OF + "manifest", "token", token)
            self.load("l")
            self.publish()
            self.assertRegex(self.client.hget(self.OF + "manifest", "token"), b"^[0-9a-f]{16}$")

    def test_a_set_of_keys(self):
        """Its generations say that it is, and not that nodes have what the key has."""
        self.make()
        self.assertEqual(self.run_("WEIR.PUBLISH", "k", "set", "x"), 1)
        lines = {}
        for name, value in self.manifest().items():
            lines[name] = value
            if name == "hashing":
                lines["stream"] = "keys"
            if name == "source":
                lines["follows"] = "0" * 32
        self.put_manifest(lines)
        self.assertEqual(self.publish(), 2)
        self.assertEqual(self.manifest()["stream"], "keys")
        self.assertNotIn("follows", self.manifest())
        self.assertEqual(self.manifest()["source"], "set")

    def test_chunks_that_nobody_names_go(self):
        self.make()
        self.publish()
        named = self.chunk()
        self.client.delete(self.OF + "kept")
        self.client.set(self.OF + "kept", "what the script trips over")
        with self.assertRaises(redis.exceptions.ResponseError):
            self.publish()
        for chunk in self.client.scan_iter(self.OF + "c:*"):
            self.assertTrue(chunk.decode() == named or self.client.ttl(chunk) > 0)

    def test_a_key_of_the_sets_own(self):
        """It might expire while the commands look at it."""
        self.make()
        self.publish()
        for name in ("stream", "manifest", "kept", "lease", "nodes", "c:0123456789abcdef:0"):
            self.client.delete(self.OF + name)
            self.client.copy("k", self.OF + name)
            for command in ("WEIR.LOAD", "WEIR.PUBLISH"):
                self.refused(self.run_, command, self.OF + name, "SET", "x", text="one of its own")
            self.client.delete(self.OF + name)
        self.client.copy("k", self.OF + "cc")
        self.assertEqual(self.run_("WEIR.PUBLISH", self.OF + "cc", "SET", "x"), 1)

    def test_an_empty_set(self):
        self.make(n=0)
        self.assertEqual(self.publish(), 1)
        lines = self.manifest()
        self.assertEqual([lines[name] for name in ("generation", "base", "position", "entries",
                                                   "covered", "kind")],
                         ["1", "0", "0-0", "0", "0-0", "blocked"])
        self.load("l")
        self.assertEqual(self.run_("BF.CARD", "l"), 0)

    def test_another_kept_more(self):
        """What the generation before has and the key has not is in the next one."""
        self.make()
        self.publish()
        self.load("l")
        self.run_("BF.MADD", "l", *range(500, 600))
        self.publish("l")
        self.run_("BF.ADD", "k", "own")
        self.assertEqual(self.publish("k"), 3)
        self.load("m")
        self.assertTrue(self.has("m", [*range(600), "own"]))
        self.assertFalse(self.has("k", range(500, 600)))

    def test_nothing_new(self):
        """Then nothing is counted anew: replicas would not hear of it."""
        for i in range(12): # an estimate is too high for half of the seeds
            self.make("k%d" % i)
            before = self.client.dump("k%d" % i)
            self.run_("WEIR.PUBLISH", "k%d" % i, "SET", "y%d" % i)
            self.run_("WEIR.LOAD", "k%d" % i, "SET", "y%d" % i)
            self.assertEqual(self.client.dump("k%d" % i), before)

    def test_the_count_is_an_estimate(self):
        """Of what nobody counted: never less than what was, nor more than what fits."""
        for seed in range(1, 13): # an estimate is too low for half of the seeds
            self.client.flushall()
            self.run_("BF.RESERVE", "k", "0.001", 1000, "NONSCALING", "WEIRSEED", seed)
            self.run_("BF.MADD", "k", *range(500))
            before = self.run_("BF.CARD", "k")
            self.publish()
            self.append(1, [777])
            self.load("k")
            self.assertGreaterEqual(self.run_("BF.CARD", "k"), before)
        self.append(2, range(1000, 5000))
        self.load("k")
        self.assertEqual(self.run_("BF.CARD", "k"), 1000)

    def test_what_follows(self):
        self.make()
        self.publish()
        self.append(1, range(500, 700))
        self.client.xadd(self.OF + "stream", {"somebody": "else's"})
        self.append(2, range(700, 800), s="0" * 15 + "1") # of keys: any seed
        self.assertEqual(self.load("l"), {b"generation": 1, b"entries": 3})
        self.assertTrue(self.has("l", range(800)))
        before = self.client.dump("l")
        self.client.xadd(self.OF + "stream", {"v": 1, "n": "%016x" % 7, "q": 3, "s": "0" * 15 + "1",
                                              "h": b"12345678"}) # by another seed
        self.append(3, [900], more="than a batch has")
        self.assertEqual(self.load("l"), {b"generation": 1, b"entries": 5})
        self.assertEqual(self.client.dump("l"), before)
        for i in range(100): # more than one reading
            self.append(4 + i, [1000 + i])
        self.assertEqual(self.load("l")[b"entries"], 105)
        self.assertTrue(self.has("l", [*range(800), *range(1000, 1100)]))
        self.client.xadd(self.OF + "stream", {"v": 2, "new": "fields"})
        self.refused(self.run_, "WEIR.LOAD", "l", "SET", "x", text="is of version 2")

    def test_the_place_in_the_stream_is_kept(self):
        self.make()
        self.publish()
        first = self.append(1, range(500, 510))
        second = self.append(2, range(510, 520))
        self.append(3, range(520, 530))
        lines = self.manifest()
        lines.update(position=second, entries="2", covered=first, origin="%016x 2" % 7)
        self.put_manifest(lines)
        self.assertEqual(self.publish(), 2)
        after = self.manifest()
        for name in ("set", "epoch", "lineage", "position", "entries", "covered", "kind",
                     "hashing", "origin"):
            self.assertEqual(after[name], lines[name])
        self.assertEqual((after["generation"], after["base"]), ("2", "1"))
        self.assertEqual(self.client.xlen(self.OF + "stream"), 3)
        self.load("l")
        self.assertTrue(self.has("l", range(520, 530)))

    def test_entries_have_gone(self):
        self.make()
        self.publish()
        for i in range(3):
            self.append(1 + i, [500 + i])
        self.client.xtrim(self.OF + "stream", maxlen=1, approximate=False)
        self.refused(self.run_, "WEIR.LOAD", "l", "SET", "x", text="2 batches or more have gone")
        self.assertFalse(self.client.exists("l"))

    def test_ids_were_set_back(self):
        """What comes then is before the position of what there is."""
        self.make()
        self.publish()
        self.append(1, [500])
        lines = self.manifest()
        lines.update(position="9999999999999-0", entries="1")
        self.put_manifest(lines)
        self.refused(self.run_, "WEIR.LOAD", "l", "SET", "x", text="have gone from the stream")
        self.assertFalse(self.client.exists("l"))

    def test_ids_that_were_set_back_are_not_trimmed(self):
        """What came since is below the position that it keeps."""
        self.make()
        self.publish()
        lines = self.manifest()
        lines.update(position="9999999999999-0", entries="1", covered="9999999999998-0")
        self.put_manifest(lines)
        self.append(1, [500])
        self.publish()
        self.assertEqual(self.client.xlen(self.OF + "stream"), 1)

    def test_chunks(self):
        """Those of the manifest stay, those of none go, and as many are kept as were."""
        self.make("k", 100, 10000000) # 20 of them
        self.assertEqual(self.publish(), 1)
        first = [self.chunk(i) for i in range(int(self.manifest()["chunks"].split()[0]))]
        self.assertGreater(len(first), 10)
        self.assertEqual({self.client.ttl(c) for c in first}, {-1})
        for generation in range(2, 5):
            self.assertEqual(self.publish(), generation)
        self.assertEqual({1 <= self.client.ttl(c) <= 120 for c in first}, {True})
        self.assertEqual(sorted(self.client.hkeys(self.OF + "kept")), [b"3", b"4"])
        self.client.hset(self.OF + "kept", "1", "\nof somebody's who keeps three")
        self.publish()
        self.assertEqual(self.client.hlen(self.OF + "kept"), 3)
        self.client.hset(self.OF + "kept", mapping={"0%d" % i: "\n" for i in range(70)})
        self.publish() # nodes keep no more than 64 either
        self.assertEqual(self.client.hlen(self.OF + "kept"), 64)
        self.load("l")
        self.assertTrue(self.has("l", range(100)))

    def test_hint_and_lease(self):
        self.make()
        heard = self.client.pubsub()
        heard.subscribe(self.OF + "hint")
        self.publish()
        lease = b"a" * 16 + b" " + self.manifest()["epoch"].encode()
        self.client.set(self.OF + "lease", lease, px=60000)
        self.publish()
        wait_until("the hint comes", lambda: (heard.get_message() or {}).get("data") == b"2")
        self.assertEqual(self.client.get(self.OF + "lease"), lease)

    def test_another_epoch(self):
        """The server began anew: the position of before means nothing, all of the stream does."""
        self.start(self.serve(options=["--appendonly", "yes", "--appendfsync", "always"]))
        self.make()
        self.publish()
        first, second, _ = [self.append(1 + i, [500 + i]) for i in range(3)]
        lines = self.manifest()
        lines.update(position=second, entries="2", covered=first)
        self.put_manifest(lines)
        self.client.xtrim(self.OF + "stream", maxlen=2, approximate=False)
        self.server.again()
        self.start(self.server)
        self.assertEqual(self.publish(), 2)
        after = self.manifest()
        self.assertNotEqual(after["epoch"], lines["epoch"])
        self.assertEqual([after[n] for n in ("position", "entries", "covered")],
                         ["0-0", "1", "0-0"])
        self.assertEqual(self.load("l"), {b"generation": 2, b"entries": 2})
        self.client.xtrim(self.OF + "stream", maxlen=0, approximate=False)
        self.server.again()
        self.start(self.server)
        self.refused(self.run_, "WEIR.PUBLISH", "k", "SET", "x", text="began anew, and of what")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
