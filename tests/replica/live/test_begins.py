# SPDX-License-Identifier: MIT
"""A node that opens while another does the same, or finds something else than it expects: a liar
stands between. test_begins.py PROGRAM"""
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import group
import liar
import nodes
import test_asked

PROGRAM = os.path.abspath(sys.argv[1])


class Begins(test_asked.Asked):
    def opened(self, name, *options, capacity=1000000):
        log = open(os.path.join(self.server.folder, "said-%d" % name), "w+")
        self.addCleanup(log.close)
        node = nodes.Node(PROGRAM, name, "set=seen", "url=" + self.liar.url, "poll=20",
                          "idle=300", *options, errors=log, capacity=capacity)
        self.addCleanup(node.close)
        node.said = lambda: open(log.name).read()
        return node

    def nothing_at_first(self):
        """A set that another node begins at this moment is not there at the first look."""
        looks = []

        def manifest(args, answer, send):
            looks.append(answer)
            return answer if len(looks) > 1 else liar.looking(answer[0], None)
        self.liar.lies["manifest"] = manifest

    def two(self, *options):
        first = self.opened(0, *options)
        first.ask("burst 100")
        self.assertEqual(first.ask("flush 10000"), "0 ")
        self.nothing_at_first()
        second = self.opened(1, *options)
        self.assertEqual((first.opened, second.opened), ("0 ", "0 "))
        group.wait_until("all is there", lambda: not second.missing(0, 100)[0])
        one, other = first.stats(), second.stats()
        for name in ("seed", "generation", "newest"):
            self.assertEqual(one[name], other[name])
        self.assertEqual(other["newest"], 1) # the second has published nothing
        self.assertIn("redis had no generation of it", first.said())
        self.assertEqual(second.said(), "")

    def test_another_was_first_by_another_seed(self):
        """Whose seed is the set's: that is no failure."""
        self.two()

    def test_another_was_first_by_the_same_seed(self):
        self.two("seed=5")

    def meanwhile(self, *options):
        """Another begins the set between the first look of this one and its publication."""
        others = []

        def lease(args, answer, send):
            if not others:
                others.append(self.opened(1, *options, "url=unix://" + self.server.socket))
            return answer
        self.liar.lies["lease"] = lease
        node = self.opened(0, *options)
        self.assertEqual((others[0].opened, node.opened), ("0 ", "0 "))
        self.assertEqual(others[0].stats()["seed"], node.stats()["seed"])
        time.sleep(0.3)
        self.assertEqual(node.said(), "")
        self.assertIn("it begins here, empty", others[0].said())

    def test_another_begins_meanwhile_by_another_seed(self):
        self.meanwhile()

    def test_another_begins_meanwhile_by_the_same_seed(self):
        self.meanwhile("seed=5")

    def test_what_passes(self):
        """Another node has the lease, or redis has begun anew: it tries again."""
        for word in (b"WEIRLEASE another", b"WEIRSTALE x"):
            with self.subTest(word=word):
                self.client.flushall()
                leases = []

                def lease(args, answer, send):
                    leases.append(answer)
                    if len(leases) > 1:
                        self.liar.refusals.clear()
                    return answer
                self.liar.refusals["publish"] = liar.Error(word)
                self.liar.lies["lease"] = lease
                self.assertEqual(self.opened(len(word)).opened, "0 ")

    def test_many_at_once(self):
        """Each by a seed of its own, and each answer takes a while: one of them is first."""
        def late(args, answer, send):
            time.sleep(0.01)
            return answer
        for name in ("manifest", "lease", "read", "publish", "set", "append", "report"):
            self.liar.lies[name] = late
        with ThreadPoolExecutor(6) as pool:
            some = list(pool.map(lambda i: self.opened(i, capacity=1000), range(6)))
        self.assertEqual({n.opened for n in some}, {"0 "})
        self.assertEqual(len({n.stats()["seed"] for n in some}), 1)

    def test_killed_while_it_begins(self):
        """Whoever comes next opens all the same, and what was confirmed is there."""
        first = self.opened(0)
        first.ask("burst 1000")
        self.assertEqual(first.ask("flush 10000"), "0 ")
        for i in range(10):
            if i == 5: # from now on each would be the one that begins the set
                self.assertEqual(first.quit(), "0 ")
                self.client.flushall()
            with subprocess.Popen([PROGRAM, "1", "1", "1000", "set=seen", "url=" + self.liar.url],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as node:
                time.sleep(0.004 * i)
                node.kill()
            if i == 4:
                other = self.opened(2)
                self.assertEqual((other.opened, other.missing(0, 1000)), ("0 ", (0, 0)))
                self.assertEqual(other.quit(), "0 ")
        self.assertEqual(self.opened(3).opened, "0 ")

    def test_an_image_by_another_seed_than_is_said(self):
        self.opened(0)

        def manifest(args, answer, send):
            return liar.looking(answer[0], liar.changed(answer[1], b"hashing",
                                                        b"00000000deadbeef"))
        self.liar.lies["manifest"] = manifest
        opened = self.opened(1).opened
        self.assertTrue(opened.startswith("-129 "), opened)
        self.assertIn("by another seed or key than its manifest says", opened)

    def test_open_has_all(self):
        """What was confirmed before is there when it is open, however long the stream is."""
        first = self.opened(0)
        first.ask("burst 300000")
        self.assertEqual(first.ask("flush 30000"), "0 ")

        def read(args, answer, send):
            time.sleep(0.05)
            return answer
        self.liar.lies["read"] = read
        second = self.opened(1, "poll=60000")
        self.assertEqual((second.opened, second.missing(0, 300000)), ("0 ", (0, 0)))

    def test_one_key_more(self):
        """In as many bytes: that is another size, too."""
        self.assertEqual(self.opened(0, "kind=blocked").opened, "0 ")
        node = self.opened(1, "kind=blocked", capacity=1000001)
        group.wait_until("it says so", lambda: "params" in node.said())
        bytes_of = [word for word in node.said().split(" ") if word.isdigit()]
        self.assertEqual(bytes_of.count(bytes_of[-1]), 2, node.said())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
