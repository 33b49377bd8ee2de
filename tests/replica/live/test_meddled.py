# SPDX-License-Identifier: MIT
"""Somebody meddles with a set's keys or its channel, in one way at a time: nodes say so, go on with
all that does not depend on it, and are well when it is undone. test_meddled.py PROGRAM"""
import re
import signal
import sys
import threading
import time
import unittest

import group
import liar
import nodes

SET = "{weir:seen}:"
MANIFEST, KEPT, STREAM = SET + "manifest", SET + "kept", SET + "stream"
BOUND = 30 # seconds for what takes some ten of them at the most


class Meddled(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger.capacity = 100000

    def begin(self, *options):
        self.node = self.ledger.start(*options)
        self.node.ask("burst 100")
        self.assertEqual(self.node.ask("flush 10000"), "0 ")

    def publish(self, times=1):
        for _ in range(times):
            self.assertEqual(self.node.ask("publish"), "0 ")
        return self.node.stats()["newest"]

    def says(self, word):
        group.wait_until("it says: " + word, lambda: word in self.node.stats()["error"])

    def is_well(self):
        """It sends, publishes, and has nothing to say."""
        self.node.ask("burst 100")
        group.wait_until("it is sent", lambda: self.node.ask("flush 2000") == "0 ")
        group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
        nodes.settle(self, self.ledger)

    def ends(self):
        begun = time.monotonic()
        self.node.quit()
        self.assertLess(time.monotonic() - begun, BOUND)
        self.assertEqual(self.node.process.returncode, 0)

    def chunk_of(self, text):
        stored = re.search(rb"(?m)^chunks \d+ \d+ (\w+)$", text)[1]
        return "%sc:%s:0" % (SET, stored.decode())

    def stays(self, *numbers):
        """These are kept, and no image of theirs goes by itself; all others do."""
        kept = self.client.hgetall(KEPT)
        self.assertEqual({int(name) for name in kept}, set(numbers))
        images = {self.chunk_of(text) for text in kept.values()}
        self.assertIn(self.chunk_of(self.client.hget(MANIFEST, "text")), images)
        for name in self.client.keys(SET + "c:*:0"):
            ttl = self.client.ttl(name)
            self.assertTrue(ttl == -1 if name.decode() in images else 0 < ttl <= 120, ttl)

    # ---- generations ----

    def test_the_last_number_there_is(self):
        """None follows it as long as it stands; when it has gone all goes on."""
        for undone in (self.client.flushall, lambda: self.client.hset(MANIFEST, "text", text)):
            self.begin()
            self.publish()
            text = self.client.hget(MANIFEST, "text")
            last = re.sub(rb"\ngeneration \d+", b"\ngeneration %d" % (2 ** 63 - 1), text)
            self.client.hset(MANIFEST, mapping={"text": last, "generation": 2 ** 63 - 1})
            group.wait_until("it is joined", lambda: self.node.stats()["newest"] == 2 ** 63 - 1)
            self.assertIn("none could follow", self.node.ask("publish"))
            undone()
            group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
            self.ledger.start()
            group.wait_until("nothing is lost", lambda: not self.ledger.lost())
            self.ends()
            self.ledger.nodes.remove(self.node)

    def test_generations_that_nobody_published(self):
        """Whatever number they say, those that somebody did publish are kept, and not they."""
        for names in ([10 ** 9 + i for i in range(5)],
                      ["nan", "-nan", "inf", "0x10", " 5", "1e3", "nan(1)"]):
            with self.subTest(names=names):
                self.begin()
                self.client.hset(KEPT, mapping={name: "x" for name in names})
                newest = self.publish(3)
                self.stays(newest - 1, newest)
                self.node.quit()
                self.ledger.nodes.clear()
                self.client.flushall()

    def test_the_manifest_is_deleted_while_nobody_lives(self):
        """Whoever begins the set anew does it by number 1; of those before the newest is kept."""
        self.begin()
        self.publish(6)
        self.node.quit()
        self.ledger.nodes.clear()
        self.client.delete(MANIFEST)
        self.begin()
        self.stays(1, 7)
        self.assertEqual(self.publish(), 2)
        self.stays(1, 2)
        self.says("passed by") # batches of before, which are of another seed
        self.ledger.start()
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def test_the_manifest_is_deleted_while_a_node_lives(self):
        self.begin()
        newest = self.publish(6)
        self.client.delete(MANIFEST)
        self.says("no generation of it")
        # entries of a stream that was trimmed have gone, for all it knows, until it asks who lives
        group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
        self.assertEqual(self.publish(), newest + 2)
        self.stays(newest + 1, newest + 2)
        self.ledger.start()
        nodes.settle(self, self.ledger)

    def test_a_manifest_that_is_large(self):
        """It does not come, again and again, and what is inserted goes its way."""
        self.begin()
        self.client.hset(MANIFEST, mapping={"text": b"x" * (8 << 20), "generation": 99})
        before = self.client.info("stats")["total_net_output_bytes"]
        self.says("it is not weir-manifest")
        self.node.ask("burst 1000")
        group.wait_until("it is sent", lambda: self.node.ask("flush 2000") == "0 ")
        came = self.client.info("stats")["total_net_output_bytes"] - before
        self.assertLess(came, 4 << 20)
        self.assertEqual(self.node.ask("publish"), "0 ") # what is no manifest is in nobody's way
        self.is_well()
        self.ends()

    # ---- keys ----

    def test_keys_of_another_type(self):
        """It says so as soon as it needs the key: nobody needs what nodes say of themselves."""
        for name in ("manifest", "kept", "stream", "lease", "nodes"):
            with self.subTest(name=name):
                self.begin()
                with self.client.pipeline() as at_once: # the node writes it now and then
                    at_once.delete(SET + name).sadd(SET + name, "x").execute()
                self.node.ask("burst 100")
                published = self.node.ask("publish")
                if name == "nodes":
                    self.assertEqual(published, "0 ")
                else:
                    self.assertIn("a key is not weir's: WRONGTYPE", published)
                if name in ("manifest", "stream"):
                    self.assertTrue(self.node.ask("flush 300").startswith("-110 "))
                    self.says("a key is not weir's: WRONGTYPE")
                else:
                    self.assertEqual(self.node.ask("flush 10000"), "0 ")
                self.client.delete(SET + name)
                self.is_well()
                self.ends()
                self.ledger.nodes.clear()
                self.client.flushall()

    def test_a_number_of_streams_that_is_none(self):
        """Entries of a stream that begins anew are told from those of before all the same."""
        self.begin()
        other = self.ledger.start()
        for streams in ("x", "1e99", ""):
            self.node.ask("burst 100")
            self.assertEqual(self.node.ask("flush 10000"), "0 ")
            self.client.hset(MANIFEST, "streams", streams)
            # as many come again as there were, of which the other knows nothing
            other.signal(signal.SIGSTOP)
            self.client.delete(STREAM)
            for _ in range(3):
                self.node.ask("burst 100")
                self.assertEqual(self.node.ask("flush 10000"), "0 ")
            other.signal(signal.SIGCONT)
            group.wait_until("it has all", lambda: other.missing(
                self.node.name, self.node.stats()["inserted"])[0] == 0)
        self.is_well()

    # ---- numbers beside the manifest ----

    def test_another_number_beside_it(self):
        """Whoever is to publish goes on."""
        self.begin()
        other = self.ledger.start(seconds=1)
        for value in ("77", "x", None):
            number = other.stats()["newest"]
            if value:
                self.client.hset(MANIFEST, "generation", value)
            else:
                self.client.hdel(MANIFEST, "generation")
            self.node.ask("burst 10")
            group.wait_until("it is published", lambda: other.stats()["newest"] > number)
        nodes.settle(self, self.ledger)

    def test_a_number_that_stays(self):
        """It is looked at, and not again and again: a manifest may be large."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        self.begin("url=" + between.url)
        for name, value in (("stored", "0123456789abcdef"), ("generation", "77")):
            self.client.hset(MANIFEST, name, value)
            time.sleep(0.3)
            before = between.calls["manifest"], between.calls["read"]
            time.sleep(1)
            self.assertLess(between.calls["manifest"], before[0] + 12) # idle is 300
            self.assertGreater(between.calls["read"], before[1] + 5)
        self.assertEqual(self.node.ask("publish"), "0 ")
        nodes.settle(self, self.ledger)

    def test_a_text_that_is_none(self):
        """Whatever number stands beside it: whoever is to publish puts another in its place."""
        self.begin()
        other = self.ledger.start(seconds=1)
        for text, beside in (("junk", "99"), ("", "x"), ("junk", "0")):
            number = other.stats()["newest"]
            self.client.hset(MANIFEST, mapping={"text": text, "generation": beside})
            group.wait_until("it goes on", lambda: other.stats()["newest"] > number)
        nodes.settle(self, self.ledger)

    def test_the_text_alone(self):
        """Somebody put that of before there: whoever is to publish notices, and goes on."""
        self.begin()
        other = self.ledger.start(seconds=1)
        before = self.client.hget(MANIFEST, "text")
        group.wait_until("the next", lambda: other.stats()["newest"] > 2)
        self.client.hset(MANIFEST, "text", before)
        number = other.stats()["newest"]
        group.wait_until("it goes on", lambda: other.stats()["newest"] > number + 2)
        nodes.settle(self, self.ledger)

    def test_a_number_that_comes_true(self):
        """It was looked at in vain before; a rollback has the image of the generation before."""
        self.begin("keep=4")
        other = self.ledger.start("keep=4")
        newest = self.publish(2)
        group.wait_until("it serves", lambda: other.stats()["generation"] == newest)
        self.client.hset(MANIFEST, "generation", newest + 1)
        time.sleep(0.5)
        self.assertEqual(self.node.ask("rollback %d" % newest), "0 ")
        group.wait_until("it serves", lambda: other.stats()["generation"] == newest + 1)

    # ---- the channel ----

    def rounds(self):
        return self.client.info("commandstats")["cmdstat_evalsha"]["calls"]

    def test_hints_of_anybody(self):
        """At most a round for each; those that come together are one."""
        self.begin("poll=1000")
        before = self.rounds()
        for _ in range(100):
            self.client.publish(SET + "hint", "9")
            time.sleep(0.005)
        self.assertLess(self.rounds() - before, 300)
        before, pipe = self.rounds(), self.client.pipeline(transaction=False)
        for _ in range(20000):
            pipe.publish(SET + "hint", "9")
        pipe.execute()
        self.assertEqual(self.node.ask("flush 10000"), "0 ")
        self.assertLess(self.rounds() - before, 5000)

    def by_liar(self, lie):
        """To whoever subscribes."""
        lying = liar.Liar(self.server.socket)
        self.addCleanup(lying.close)
        lying.lies["subscribe"] = lie
        self.ledger.options += ("url=" + lying.url, "answer=500", "connect=1000")
        self.begin()
        group.wait_until("it subscribes", lambda: lying.calls.get("subscribe"))
        self.node.ask("burst 1000")
        group.wait_until("it is sent", lambda: self.node.ask("flush 2000") == "0 ")
        self.ends()

    def test_a_channel_that_drips(self):
        def lie(args, answer, send):
            send(b"$100000000\r\n")
            while True:
                send(b"x" * 100)
                time.sleep(0.1)
        self.by_liar(lie)

    def test_a_channel_without_end(self):
        def lie(args, answer, send):
            send(liar.encode(answer))
            for _ in range(2): # and on
                send(b"$20000000\r\n")
                for _ in range(20):
                    send(b"x" * 1000000)
                send(b"\r\n")
            while True:
                send(liar.encode([b"message", (SET + "hint").encode(), b"x" * 100000]))
        self.by_liar(lie)


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a server whose node has gone
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
