# SPDX-License-Identifier: MIT
"""What WEIR.PUBLISH and WEIR.LOAD of weir-redis.so refuse, and that nothing changes then. It runs
as test_publish_refused.py MODULE."""
import resource
import sys
import unittest

import redis

from served import free_port, wait_until
from sets import Sets, checksum


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
        self.put_manifest({**good, "hashing": "0" * 16}) # the seed of no key yet
        self.refuse("WEIR.LOAD", "l", "SET", "x", text="of another kind or seed than its manifest")
        lines = list(good.items())
        lines.insert(list(good).index("published") + 1, ("path", "x-1.weir"))
        self.put_manifest(dict(lines))
        self.both("is got by HTTP (x-1.weir)")
        self.put_manifest(good)
        self.client.hset(self.OF + "manifest", "signature", "some")
        self.both("generation 1 is signed")

    def test_the_last_number_there_is(self):
        """None follows it; what is said names the set."""
        self.make()
        self.publish()
        lines = {**self.manifest(), "generation": 2 ** 63 - 1}
        self.put_manifest(lines)
        self.refused(self.publish, text="set x: ")
        self.assertEqual(self.manifest()["generation"], str(2 ** 63 - 1))

    def test_an_image_that_is_not_there_takes_no_memory(self):
        self.make()
        self.publish()
        lines = self.manifest()
        lines.update(image="%d %s" % (1 << 46, "0" * 32), # more than there is
                     chunks="%d %d %s" % (1 << 20, 64 << 20, lines["chunks"].split()[2]))
        self.put_manifest(lines)
        resource.prlimit(self.server.process.pid, resource.RLIMIT_AS, (1 << 34, 1 << 34))
        self.both("chunk 0 of generation 1 has ")

    def test_damage(self):
        self.make()
        self.publish()
        chunk = self.chunk()
        good = self.client.get(chunk)
        bad = good[:-1] + bytes([good[-1] ^ 1])
        self.client.set(chunk, bad)
        self.both("is damaged: its checksum is %s instead of" % checksum(bad))
        self.client.set(chunk, good)
        lines = self.manifest()
        for digit in (0, -1): # of its high half, and of its low one
            said = list(checksum(good))
            said[digit] = "0" if said[digit] != "0" else "1"
            self.put_manifest({**lines, "image": "%d %s" % (len(good), "".join(said))})
            self.both("is damaged")
        self.put_manifest(lines)
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
        write = "+hset +set +hlen +strlen +persist +hkeys +hdel +expire +xtrim +publish " \
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
