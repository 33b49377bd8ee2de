# SPDX-License-Identifier: MIT
"""What WEIR.PUBLISH and WEIR.LOAD of weir-redis.so refuse. A refused command changes nothing. It
runs as test_publish_refused.py MODULE."""
import sys
import unittest

import redis

from formats import raw_bf, raw_link
from served import free_port, wait_until
from sets import Sets


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
            for name in ("", "a b", "x\r\n", "x\0y", "}", "y" * 65):
                self.refuse(command, "k", "SET", name, text="is not a set's name")
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

    def test_compact_and_redisblooms_keys(self):
        """A set is a filter of kind blocked."""
        self.make("small", capacity=1000)
        self.client.execute_command("BF.LOADCHUNK", "raw", 1, raw_bf(raw_link(10000, 0.01)))
        for key in ("small", "raw"):
            self.refused(self.run_, "WEIR.PUBLISH", key, "SET", "x", text="is not of kind blocked")
        self.make()
        self.publish()
        for key in ("small", "raw"):
            self.both("is not of kind blocked", key=key)
        self.run_("CF.ADD", "c", "a")
        self.both("WRONGTYPE", key="c")

    def test_another_seed(self):
        self.make()
        self.publish()
        self.make("l", seed=78)
        self.both("WEIR.LOAD the set into a key of its own first", key="l")
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.publish("l")
        self.assertRegex(str(caught.exception), "is %s, the key's [0-9a-f]{16}:" %
                         self.manifest()["hashing"])

    def test_another_size(self):
        self.make(capacity=6000)
        self.publish()
        self.make("l", capacity=12000)
        self.both("bytes differs", key="l")
        self.make("m", capacity=3000)
        self.both("allowed: at most max_bytes", key="m") # no memory is taken for it

    def test_what_a_module_cannot(self):
        self.make()
        self.publish()
        good = self.manifest()
        for change, text in (({"kind": "split"}, "is of kind split"),
                             ({"kind": "growing"}, "is of kind growing"),
                             ({"kind": "cuckoo"}, "kind cuckoo cannot be replicated"),
                             ({"steps": "1"}, "normalises its keys"),
                             ({"set": "other"}, "the manifest is of set other"),
                             ({"hashing": "0" * 16}, "another")):
            self.put_manifest({**good, **change})
            self.both(text)
        # Key l does not exist, so only the image's seed differs from the manifest's.
        self.refuse("WEIR.LOAD", "l", "SET", "x", text="another kind, seed or steps than its")
        self.put_manifest(good)
        self.client.hset(self.HEAD, "signature", "some")
        self.both("generation 1.1 is signed")
        self.client.hset(self.HEAD, "signature", "")
        self.client.hset(self.HEAD, "generation", "1" * 16)
        self.both("generation 1.1 has another id than the head says")
        self.put_manifest({**good, "version": "1.2"})
        self.client.hset(self.HEAD, "version", "1.1")
        self.both("the manifest is of another version than the head")

    def test_the_last_number_there_is(self):
        """The largest version has no successor."""
        self.make()
        self.publish()
        self.put_manifest({**self.manifest(), "version": "1.%d" % (2 ** 53 - 1)})
        self.refuse("WEIR.PUBLISH", "k", "SET", "x", text="no node counts up to such a version")

    def test_an_image_that_is_not_there_takes_no_memory(self):
        self.make()
        self.publish()
        chunks = (1 << 20) - 1 # a tebibyte
        self.put_manifest({**self.manifest(), "image": "%064x %d %d" % (
            0, chunks * ((1 << 20) - 64), chunks)})
        self.both("chunk 0 of an image is missing")
        self.assertLess(self.rss(), 200 << 10)

    def rss(self):
        with open("/proc/%d/status" % self.server.process.pid) as status:
            return max(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))

    def test_damage(self):
        self.make()
        self.publish()
        chunk = self.chunk()
        good = self.client.get(chunk)
        bad = good[:-1] + bytes([good[-1] ^ 1])
        self.client.set(chunk, bad)
        self.both("the image is not the one of its manifest")
        self.client.set(chunk, good[:-1])
        self.both("has %d bytes in place of %d" % (len(good) - 1, len(good)))
        self.client.delete(chunk)
        self.both("chunk 0 of an image is missing")
        self.client.rpush(chunk, "a list")
        self.both("WRONGTYPE")
        self.client.delete(self.HEAD)
        self.client.set(self.HEAD, "text")
        self.both("WRONGTYPE")

    def test_limits(self):
        self.start(self.serve(arguments=["max-bytes", "8kb"]))
        self.make()
        self.publish()
        other = self.serve().client
        other.execute_command("BF.RESERVE", "k", "0.001", 100000, "NONSCALING")
        other.execute_command("WEIR.PUBLISH", "k", "SET", "x")
        for key in other.scan_iter(self.OF + "*"):
            self.client.restore(key, 0, other.dump(key), replace=True)
        self.refuse("WEIR.LOAD", "l", "SET", "x", text="at most max_bytes")

    def test_no_room(self):
        """If the image does not fit into the server's memory, no chunk remains."""
        self.make("k", 100, 10000000)
        used = self.client.info("memory")["used_memory"]
        self.client.config_set("maxmemory", used + (8 << 20))
        self.refused(self.run_, "WEIR.PUBLISH", "k", "SET", "x",
                     text="would leave the server above its maxmemory")
        self.assertEqual(list(self.client.scan_iter(self.OF + "img:*")), [])
        self.assertIsNone(self.client.hget(self.HEAD, "manifest"))

    def test_acl(self):
        """The commands need the rights that the page names."""
        self.make()
        self.publish()
        read = "+hmget +get +expire +xrange".split()
        write = "+script|load +evalsha +info +time +exists +hlen +hset +hdel +hexists " \
                "+hgetall +set +strlen +persist +xadd +xinfo +xtrim".split()
        def as_user(*may):
            self.run_("ACL", "SETUSER", "u", "reset", "on", ">p", "~k", *may)
            return redis.Redis(unix_socket_path=self.server.socket, username="u",
                               password="p").execute_command
        load, publish = ["WEIR.LOAD", "k", "SET", "x"], ["WEIR.PUBLISH", "k", "SET", "x"]
        keys = "~{weir:x}:*"
        as_user("+weir.load", keys, *read)(*load)
        as_user("+weir.publish", keys, *read, *write)(*publish)
        self.refused(as_user("+weir.load", *read), *load, text="access")
        self.refused(as_user("+weir.publish", *read, *write), *publish, text="access")
        self.refused(as_user("+weir.load", keys), *load, text="the user needs the ACL rules")

    def test_cluster(self):
        """The server owns the key's slot, but not the set's slot."""
        self.start(self.serve(port=free_port(), options=[
            "--cluster-enabled", "yes", "--cluster-port", str(free_port())]))
        self.run_("CONFIG", "SET", "cluster-require-full-coverage", "no")
        self.run_("CLUSTER", "ADDSLOTS", self.run_("CLUSTER", "KEYSLOT", "k"))
        wait_until("it serves", lambda: b"cluster_state:ok" in self.run_("CLUSTER", "INFO"))
        self.make()
        self.both("non local key")
        self.run_("CLUSTER", "ADDSLOTS", self.run_("CLUSTER", "KEYSLOT", self.OF))
        self.make("{weir:x}:k")
        self.assertEqual(self.publish("{weir:x}:k"), "1.1")
        self.load("{weir:x}:l")
        self.assertTrue(self.has("{weir:x}:l", range(500)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
