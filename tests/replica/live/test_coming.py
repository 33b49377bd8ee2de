# SPDX-License-Identifier: MIT
"""Images that come slowly, break off, are replaced and removed on their way: the node goes on
meanwhile. test_coming.py PROGRAM"""
import os
import sys
import threading
import time
import unittest

import group
import liar
import nodes
import slow

CHUNKS = "{weir:seen}:c:*"


class Web(nodes.Publishing):
    def two_by_web(self):
        """One that publishes, and one that gets images from a web server that may be slow."""
        images = os.path.join(self.server.folder, "images")
        os.mkdir(images)
        self.web = slow.Web(images)
        self.addCleanup(self.web.close)
        self.ledger.options += ("image_url=" + self.web.url, "http=1")
        publisher = self.ledger.start("folder=" + images)
        reader = self.ledger.start()
        self.inserts(publisher)
        return publisher, reader

    def test_confirmed_inserts_while_a_web_server_drips(self):
        publisher, reader = self.two_by_web()
        before, failures = self.confirms(reader), self.stats(reader, "failures")
        self.web.rate = 1024
        generation = self.publish(publisher)
        self.on_its_way(reader, generation)
        during = self.confirms(reader)
        print("confirmed in us, half, 99 of 100, all: %s, while an image comes %s" %
              (before, during), file=sys.stderr)
        self.assertLess(during[2], 1000000 + 10 * before[2])
        self.assertLess(during[0], 20000 + 5 * before[0])
        # and what others insert comes as ever
        self.inserts(publisher)
        inserted = self.stats(publisher, "inserted")
        group.wait_until("it is applied", lambda: not reader.missing(0, inserted)[0])
        self.on_its_way(reader, generation)
        self.assertEqual(self.stats(reader, "failures"), failures)
        self.web.rate = None
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(reader, "generation"), generation)
        self.assertEqual(self.stats(reader, "image"), 0)

    def test_closing_while_it_comes(self):
        publisher, reader = self.two_by_web()
        self.web.rate = 1024
        self.on_its_way(reader, self.publish(publisher))
        begun = time.monotonic()
        self.assertEqual(reader.quit(), "0 ")
        self.assertLess(time.monotonic() - begun, 5)

    def test_another_replaces_it(self):
        publisher, reader = self.two_by_web()
        self.web.rate = 1024
        self.on_its_way(reader, self.publish(publisher))
        first = max(self.web.taken)
        publisher.rate(1000)
        generation = self.publish(publisher)
        group.wait_until("the first is given up", lambda: first in self.web.ended)
        self.on_its_way(reader, generation)
        self.web.rate = None
        nodes.settle(self, self.ledger)

    def test_who_publishes_waits_for_it(self):
        """On top of what another has published, so its image has to be here."""
        publisher, reader = self.two_by_web()
        self.ledger.kill(reader)
        reader = self.ledger.start("folder=" + self.web.folder)
        self.web.rate = 1024
        generation = self.publish(publisher)
        self.on_its_way(reader, generation)
        reader.process.stdin.write("publish\n")
        reader.process.stdin.flush()
        time.sleep(1)
        self.assertTrue(reader.answers.empty())
        self.web.rate = None
        self.assertEqual(reader.answer("publish"), "0 ")
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(publisher, "generation"), generation + 1)

    def test_a_record_replaces_what_does_not_come(self):
        """It need not be here for that."""
        publisher, reader = self.two_by_web()
        self.ledger.kill(reader)
        reader = self.ledger.start("folder=" + self.web.folder)
        self.web.rate = 1024
        generation = self.publish(publisher)
        self.on_its_way(reader, generation)
        self.assertEqual(reader.ask("record"), "0 ")
        self.web.rate = None
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(publisher, "generation"), generation + 1)

    def test_it_is_not_there(self):
        publisher, reader = self.two_by_web()
        folder, self.web.folder = self.web.folder, "/nowhere"
        generation = self.publish(publisher)
        group.wait_until("it says so", lambda: "404" in self.stats(reader, "error"))
        self.web.asked = 0
        self.confirms(reader, 300)
        for _ in range(20): # it stays, whatever else goes well
            self.assertIn("404", self.stats(reader, "error"))
            time.sleep(0.02)
        self.assertLess(self.web.asked, 50) # not with each of those inserts
        self.web.folder = folder
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(reader, "generation"), generation)


