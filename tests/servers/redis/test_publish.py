# SPDX-License-Identifier: MIT
"""WEIR.PUBLISH and WEIR.LOAD of weir-redis.so in a real server. It runs as
test_publish.py MODULE."""
import sys
import unittest

import redis

from served import free_port, wait_until
from sets import Sets, checksum


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

    def test_an_epoch_that_is_too_long(self):
        self.make()
        self.publish()
        self.client.hset(self.OF + "manifest", "token", "a" * 4000)
        for command in ("WEIR.LOAD", "WEIR.PUBLISH"):
            self.refused(self.run_, command, "k", "SET", "x", text="has a form that is not its own")

    def test_a_set_of_keys(self):
        """Its generations say that it is, and not that nodes have what the key has."""
        self.make()
        self.assertEqual(self.run_("WEIR.PUBLISH", "k", "set", "x"), 1)
        lines = {}
        for name, value in self.manifest().items():
            lines[name] = value
            if name == "hashing":
                lines.update(stream="keys", follows="0" * 32)
        self.put_manifest(lines)
        self.assertEqual(self.publish(), 2)
        self.assertEqual(self.manifest()["stream"], "keys")
        self.assertNotIn("follows", self.manifest())

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
        self.assertEqual(self.load("l"), {b"generation": 1, b"entries": 4})
        self.assertEqual(self.client.dump("l"), before)
        for i in range(100): # more than one reading
            self.append(4 + i, [1000 + i])
        self.assertEqual(self.load("l")[b"entries"], 104)
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
        self.load("l")
        self.assertTrue(self.has("l", range(100)))

    def test_hint_and_lease(self):
        self.make()
        heard = self.client.pubsub()
        heard.subscribe(self.OF + "hint")
        self.client.set(self.OF + "lease", "a" * 16, px=60000)
        self.publish()
        wait_until("the hint comes", lambda: (heard.get_message() or {}).get("data") == b"1")
        self.assertEqual(self.client.get(self.OF + "lease"), b"a" * 16)

    def test_another_epoch(self):
        """The server began anew: the position of before means nothing, all of the stream does."""
        self.start(self.serve(options=["--appendonly", "yes", "--appendfsync", "always"]))
        self.make()
        self.publish()
        second = [self.append(1 + i, [500 + i]) for i in range(3)][1]
        lines = self.manifest()
        lines.update(position=second, entries="2")
        self.put_manifest(lines)
        self.server.again()
        self.start(self.server)
        self.assertEqual(self.publish(), 2)
        after = self.manifest()
        self.assertNotEqual(after["epoch"], lines["epoch"])
        self.assertEqual([after[n] for n in ("position", "entries", "covered")],
                         ["0-0", "0", "0-0"])
        self.assertEqual(self.load("l"), {b"generation": 2, b"entries": 3})
        self.client.xtrim(self.OF + "stream", maxlen=0, approximate=False)
        self.server.again()
        self.start(self.server)
        self.refused(self.run_, "WEIR.PUBLISH", "k", "SET", "x", text="began anew, and of what")


