# SPDX-License-Identifier: MIT
"""What a node reports of itself to redis (due.c), against what is so. test_reports.py PROGRAM"""
import os
import sys
import time
import unittest

import group
import liar
import nodes

SET = "{weir:seen}:"


class Reports(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.client = self.server.client

    def start(self, *options, capacity=1000, seconds=0):
        self.ledger.capacity = capacity
        return self.ledger.start(*options, seconds=seconds)

    def reports(self):
        """Of nodes that live: the words of each, up to its error."""
        texts = [of.decode().partition(" error ")[0].split(" ")[1:]
                 for of in self.client.hvals(SET + "nodes")]
        return [dict(zip(of[::2], of[1::2])) for of in texts]

    def come_to(self, **words):
        def are_there():
            return [of for of in self.reports()
                    if all(of.get(k) == str(v) for k, v in words.items())]
        try:
            group.wait_until("it reports", are_there)
        except AssertionError:
            self.fail("%s: %s" % (words, self.reports()))
        return are_there()

    def last(self):
        return self.client.xinfo_stream(SET + "stream")["last-generated-id"].decode()

    def test_how_it_stands(self):
        node = self.start(seconds=1000)
        node.ask("burst 10")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.come_to(publisher=1, complete=1, lacking=0, saturated=0, nearly_full=0, capacity=1000,
                     generation=1)
        group.wait_until("it reports its keys", lambda: 9 <= int(self.reports()[0]["keys"]) <= 11)
        group.wait_until("it reports its position", lambda: any(
            of["position"] == self.last() for of in self.reports()))
        self.start()
        self.come_to(publisher=0)
        seed = self.client.xrange(SET + "stream")[0][1][b"s"]
        self.client.xadd(SET + "stream", {"v": 1, "n": "a" * 16, "q": 5, "s": seed, "i": ""})
        self.come_to(complete=0)
        group.wait_until("it reports for how long", lambda: any(
            of["complete"] == "0" and int(of["lacking"]) >= 100 for of in self.reports()))

    def test_how_full_it_is(self):
        """Too many keys for a filter of one size; at last all bits are set, and none can tell."""
        node = self.start(capacity=100)
        node.ask("burst 150")
        self.come_to(saturated=1, nearly_full=0, capacity=100)
        node.ask("burst 100000")
        self.come_to(saturated=1, keys=10 ** 18)

    def test_how_full_it_may_get(self):
        """Of one that grows: what it may come to, and not what it is for now."""
        node = self.start("kind=growing")
        self.come_to(nearly_full=0)
        capacity = int(self.reports()[0]["capacity"])
        self.assertTrue(4000 <= capacity < 4200, capacity)
        node.ask("burst 3900")
        self.come_to(saturated=0, nearly_full=1)

    def says(self):
        """What nodes tell their applications is in a file."""
        self.ledger.errors = open(self.server.folder + "/said", "w")
        self.addCleanup(self.ledger.errors.close)

    def told(self):
        """How the sentences that are long end."""
        with open(self.ledger.errors.name) as f:
            return [line[-4:-1] for line in f if "long" in line]

    def test_a_long_sentence(self):
        """What leads out stands at its end."""
        self.says()
        self.start().quit()
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.refusals["publish"] = liar.Error(b"WEIRCHUNK " + b"long " * 37 + b"end")
        node = self.start("url=" + between.url, seconds=1)
        group.wait_until("it says so", lambda: node.stats()["error"].endswith("long end"))
        self.assertGreater(len(node.stats()["error"]), 256)
        group.wait_until("it reports it", lambda: [
            of for of in self.client.hvals(SET + "nodes") if of.endswith(b"long end")])
        self.assertTrue(node.ask("publish").endswith("long end"))
        self.assertEqual(set(self.told()), {"end"})

    def test_a_long_sentence_of_a_round(self):
        """It is told once, and once more when its end is another; who opens then hears it too."""
        self.says()
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        node = self.start("url=" + between.url)
        for end in "end", "END":
            between.refusals["read"] = liar.Error(b"NOPERM " + b"long " * 37 + end.encode())
            group.wait_until("it says so", lambda: node.stats()["error"].endswith("long " + end))
            self.assertGreater(len(node.stats()["error"]), 256)
            failures = node.stats()["failures"]
            group.wait_until("it tries", lambda: node.stats()["failures"] > failures + 1)
        self.assertEqual(self.told(), ["end", "END"])
        between.refusals["manifest"] = between.refusals["read"]
        with self.assertRaisesRegex(AssertionError, "did not open: .* long END$"):
            self.start("url=" + between.url)

    def test_a_long_name_of_a_file(self):
        node = self.start()
        path = os.path.join(self.server.folder, "x" * 220, "y")
        self.assertGreater(len(path), 230)
        self.assertTrue(node.ask("save " + path).endswith(": no such file or directory"))
        group.wait_until("it says so", lambda: node.stats()["error"].endswith(
            ": no such file or directory"))

    def test_another_name(self):
        """It says what it was opened as, by which its reports of before are known for its own."""
        self.start()
        name = self.client.hkeys(SET + "nodes")[0].decode() if self.come_to() else None
        self.come_to(opened=name)
        self.client.xadd(SET + "stream", {"v": 1, "n": name, "q": 10 ** 6, "s": "0" * 16, "i": ""})
        group.wait_until("it takes another", lambda: name.encode() not in
                         self.client.hkeys(SET + "nodes"))
        self.come_to(opened=name)

    def test_no_room_for_a_report(self):
        """That it is full a server says to those who insert."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.refusals["report"] = liar.Error(b"OOM")
        node = self.start("url=" + between.url)
        calls = between.calls
        group.wait_until("it has tried", lambda: calls.get("report", 0) > 2)
        self.assertEqual(node.stats()["error"], "")

    def test_a_generation_that_is_due(self):
        """That another publishes is no failure; what else is stays until one is published."""
        self.start().quit()
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        between.refusals["publish"] = liar.Error(b"WEIRLEASE another")
        node = self.start("url=" + between.url, seconds=1)
        group.wait_until("it has tried", lambda: between.calls.get("publish", 0) > 1)
        self.assertEqual(node.stats()["error"], "")
        between.refusals["publish"] = liar.Error(b"WEIRCHUNK 0")
        group.wait_until("it says so", lambda: "has gone" in node.stats()["error"])
        for _ in range(20):
            self.assertIn("has gone", node.stats()["error"])
            time.sleep(0.04) # rounds in which nothing is due
        del between.refusals["publish"]
        group.wait_until("it is over", lambda: not node.stats()["error"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