class Chunks(nodes.Publishing):
    """Of redis: six of them."""

    def two_by_liar(self, *options):
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        publisher = self.ledger.start()
        reader = self.ledger.start("url=" + self.liar.url, *options)
        self.inserts(publisher)
        self.got = []
        return publisher, reader

    def number(self, args):
        return int(args[0].rsplit(b":", 1)[1])

    def test_goes_on_after_a_break(self):
        publisher, reader = self.two_by_liar()

        def get(args, answer, send):
            self.got.append(self.number(args))
            if self.got.count(2) == 1 and self.got[-1] == 2:
                raise OSError # the connection ends
            return answer
        self.liar.lies["get"] = get
        generation = self.publish(publisher)
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(reader, "generation"), generation)
        self.assertEqual(self.got, [0, 1, 2, 2, 3, 4, 5])

    def test_removed_on_its_way(self):
        publisher, reader = self.two_by_liar()

        def get(args, answer, send):
            self.got.append(self.number(args))
            while self.got == [0, 1]:
                time.sleep(0.01)
            return answer
        self.liar.lies["get"] = get
        generation = self.publish(publisher)
        group.wait_until("a part is here", lambda: self.stats(reader, "here") > 0)
        self.confirms(reader, 100)
        self.server.client.delete(*self.server.client.scan_iter(CHUNKS))
        self.got.append("gone")
        group.wait_until("it says so", lambda: "is not there" in self.stats(reader, "error"))
        self.confirms(reader, 100)
        self.assertEqual(self.stats(reader, "complete"), 0)
        self.assertEqual(self.publish(publisher), generation + 1)
        nodes.settle(self, self.ledger)

    def test_another_replaces_it(self):
        publisher, reader = self.two_by_liar()
        self.liar.lies["get"] = self.drip
        self.publish(publisher)
        group.wait_until("it comes", lambda: self.got)
        self.liar.lies.clear()
        generation = self.publish(publisher)
        nodes.settle(self, self.ledger)
        self.assertEqual(self.stats(reader, "generation"), generation)

    def test_no_duty_of_who_waits_for_it(self):
        """What it could store now nobody would take: another generation is there."""
        publisher, reader = self.two_by_liar()
        self.ledger.kill(reader)
        duty = self.ledger.start("url=" + self.liar.url, seconds=1)
        go = threading.Event()
        self.addCleanup(go.set)

        def get(args, answer, send):
            self.got.append(self.number(args))
            go.wait(60)
            return answer
        self.liar.lies["get"] = get
        self.publish(publisher)
        group.wait_until("it comes", lambda: self.got)
        stored = self.liar.calls.get("set", 0)
        time.sleep(2.5)
        self.assertEqual(self.liar.calls.get("set", 0), stored)
        self.assertEqual(self.stats(duty, "error"), "")
        go.set()
        nodes.settle(self, self.ledger)

    def test_a_redis_that_drips(self):
        """Only the connection of the image waits for it."""
        publisher, reader = self.two_by_liar("answer=100000")
        self.liar.lies["get"] = self.drip
        generation = self.publish(publisher)
        group.wait_until("it comes", lambda: self.got)
        self.assertLess(self.confirms(reader, 300)[2], 5000000)
        self.assertEqual(self.stats(reader, "generation"), generation - 1)
        self.assertEqual(self.stats(reader, "error"), "")
        begun = time.monotonic()
        self.assertEqual(reader.quit(), "0 ")
        self.assertLess(time.monotonic() - begun, 5)

    def drip(self, args, answer, send):
        self.got.append(self.number(args))
        send(b"$%d\r\n" % len(answer))
        for byte in answer:
            send(b"%c" % byte)
            time.sleep(0.05)
        return liar.Raw(b"\r\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
