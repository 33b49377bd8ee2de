# SPDX-License-Identifier: MIT
"""A node that opens while another does the same, or finds something else than it expects: a liar
stands between. test_begins.py PROGRAM"""
import os
import sys
import unittest

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
            return answer if len(looks) > 1 else [answer[0], None, None]
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

    def test_an_image_by_another_seed_than_is_said(self):
        self.opened(0)

        def manifest(args, answer, send):
            return [answer[0], liar.changed(answer[1], b"hashing", b"00000000deadbeef"),
                    answer[2]]
        self.liar.lies["manifest"] = manifest
        opened = self.opened(1).opened
        self.assertTrue(opened.startswith("-129 "), opened)
        self.assertIn("by another seed or key than its manifest says", opened)

    def test_one_key_more(self):
        """In as many bytes: that is another size, too."""
        self.assertEqual(self.opened(0, "kind=blocked").opened, "0 ")
        node = self.opened(1, "kind=blocked", capacity=1000001)
        group.wait_until("it says so", lambda: "params" in node.said())
        bytes_of = [word for word in node.said().split(" ") if word.isdigit()]
        self.assertEqual(bytes_of.count(bytes_of[-1]), 2, node.said())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
