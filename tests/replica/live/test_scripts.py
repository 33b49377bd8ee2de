# SPDX-License-Identifier: MIT
"""The scripts, called as a node calls them. test_scripts.py PROGRAM"""
import re
import sys
import time
import unittest

import redis

import group
import nodes

SET = "{weir:seen}:"
ME, YOU = ("%016x" % n for n in (1, 2))


class Scripts(nodes.OneServer):
    """What the scripts refuse, whoever asks: they are called as a node calls them."""
    KEYS = [SET + k for k in ("manifest", "stream", "lease", "kept", "nodes")]
    SHAPES = {"manifest": r"[0-9a-f]{16}$", "append": r"\w+ \d+ v 1 ", "read": r"\w+ \d+-\d+ \d+$",
              "publish": r".*:hint \w*$", "lease": r"\w{16} \d+ [01]$", "release": r"\w{16}$",
              "alive": r"\d+$", "report": r"\w{16} host "}

    def setUp(self):
        super().setUp()
        self.client, self.sha = self.server.client, {}
        with self.client.monitor() as monitor:
            node = self.ledger.start("idle=100")
            node.ask("burst 10")
            self.assertEqual(node.ask("publish"), "0 ")
            self.client.xadd(SET + "stream", {"v": 1, "n": "%016x" % 1, "q": 5,
                                              "s": self.hashing(), "i": ""})
            self.learn(monitor)
        node.kill()
        self.client.delete(SET + "lease")

    def hashing(self):
        group.wait_until("a batch", lambda: self.client.xlen(SET + "stream"))
        return self.client.xrange(SET + "stream")[0][1][b"s"]

    def learn(self, monitor):
        """The names of the scripts, from what a node sends. It asks who lives since a batch is
        lacking. To release the lease is to say a word of 16 digits, as for the manifest."""
        while len(self.sha) < len(self.SHAPES):
            words = monitor.next_command()["command"].split(" ", 8)
            if words[0] != "EVALSHA":
                continue
            for name, shape in self.SHAPES.items():
                if (re.match(shape, words[8], re.S) and
                        self.sha.setdefault(name, words[1]) == words[1]):
                    break

    def call(self, script, *args):
        return self.client.evalsha(self.sha[script], 5, *self.KEYS, *args)

    def refused(self, word, script, *args):
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.call(script, *args)
        self.assertTrue(str(caught.exception).startswith(word), caught.exception)

    def lease_of(self, owner):
        self.client.set(SET + "lease", "%s %s" % (owner, self.epoch()))

    def epoch(self):
        return (self.client.info("replication")["master_replid"] +
                self.client.hget(SET + "manifest", "token").decode())

    def publish(self, **other):
        base = int(self.client.hget(SET + "manifest", "generation"))
        text = "\nchunks 2 10 %016x\n\nposition 1-1\n" % other.pop("stored", 7)
        said = {"epoch": self.epoch(), "owner": ME, "base": base, "generation": base + 1,
                "text": text, "signature": "", "position": "1-1", "entries": 1,
                "covered": "0-0", "names": SET + "c:" + text.split()[3] + ":", "chunks": 2,
                "of": 10, "bytes": 15, "keep": 1, "seconds": 50, "hint": SET + "hint", "none": ""}
        said.update(other)
        return list(said.values())

    def store(self, stored=7, last=5):
        names = SET + "c:%016x:" % stored
        self.client.set(names + "0", "x" * 10, ex=1000)
        self.client.set(names + "1", "x" * last, ex=1000)
        return [names + "0", names + "1"]

    def test_epoch(self):
        self.assertEqual(self.call("manifest", "1" * 16)[0].decode(), self.epoch())
        self.refused("WEIRSTALE", "append", "other", 0, "v", 1)
        self.refused("WEIRSTALE", "read", "other", "0-0", 1)
        self.lease_of(ME)
        self.store()
        self.refused("WEIRSTALE", "publish", *self.publish(epoch="other"))

    def test_a_token_that_nobody_drew(self):
        """Another takes its place, and with it an epoch begins."""
        for token in ("x", "f" * 17, "0123456789ABCDEF", "g" * 16, " " * 16, "", "f" * 15 + "\n"):
            with self.subTest(token=token):
                self.client.hset(SET + "manifest", "token", token)
                self.assertEqual(len(self.call("manifest", "")[0]), 40)
                self.assertEqual(self.call("manifest", "1" * 16)[0][40:], b"1" * 16)
                self.assertEqual(self.call("manifest", "2" * 16)[0][40:], b"1" * 16)

    def test_publish(self):
        self.store()
        self.refused("WEIRLEASE", "publish", *self.publish())
        self.lease_of(ME)
        self.refused("WEIRBASE", "publish", *self.publish(base=77))
        for last in (4, 6):
            self.store(last=last)
            self.refused("WEIRCHUNK", "publish", *self.publish())
        chunks = self.store()
        self.call("publish", *self.publish())
        self.assertEqual([self.client.ttl(c) for c in chunks], [-1, -1])
        self.call("publish", *self.publish()) # a rollback has the same chunks
        self.assertEqual([self.client.ttl(c) for c in chunks], [-1, -1])
        self.store(stored=8)
        self.call("publish", *self.publish(stored=8)) # they are not needed any more
        self.assertTrue(all(0 < self.client.ttl(c) <= 50 for c in chunks))

    def test_chunks_of_two_that_are_kept(self):
        """A rollback that is kept has those of one that is kept no more: they stay."""
        self.lease_of(ME)
        chunks = self.store()
        for stored in (7, 8, 7, 9): # 7 is returned to
            self.store(stored)
            self.call("publish", *self.publish(stored=stored, keep=3))
        self.assertEqual([self.client.ttl(name) for name in chunks], [-1, -1])

    def test_a_text_longer_than_any_manifest(self):
        """It does not come to every node at every look."""
        for more, there in ((0, 1 << 22), (1, 13)):
            self.client.hset(SET + "manifest", "text", b"weir-manifest".ljust((1 << 22) + more))
            self.assertEqual(len(self.call("manifest", "")[1]), there)

    def test_what_is_no_manifest(self):
        """Whatever number it says, whoever has seen what it is publishes in its place."""
        self.lease_of(ME)
        self.store()
        self.client.hset(SET + "manifest", "text", "x\ngeneration 77\n")
        none = self.call("manifest", "")[3].decode()
        self.client.hset(SET + "manifest", "text", "y\ngeneration 77\n")
        for other in ("", none, "x" * 40):
            self.refused("WEIRBASE 77", "publish", *self.publish(none=other))
        none = self.call("manifest", "")[3].decode()
        self.call("publish", *self.publish(none=none))
        self.client.hset(SET + "manifest", "text", "no number")
        self.call("publish", *self.publish(base=1234)) # whatever stands beside it
        text = "\ngeneration 77\n"
        for more, is_none in ((0, False), (1, True)):
            self.client.hset(SET + "manifest", "text", text.ljust((1 << 22) + more))
            if is_none: # it is longer than any manifest
                self.call("publish", *self.publish())
            else:
                self.refused("WEIRBASE 77", "publish", *self.publish())

    def test_what_is_published_is_kept(self):
        """Whatever else says that it is newer, or has no number: that goes first."""
        old = int(self.client.hget(SET + "manifest", "generation"))
        chunks = self.store()
        self.lease_of(ME)
        self.client.hset(SET + "kept", mapping={name: "\n\nchunks 0 10 00\n" for name in (
            "7000000", "inf", "1e9", "nan", "-5", "%d.5" % old)})
        self.call("publish", *self.publish(keep=2))
        self.assertEqual({int(name) for name in self.client.hkeys(SET + "kept")}, {old, old + 1})
        self.assertEqual([self.client.ttl(name) for name in chunks], [-1, -1])

    def test_keys_of_another_type(self):
        """Nothing is written then."""
        self.store()
        self.lease_of(ME)
        before = self.client.hgetall(SET + "manifest")
        for name in ("kept", "stream"):
            with self.subTest(name=name):
                self.client.rename(SET + name, "aside")
                self.client.set(SET + name, "x")
                self.refused("WRONGTYPE", "publish", *self.publish())
                self.client.rename("aside", SET + name)
                self.assertEqual(self.client.hgetall(SET + "manifest"), before)
        self.call("publish", *self.publish())

    def test_kept_by_an_enemy(self):
        """What it says of chunks that are not there keeps nobody waiting."""
        self.lease_of(ME)
        self.client.hset(SET + "kept", "0", "\n\nchunks %d 10 ab\n" % 10 ** 15)
        self.store()
        self.call("publish", *self.publish())
        self.assertEqual(self.client.hlen(SET + "kept"), 1)

    def test_kept_by_an_enemy_under_a_long_name(self):
        """Redis does nothing else meanwhile."""
        self.lease_of(ME)
        self.client.hset(SET + "kept", "0", "\n\nchunks %d 10 %s\n" % (10 ** 15, "ab" * (1 << 21)))
        self.store()
        begun = time.monotonic()
        self.call("publish", *self.publish())
        self.assertLess(time.monotonic() - begun, 1)

    def test_trim(self):
        """What follows a generation that is kept, or is not covered yet, stays."""
        self.lease_of(ME)
        self.client.delete(SET + "kept", SET + "stream")
        for i in range(1, 9):
            self.client.xadd(SET + "stream", {"v": 1}, id="%d-1" % i)

        def trimmed(position, covered):
            self.store()
            self.call("publish", *self.publish(keep=2, covered=covered, text=self.publish()[4]
                                               .replace("1-1", position)))
            return self.client.xrange(SET + "stream", count=1)[0][0]
        self.assertEqual(trimmed("6-1", "3-1"), b"3-1")
        self.assertEqual(trimmed("7-1", "7-1"), b"6-1")
        self.assertEqual(trimmed("8-1", "8-1"), b"7-1")

    def test_lease(self):
        self.assertEqual(self.call("lease", ME, 50000, "0"), [ME.encode(), 50000])
        self.assertTrue(0 < self.client.pttl(SET + "lease") <= 50000)
        self.assertEqual(self.call("lease", YOU, 90000, "0")[0], ME.encode())
        self.assertEqual(self.call("lease", ME, 900000, "0"), [ME.encode(), 900000])
        self.assertGreater(self.client.pttl(SET + "lease"), 50000)
        self.call("release", YOU)
        self.assertEqual(self.client.get(SET + "lease").decode(),
                         ME + " " + self.epoch() + " 900000")
        self.assertEqual(self.call("lease", YOU, 90000, "1")[0], YOU.encode())
        self.call("release", YOU)
        self.assertIsNone(self.client.get(SET + "lease"))
        self.lease_of(YOU) # without an end: no node's
        self.assertEqual(self.call("lease", ME, 50000, "0"), [ME.encode(), 50000])
        self.assertTrue(0 < self.client.pttl(SET + "lease") <= 50000)
        self.client.pexpire(SET + "lease", 1500) # as long as it lasts
        self.assertEqual(self.call("lease", YOU, 50000, "0")[0], ME.encode())

    def test_a_lease_that_no_node_takes(self):
        """It lasts longer than any node's."""
        for ms, asked, taken in ((2 ** 31 + 60000, "", True), (2 ** 31 - 1, "", False),
                                 (2 ** 31 + 60000, " 9999999999", True),
                                 (60000, " 60000", False),
                                 (60000, " 50000", True)): # the clock was set back
            self.client.set(SET + "lease", YOU + " " + self.epoch() + asked, px=ms)
            self.assertEqual(self.call("lease", ME, 50000, "0")[0] == ME.encode(), taken)

    def test_a_lease_of_another_epoch(self):
        """It, or one of a name that no node has, is nobody's: what its owner would publish is
        refused, if that one lives at all."""
        self.store()
        for text in (YOU + " " + "e" * 56, YOU, "", YOU + " " + self.epoch()[:-1],
                     "nobody " + self.epoch(), "x" * 16 + " " + self.epoch(),
                     YOU + "0 " + self.epoch(), YOU + " " + self.epoch() + " x"):
            with self.subTest(text=text):
                self.client.set(SET + "lease", text, px=7200000)
                self.refused("WEIRLEASE nobody", "publish", *self.publish())
                self.assertEqual(self.call("lease", ME, 50000, "0"), [ME.encode(), 50000])
                self.assertLessEqual(self.client.pttl(SET + "lease"), 50000)
        self.call("publish", *self.publish())

    def test_nodes(self):
        self.client.delete(SET + "nodes")
        self.call("report", "a" * 16, "host x")
        self.client.hset(SET + "nodes", "b" * 16, "1000 host y")
        self.assertEqual(self.call("alive", 600000), [b"a" * 16])
        self.client.hset(SET + "nodes", "c" * 16, "99999999999999 host z")
        self.call("report", "", 600000) # those of long ago are forgotten, or of a time to come
        self.assertEqual(self.client.hkeys(SET + "nodes"), [b"a" * 16])

    def test_more_nodes_than_an_answer_has(self):
        self.client.eval("local t = redis.call('TIME') for i = 1, ARGV[1] do redis.call('HSET', "
                         "KEYS[1], i, t[1] .. '000 h') end", 1, SET + "nodes", 1000001)
        self.refused("WEIRCROWD 100000", "alive", 600000)
        self.client.hdel(SET + "nodes", *range(1, 5))
        self.assertGreater(len(self.call("alive", 600000)), 999990)

    def test_a_stream_that_was_deleted(self):
        """It begins above the manifest's position, and each time with as many entries more that
        every cursor and manifest of before finds that some have gone."""
        leap, place = 1 << 40, "99999999999999-5"
        self.lease_of(ME)
        self.store()
        self.call("publish", *self.publish(position=place, entries=1000))
        for times in (1, 2):
            self.client.delete(SET + "stream")
            self.assertEqual(self.call("append", self.epoch(), 0, "v", 1),
                             b"99999999999999-6")
            self.assertEqual(self.call("append", self.epoch(), 0, "v", 1),
                             b"99999999999999-7")
            added, length, *_ = self.call("read", self.epoch(), "0-0", 10)
            self.assertEqual((added, length), (1000 + times * leap + 2, 2))

    def test_a_stream_after_a_manifest_of_anybodys(self):
        """What is no number is none."""
        self.client.hset(SET + "manifest", mapping={"entries": "x", "streams": 1})
        self.client.delete(SET + "stream")
        self.call("append", self.epoch(), 0, "v", 1)
        self.assertEqual(self.call("read", self.epoch(), "0-0", 10)[0], (1 << 40) + 1)

    def test_one_chunk_is_absent(self):
        """Those of a superseded image that are there go all the same."""
        self.lease_of(ME)
        chunks = self.store()
        self.call("publish", *self.publish())
        self.client.delete(chunks[0])
        self.store(stored=8)
        self.call("publish", *self.publish(stored=8))
        self.assertTrue(0 < self.client.ttl(chunks[1]) <= 50)

    def test_numbers_of_anybody(self):
        """Beside the manifest: a stream begins all the same, with more than there ever were."""
        def begun(**beside):
            self.client.hset(SET + "manifest", mapping={"streams": 2, **beside})
            self.client.delete(SET + "stream")
            self.call("append", self.epoch(), 0, "v", 1)
            return self.call("read", self.epoch(), "0-0", 10)[0] >> 40
        for number in ("nan", "-nan", "inf", "1e18", "x", "", "-1", "%d" % (2 ** 64 - 1)):
            with self.subTest(number=number):
                self.assertEqual(begun(entries=number), 2)
                self.assertTrue(2048 <= begun(streams=number) < 4096)
        self.assertEqual(begun(streams="1.5"), 1)
        before = begun(streams="x")
        time.sleep(1)
        self.assertNotEqual(begun(streams="x"), before) # so nodes see that it is another

    def test_ids_are_set_back(self):
        """While it is published: what came since is below its position."""
        self.lease_of(ME)
        self.store()
        self.client.delete(SET + "stream")
        for at, left in (("7-4", 3), ("7-3", 1)):
            for i in range(1, 4):
                self.client.xadd(SET + "stream", {"v": i}, "7-%d" % i)
            self.call("publish", *self.publish(position=at, covered="7-4", text=(
                "\nchunks 2 10 %016x\n\nposition %s\n" % (7, at))))
            self.assertEqual(self.client.xlen(SET + "stream"), left)
            self.client.delete(SET + "stream")

    def test_ids_beyond_the_numbers_of_lua(self):
        """What follows a generation that is kept stays."""
        self.lease_of(ME)
        self.client.delete(SET + "stream")
        ids = ["%d-%d" % (2 ** 63, i) for i in (1, 2 ** 60, 2 ** 60 + 1)]
        for id_ in ids:
            self.client.xadd(SET + "stream", {"v": 1}, id_)
        for id_ in ids[1:]:
            self.store()
            text = "\nchunks 2 10 %016x\n\nposition %s\n" % (7, id_)
            self.call("publish", *self.publish(text=text, position=ids[2], covered=ids[2], keep=2))
        self.assertEqual([id_.decode() for id_, _ in self.client.xrange(SET + "stream")], ids[1:])

    def test_within_a_millisecond(self):
        """Ids are compared as a whole: what follows a generation that is kept stays."""
        self.lease_of(ME)
        self.client.delete(SET + "kept", SET + "stream")
        for i in range(1, 9):
            self.client.xadd(SET + "stream", {"v": 1}, id="7-%d" % i)
        for position in ("7-3", "7-6"):
            self.store()
            self.call("publish", *self.publish(
                keep=2, covered="7-6", text=self.publish()[4].replace("1-1", position)))
        self.assertEqual(self.client.xrange(SET + "stream", count=1)[0][0], b"7-3")

    def test_a_chunk_that_is_not_the_last(self):
        self.lease_of(ME)
        names = self.store()
        for change in (lambda: self.client.delete(names[0]),
                       lambda: self.client.set(names[0], "x" * 9),
                       lambda: self.client.set(names[0], "x" * 11)):
            self.store()
            change()
            self.refused("WEIRCHUNK 0", "publish", *self.publish())

    def test_too_large_to_come(self):
        """Then an entry comes without its strings."""
        self.client.delete(SET + "stream")
        self.client.xadd(SET + "stream", {"v": "x" * (1 << 20)})
        self.client.xadd(SET + "stream", {"%d" % i: 1 for i in range(33)})
        self.client.xadd(SET + "stream", {"%d" % i: 1 for i in range(32)})
        self.client.xadd(SET + "stream", {"v": "x" * ((1 << 20) - 1)})
        entries = self.call("read", self.epoch(), "0-0", 10)[3]
        self.assertEqual([len(e[1]) for e in entries], [0, 0, 64, 2])

    def test_what_is_not_said(self):
        """No number is 0, whatever else is there; and no manifest is none to follow."""
        self.client.hdel(SET + "manifest", "generation")
        self.assertEqual(self.call("read", self.epoch(), "0-0", 10)[2], b"0")
        self.client.hdel(SET + "manifest", "stored")
        self.assertEqual(self.call("read", self.epoch(), "0-0", 10)[4], b"")
        self.client.hset(SET + "manifest", "generation", 7)
        self.client.hdel(SET + "manifest", "text")
        self.lease_of(ME)
        self.store()
        self.refused("WEIRBASE 0", "publish", *self.publish())
        self.call("publish", *self.publish(base=0))

    def test_a_name_of_the_same_number(self):
        """It claims to be as new as what is published, and goes."""
        self.lease_of(ME)
        old = int(self.client.hget(SET + "manifest", "generation"))
        self.client.hset(SET + "kept", "0%d" % (old + 1), "\n\nchunks 0 10 00\n")
        self.store()
        self.call("publish", *self.publish(keep=2))
        self.assertEqual(set(self.client.hkeys(SET + "kept")), {b"%d" % old, b"%d" % (old + 1)})

    def test_a_stream_that_cannot_begin(self):
        """Where somebody wrote that it is to: it begins all the same."""
        last = "%d-%d" % (2 ** 64 - 1, 2 ** 64 - 1)
        for streams, at in ((4, "x"), (5, last), (7, "-5-5"), (8, "99999999999999-5")):
            with self.subTest(at=at):
                self.client.hset(SET + "manifest", mapping={"position": at, "streams": streams})
                self.client.delete(SET + "stream")
                self.call("append", self.epoch(), 0, "v", 1)
                leaps = streams + (at == last) # it began twice
                added = self.call("read", self.epoch(), "0-0", 10)[0]
                self.assertTrue(leaps << 40 < added < leaps + 1 << 40, added)

    def test_numbers_beside_the_manifest(self):
        """Whatever somebody writes there: a reader gets no more of it than a number has, and a
        publisher goes by the manifest itself."""
        self.lease_of(ME)
        text = self.client.hget(SET + "manifest", "text").decode()
        generation = int(re.search(r"\ngeneration (\d+)\n", text)[1])
        self.client.hset(SET + "manifest", mapping={"generation": "7" * 999, "stored": "f" * 999})
        answer = self.call("read", self.epoch(), "0-0", 10)
        self.assertEqual((len(answer[2]), len(answer[4])), (20, 17))
        self.client.hset(SET + "manifest", "generation", generation + 5)
        self.store()
        self.refused("WEIRBASE %d" % generation, "publish", *self.publish())
        self.client.hset(SET + "manifest", "generation", generation + 5)
        self.call("publish", *self.publish(base=generation, generation=generation + 1))
        self.assertEqual(self.client.hmget(SET + "manifest", "generation", "stored"),
                         [b"%d" % (generation + 1), b"%016x" % 7])

    def test_the_last_entry_has_gone(self):
        """Its id was given all the same."""
        last = self.call("append", self.epoch(), 0, "v", 1)
        self.client.xdel(SET + "stream", last)
        self.assertEqual(self.call("read", self.epoch(), "0-0", 10)[5], last)
        self.client.xtrim(SET + "stream", maxlen=0)
        self.assertEqual(self.call("read", self.epoch(), "0-0", 10)[5], last)

    def test_a_stream_that_never_was(self):
        self.client.delete(SET + "manifest", SET + "stream")
        epoch = self.call("manifest", "1" * 16)[0].decode()
        self.call("append", epoch, 0, "v", 1)
        self.assertEqual(self.call("read", epoch, "0-0", 10)[:2], [1, 1])

    def test_room(self):
        used = self.client.info("memory")["used_memory"]
        self.client.config_set("maxmemory", used + (64 << 20))
        self.refused("WEIRFULL", "append", self.epoch(), 65 << 20, "v", 1)
        self.call("append", self.epoch(), 0, "v", 1)
        self.client.config_set("maxmemory", 1)
        self.refused("WEIRFULL", "append", self.epoch(), 0, "v", 1)

    def test_a_replica(self):
        self.client.execute_command("REPLICAOF", "127.0.0.1", str(group.free_port()))
        with self.assertRaises(redis.exceptions.ReadOnlyError):
            self.call("read", self.epoch(), "0-0", 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
