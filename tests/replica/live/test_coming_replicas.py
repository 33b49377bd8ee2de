# SPDX-License-Identifier: MIT
"""Images that are read from replicas, whatever those do. test_coming_replicas.py PROGRAM"""
import os
import signal
import sys
import threading
import time
import unittest

import group
import liar
import nodes


class Replicas(nodes.Publishing):
    """Images are read from one; whatever it does, they come."""

    def setUp(self):
        super().setUp()
        self.said = os.path.join(self.server.folder, "said")
        self.ledger.errors = open(self.said, "w")
        self.addCleanup(self.ledger.errors.close)

    def two(self, url):
        publisher = self.ledger.start()
        reader = self.ledger.start("read_url=" + url)
        self.inserts(publisher)
        return publisher, reader

    def replica(self):
        replica = group.Server(["--replicaof", "127.0.0.1 %d" % self.server.port])
        self.addCleanup(replica.close)
        group.wait_until("the replica follows", lambda: group.Group.in_step(self.server))
        return replica

    def gets(self, server):
        return server.client.info("commandstats").get("cmdstat_get", {"calls": 0})["calls"]

    def joins(self, publisher):
        self.publish(publisher)
        nodes.settle(self, self.ledger)

    def told(self):
        with open(self.said) as f:
            text = f.read()
        self.assertNotIn("\x1b", text)
        return [line for line in text.splitlines() if "read from the master" in line]

    def test_it_is_read(self):
        replica = self.replica()
        publisher, _ = self.two("unix://" + replica.socket)
        before = self.gets(replica)
        self.joins(publisher)
        self.assertEqual(self.gets(replica), before + 6)
        self.assertEqual(self.told(), [])

    def test_it_stands_still(self):
        replica = self.replica()
        publisher, reader = self.two("unix://" + replica.socket)
        replica.process.send_signal(signal.SIGSTOP)
        self.addCleanup(replica.process.send_signal, signal.SIGCONT)
        generation = self.publish(publisher)
        group.wait_until("it is noticed", lambda: self.stats(reader, "newest") == generation)
        self.assertLess(self.confirms(reader, 200)[2], 1500000)
        self.joins(publisher)
        self.joins(publisher)
        self.assertEqual(len(self.told()), 1, self.told())

    def test_it_lacks_everything(self):
        empty = group.Server()
        self.addCleanup(empty.close)
        publisher, _ = self.two("unix://" + empty.socket)
        self.joins(publisher)
        self.assertGreater(self.gets(empty), 6)
        self.assertEqual(self.told(), [])

    def test_it_is_nowhere(self):
        publisher, _ = self.two("unix:///nowhere/at/all")
        self.joins(publisher)
        self.assertEqual(len(self.told()), 1, self.told())

    def test_what_a_liar_gave_is_not_here(self):
        master, other = (liar.Liar(self.server.socket) for _ in range(2))
        self.addCleanup(master.close)
        self.addCleanup(other.close)
        publisher = self.ledger.start()
        reader = self.ledger.start("url=" + master.url, "read_url=" + other.url)
        self.inserts(publisher)
        asked, go = threading.Event(), threading.Event()
        self.addCleanup(go.set)

        def get(args, answer, send):
            if args[0].endswith(b":0"):
                asked.set()
                go.wait(60)
            return answer
        other.lies["get"] = lambda args, answer, send: bytes(len(answer))
        master.lies["get"] = get
        self.publish(publisher)
        self.assertTrue(asked.wait(60))
        group.wait_until("it is on its way", lambda: self.stats(reader, "image") > 0)
        time.sleep(0.3) # some rounds, in which it is noted how much is here
        self.assertEqual(self.stats(reader, "here"), 0)
        go.set()
        nodes.settle(self, self.ledger)

    def test_it_lies(self):
        def other_bytes(args, answer, send):
            return answer[:-1] + bytes([answer[-1] ^ 1])

        def first_chunk_alone(args, answer, send):
            return other_bytes(args, answer, send) if args[0].endswith(b":0") else None
        # how often it is asked: no more once it is known to be no good
        lies = [(lambda args, answer, send: answer[:-1], 1), (other_bytes, 6),
                (first_chunk_alone, 6), (lambda args, answer, send: 17, 1),
                (lambda args, answer, send: liar.Error(b"ERR \x1b[31m"), 1)]
        publisher = self.ledger.start()
        self.inserts(publisher)
        self.joins(publisher)
        for lie, asked in lies:
            with self.subTest(lies.index((lie, asked))):
                other = liar.Liar(self.server.socket)
                self.addCleanup(other.close)
                other.lies["get"] = lie
                before = len(self.told())
                reader = self.ledger.start("read_url=" + other.url)
                self.joins(publisher)
                self.assertEqual(self.stats(reader, "refused"), 0)
                self.assertEqual(other.calls["get"], asked)
                group.wait_until("it is told", lambda: len(self.told()) == before + 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