class Refused(Sets):
    def refuse(self, *command, text):
        before = self.all()
        self.refused(self.run_, *command, text=text)
        self.assertEqual(self.all(), before)

    def both(self, text, key="k"):
        self.refuse("WEIR.LOAD", key, "SET", "x", text=text)
        self.refuse("WEIR.PUBLISH", key, "SET", "x", text=text)

    def test_words(self):
        self.make()
        for command in ("WEIR.LOAD", "WEIR.PUBLISH"):
            for words in ((), ("k",), ("k", "SET"), ("k", "SET", "x", "y")):
                self.refuse(command, *words, text="wrong number of arguments")
            self.refuse(command, "k", "OF", "x", text="after the key comes SET")
            for name in ("", "a b", "x\r\n", "}", "y" * 65):
                self.refuse(command, "k", "SET", name, text="is no name of a set")
            self.refuse("EVAL", "return redis.call('%s', 'k', 'SET', 'x')" % command, 0,
                        text="not allowed from script")
        self.refuse("WEIR.LOAD", "k", "SET", "x", text="has no generation here")
        self.refuse("WEIR.PUBLISH", "none", "SET", "x", text="not found")
        self.run_("SET", "text", "t")
        self.both("WRONGTYPE", key="text")

    def test_grown(self):
        self.run_("BF.MADD", "k", *range(300))
        self.refused(self.run_, "WEIR.PUBLISH", "k", "SET", "x",
                     text="has grown to 2 filters, a set is one: reserve enough")

    def test_another_seed(self):
        self.make()
        self.publish()
        self.make("l")
        self.both("WEIR.LOAD the set into a key of its own first", key="l")
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.publish("l")
        self.assertRegex(str(caught.exception), "is %s, the key's [0-9a-f]{16}:" %
                         self.manifest()["hashing"])

    def test_another_size(self):
        self.run_("BF.RESERVE", "k", "0.001", 1000, "NONSCALING", "WEIRSEED", 77)
        self.publish()
        self.run_("BF.RESERVE", "l", "0.001", 2000, "NONSCALING", "WEIRSEED", 77)
        self.both("bytes differs", key="l")
        self.run_("BF.RESERVE", "m", "0.001", 500, "NONSCALING", "WEIRSEED", 77)
        self.both("allowed: at most max_bytes", key="m") # no memory is taken for it

    def test_what_a_module_cannot(self):
        self.make()
        self.publish()
        good = self.manifest()
        for change, text in (({"kind": "split"}, "is of kind split"),
                             ({"kind": "growing"}, "is of kind growing"),
                             ({"kind": "cuckoo"}, "kind cuckoo cannot be replicated"),
                             ({"set": "other"}, "says that it is that of other"),
                             ({"hashing": "0" * 16}, "another"),
                             ({"generation": str((1 << 63) - 1)}, None)):
            self.put_manifest({**good, **change})
            if text:
                self.both(text)
        self.refuse("WEIR.PUBLISH", "k", "SET", "x", text="none could follow that generation")
        lines = list(good.items())
        lines.insert(15, ("path", "x-1.weir"))
        self.put_manifest(dict(lines))
        self.both("is got by HTTP (x-1.weir)")
        self.put_manifest(good)
        self.client.hset(self.OF + "manifest", "signature", "some")
        self.both("generation 1 is signed")

    def test_damage(self):
        self.make()
        self.publish()
        chunk = self.chunk()
        good = self.client.get(chunk)
        bad = good[:-1] + bytes([good[-1] ^ 1])
        self.client.set(chunk, bad)
        self.both("is damaged: its checksum is %s instead of" % checksum(bad))
        self.client.set(chunk, good[:-1])
        self.both("has %d bytes instead of %d" % (len(good) - 1, len(good)))
        self.client.delete(chunk)
        self.both("chunk 0 of generation 1 is not there (any more)")
        self.client.rpush(chunk, "a list")
        self.both("is not there (any more)")
        self.client.delete(self.OF + "manifest")
        self.client.set(self.OF + "manifest", "text")
        self.both("WRONGTYPE")

    def test_limits(self):
        self.start(self.serve(arguments=["max-bytes", "1kb"]))
        self.run_("BF.RESERVE", "k", "0.001", 100, "NONSCALING")
        self.publish()
        other = self.serve().client
        other.execute_command("BF.RESERVE", "k", "0.001", 100000, "NONSCALING")
        other.execute_command("WEIR.PUBLISH", "k", "SET", "x")
        for key in other.scan_iter("{weir:x}:*"):
            self.client.restore(key, 0, other.dump(key), replace=True)
        self.refuse("WEIR.LOAD", "l", "SET", "x", text="at most max_bytes")

    def test_no_room(self):
        """An image that the server has no room for leaves nothing behind."""
        self.make("k", 100, 10000000)
        used = self.client.info("memory")["used_memory"]
        self.client.config_set("maxmemory", used + (8 << 20))
        self.refused(self.run_, "WEIR.PUBLISH", "k", "SET", "x",
                     text="would leave the server above its maxmemory")
        self.assertEqual(list(self.client.scan_iter(self.OF + "c:*")), [])
        self.assertIsNone(self.client.hget(self.OF + "manifest", "text"))

    def test_acl(self):
        """The commands are those that the page names."""
        self.make()
        self.publish()
        read = "+eval +info +hget +exists +xinfo +xrange".split()
        write = "+hset +set +get +hlen +strlen +persist +hkeys +hdel +expire +xtrim +publish " \
                "+unlink".split()
        def as_user(*may):
            self.run_("ACL", "SETUSER", "u", "reset", "on", ">p", "~k", *may)
            return redis.Redis(unix_socket_path=self.server.socket, username="u",
                               password="p").execute_command
        load, publish = ["WEIR.LOAD", "k", "SET", "x"], ["WEIR.PUBLISH", "k", "SET", "x"]
        keys = "~{weir:x}:*"
        as_user("+weir.load", keys, *read)(*load)
        as_user("+weir.publish", keys, "&{weir:x}:hint", *read, *write)(*publish)
        self.refused(as_user("+weir.load", *read), *load, text="can't access")
        self.refused(as_user("+weir.publish", *read, *write), *publish, text="can't access")
        self.refused(as_user("+weir.load", keys), *load, text="set x: EVAL answers")

    def test_cluster(self):
        """A server that has the key's slot, and not the set's."""
        self.start(self.serve(port=free_port(), options=[
            "--cluster-enabled", "yes", "--cluster-port", str(free_port())]))
        self.run_("CONFIG", "SET", "cluster-require-full-coverage", "no")
        self.run_("CLUSTER", "ADDSLOTS", self.run_("CLUSTER", "KEYSLOT", "k"))
        wait_until("it serves", lambda: b"cluster_state:ok" in self.run_("CLUSTER", "INFO"))
        self.make()
        self.both("non local key")
        self.run_("CLUSTER", "ADDSLOTS", self.run_("CLUSTER", "KEYSLOT", self.OF))
        self.make(self.OF + "k")
        self.assertEqual(self.publish(self.OF + "k"), 1)
        self.load(self.OF + "l")
        self.assertTrue(self.has(self.OF + "l", range(500)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
