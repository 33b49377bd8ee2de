# SPDX-License-Identifier: MIT
"""Batches of keys, signed. Somebody keeps a signed generation of another seed, and shows it to
nodes later, with the epoch that it was of: they keep what they have.
test_replayed.py PROGRAM WEIR"""
import os
import sys
import threading
import unittest

import group
import liar
import nodes
import tool

SET = "{weir:seen}:"
MANIFEST = SET + "manifest"
KEPT = "another seed, and %s: this node's own set"


class Replayed(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        keys = [os.path.join(self.folder, name) for name in ("secret", "public")]
        self.weir("replicate", "key", *keys)
        self.between = liar.Liar(self.server.socket)
        self.addCleanup(self.between.close)
        self.ledger = self.nodes("stream=keys", "secret=" + keys[0], "trusted=" + keys[1],
                                 "url=" + self.between.url)
        self.ledger.capacity = 20000
        self.readers = self.nodes("stream=keys", "trusted=" + keys[1], "url=" + self.between.url)
        self.one, self.other = self.ledger.start(), self.ledger.start()
        self.insert()
        self.record()

    def insert(self):
        self.one.ask("burst 100")
        group.wait_until("it is sent", lambda: self.one.ask("flush 5000") == "0 ")

    def record(self):
        """Of another seed than before."""
        group.wait_until("a generation", lambda: self.one.ask("record") == "0 ")
        nodes.settle(self, self.ledger)

    def publish(self):
        group.wait_until("it publishes", lambda: self.one.ask("publish") == "0 ")
        nodes.settle(self, self.ledger)

    def keep(self):
        self.kept = self.client.hgetall(MANIFEST)
        self.images = {name: self.client.get(name)
                       for name in self.client.scan_iter(SET + "c:*")}

    def is_kept(self, why):
        """Each says why it does not take that, and has all."""
        for node in self.ledger.nodes + self.readers.nodes:
            group.wait_until("it says so", lambda: KEPT % why in node.stats()["error"])
        self.assertEqual(self.ledger.lost(), [])

    def delete(self):
        self.client.delete(*self.client.keys(SET + "*"))

    def goes_on(self):
        self.publish()
        self.insert()
        self.ledger.newcomer(self)
        nodes.settle(self, self.ledger)

    def test_it_is_put_back(self):
        """With the token of its time, after another token, and counts of entries that hide what
        the stream has lost since."""
        self.keep()
        self.record()
        for _ in range(3): # which is what goes from the stream
            self.insert()
            self.publish()
        self.client.hset(MANIFEST, "token", "%016x" % 0x1234)
        for _ in range(2):
            self.publish()
        with self.client.pipeline() as all_:
            for name, image in self.images.items():
                all_.set(name, image)
            all_.hset(MANIFEST, mapping=self.kept)
            all_.execute()
        self.is_kept("entries that follow it have gone from the stream")
        self.delete()
        self.goes_on()

    def test_it_is_shown_by_a_liar(self):
        """That has the set begun anew since, and takes all that is sent for itself."""
        self.is_shown()

    def test_it_is_shown_by_one_that_says_that_it_is_1970(self):
        """By which all that nodes have would be of a time to come; also to who signs nothing."""
        self.readers.start()
        self.is_shown(time=lambda *_: [b"1", b"0"])

    def test_it_is_shown_by_one_whose_time_was_wrong(self):
        """What nodes have was published in 1970."""
        self.between.lies["time"] = lambda *_: [b"1", b"0"]
        self.is_shown()

    def is_shown(self, **lies):
        self.keep()
        epoch = self.client.info("replication")["master_replid"].encode() + self.kept[b"token"]
        self.delete()
        self.publish()
        self.record()
        for _ in range(3):
            self.insert()
            self.publish()
        newest = self.one.stats()["generation"]
        group.wait_until("readers have it", lambda: all(
            node.stats()["generation"] == newest for node in self.readers.nodes))
        for name, image in self.images.items():
            self.client.set(name, image)
        sent = []

        def append(args, answer, send):
            sent.append(args)
            return b"9999999999999-%d" % len(sent)
        shown = liar.looking(epoch, self.kept[b"text"], self.kept[b"signature"])
        counts = liar.reading(int(self.kept[b"entries"]), 0, [], self.kept[b"generation"],
                              self.kept[b"stored"])
        self.between.lies.update(append=append, manifest=lambda *_: shown,
                                 read=lambda *_: counts, **lies)
        self.is_kept("does not descend from what is joined here")
        self.between.lies.clear()
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())
        self.goes_on()


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a liar whose other end has gone
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
