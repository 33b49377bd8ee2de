# SPDX-License-Identifier: MIT
"""One detail each, of what whoever operates a set relies on: who counts as living, what is waited
for and how often it is tried, what is reported, who publishes, what a follower says and lets stay.
test_details.py PROGRAM WEIR"""
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest

import group
import liar
import tool

SET = "{weir:seen}:"
ALL = "confirm=4294967295"
OOM = liar.Error(b"OOM command not allowed when used memory > 'maxmemory'.")


class Details(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        self.ledger = self.nodes()

    def start(self, *options, **more):
        return self.ledger.start("url=" + self.liar.url, *options, **more)

    def full(self, *options):
        """A node whose room for batches is all taken, and more is pending."""
        node = self.start("pending=65536", *options)
        for _ in range(12):
            node.ask("burst 1000")
            time.sleep(0.03)
        self.assertTrue(node.ask("flush 1000").startswith("-11 "))
        return node

    # ---- who lives ----

    def test_a_report_of_some_time_ago(self):
        """Who reported within four of the times in which nodes report has not gone."""
        node, end = self.start(), time.monotonic() + 6
        name = "%016x" % 0xb
        self.client.xadd(SET + "stream", {"v": 1, "n": name, "q": 5, "s": "0" * 16, "i": ""})
        while time.monotonic() < end: # idle is 300
            self.client.hset(SET + "nodes", name, "%d host b" % (time.time() * 1000 - 700))
            time.sleep(0.02)
            if end - time.monotonic() < 5:
                self.assertFalse(node.stats()["complete"])

    def test_another_name(self):
        """Of who is spoken for by somebody else: nothing of the one before stays."""
        node = self.start()
        group.wait_until("it reports", lambda: self.client.hkeys(SET + "nodes"))
        before, = self.client.hkeys(SET + "nodes")
        self.client.xadd(SET + "stream", {"v": 1, "n": before, "q": 99, "s": "0" * 16, "i": ""})
        group.wait_until("it takes another", lambda: before not in self.client.hkeys(
            SET + "nodes") and len(self.client.hkeys(SET + "nodes")) == 1)
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_words_of_an_idle_node(self):
        """One each time, and not with each round."""
        self.start()
        before = self.client.xlen(SET + "stream")
        time.sleep(3)
        self.assertLess(self.client.xlen(SET + "stream") - before, 15) # idle is 300, poll 20

    def test_replicas_are_waited_for_where_somebody_asks(self):
        node = self.start(ALL)
        self.assertEqual(node.ask("confirm 1"), "1 ")
        before = self.liar.calls["role"]
        time.sleep(1)
        self.assertEqual(self.liar.calls["role"], before)

    # ---- what is confirmed, and what is said at the end ----

    def test_a_stream_that_goes_while_replicas_are_waited_for(self):
        """Nothing of what was sent is there any more, and the node knows."""
        node = self.start(ALL)
        self.assertEqual(node.ask("confirm 1"), "1 ")

        def role(args, answer, send):
            self.client.delete(SET + "stream")
            self.liar.refusals["append"] = OOM
            return answer
        self.liar.lies["role"] = role
        answer = node.ask("confirm 2")
        self.assertTrue(answer.startswith("-11 "), answer)

    def test_closed_though_it_is_full(self):
        """What was in no batch yet has not reached redis."""
        answer = self.full().quit()
        self.assertRegex(answer, r"^-11 .* bytes of inserts have not reached redis")

    def test_closed_soon_without_redis(self):
        node = self.start("connect=500", "answer=500")
        self.server.kill()
        group.wait_until("it knows", lambda: not node.stats()["connected"])
        node.ask("burst 10")
        begun = time.monotonic()
        node.quit()
        self.assertLess(time.monotonic() - begun, 6)

    # ---- full, and cut off ----

    def test_full_for_long_and_redis_is_away(self):
        """It comes back as soon as any other."""
        node = self.full()
        failures = node.stats()["failures"]
        group.wait_until("it has failed often", lambda: node.stats()["failures"] > failures + 12)
        self.server.kill()
        group.wait_until("it knows", lambda: not node.stats()["connected"])
        self.server.start()
        begun = time.monotonic()
        group.wait_until("it is back", lambda: node.stats()["connected"])
        self.assertLess(time.monotonic() - begun, 3.5)

    def test_redis_is_away_for_long(self):
        """Nodes try ever more rarely to come back: all of them would keep it busy."""
        node = self.start()
        self.server.kill()
        self.liar.close()
        group.wait_until("it knows", lambda: not node.stats()["connected"])
        before = node.stats()["failures"]
        time.sleep(15)
        self.assertLess(node.stats()["failures"] - before, 13)

    # ---- reports, and status ----

    def reports(self):
        return [dict(zip(of[::2], of[1::2])) for of in (
            text.decode().partition(" error ")[0].split(" ")[1:]
            for text in self.client.hvals(SET + "nodes"))]

    def test_an_image_that_is_refused(self):
        """Whoever asks how it stands hears that; and what is served is what was joined."""
        one, other = self.start(), self.start()
        one.ask("burst 100")
        self.assertEqual(one.ask("publish"), "0 ")
        newest = one.stats()["newest"]
        group.wait_until("both have it", lambda: other.stats()["generation"] == newest)
        group.wait_until("both report it", lambda: [of["generation"] for of in self.reports()] ==
                         ["%d" % newest] * 2)
        joined = {of["checksum"] for of in self.reports()}
        text = self.client.hget(SET + "manifest", "text")

        def get(args, answer, send):
            return bytes(len(answer)) if isinstance(answer, bytes) else answer
        self.liar.lies["get"] = self.liar.lies["getrange"] = get
        self.assertEqual(one.ask("record"), "0 ")
        group.wait_until("it is refused", lambda: other.stats()["refused"] == newest + 1)
        group.wait_until("it says so", lambda: any(
            of["refused"] == "%d" % (newest + 1) for of in self.reports()))
        self.assertNotEqual(text, self.client.hget(SET + "manifest", "text"))
        self.assertEqual({of["checksum"] for of in self.reports()
                          if of["generation"] == "%d" % newest}, joined)
        self.assertIn("refuses generation %d" % (newest + 1),
                      " ".join(self.status(status=1)["alerts"]))

    def test_an_image_on_its_way(self):
        publisher, go = self.ledger.start(), threading.Event()
        self.addCleanup(go.set)
        self.start()

        def get(args, answer, send):
            go.wait(20)
            return answer
        self.liar.lies["get"] = get
        self.assertEqual(publisher.ask("record"), "0 ")
        group.wait_until("it says so", lambda: [of for of in self.reports() if
                                                int(of["image"]) > int(of["here"])])

    def test_who_has_the_lease(self):
        """Whose duty it is to publish: status names it."""
        self.start(seconds=2)
        group.wait_until("it has published", lambda: self.client.exists(SET + "lease"))
        owner, epoch, taken = self.client.get(SET + "lease").decode().split(" ")
        self.assertGreater(int(taken), 1000) # milliseconds
        self.assertEqual(self.status()["lease_owner"], owner)
        self.assertEqual(self.status()["epoch"], epoch)

    # ---- who publishes ----

    def test_one_of_several(self):
        """Nodes whose duty it is do not do the same work."""
        for _ in range(3):
            self.start(seconds=1)
        publishers, end = set(), time.monotonic() + 6
        first = self.ledger.nodes[0].stats()["newest"]
        while time.monotonic() < end:
            text = self.client.hget(SET + "manifest", "text").decode()
            if int(re.search(r"(?m)^generation (\d+)$", text)[1]) > first + 1:
                publishers.add(re.search(r"(?m)^publisher (\w+)$", text)[1])
            time.sleep(0.02)
        self.assertEqual(len(publishers), 1, publishers)

    def test_another_was_faster(self):
        """Then it publishes on top of that."""
        node, left = self.start(), [2]

        def publish(args, answer, send):
            left[0] -= 1
            if not left[0]:
                del self.liar.refusals["publish"]
            return answer
        self.liar.refusals["publish"] = liar.Error(b"WEIRBASE 7")
        self.liar.lies["publish"] = publish
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertEqual(left[0], -1)

    def test_another_kind(self):
        """After a set was replaced by one of another kind nodes publish what it is now."""
        self.build("a", 0, 100, "-n", "10000", "--seed=7", "-k", "classic")
        self.build("b", 0, 200, "-n", "10000", "--seed=7", "-k", "blocked")
        self.replicate("publish", "a")
        node = self.start()
        self.replicate("publish", "--replace", "b", "--", "true")
        group.wait_until("it serves", lambda: node.stats()["generation"] == 2)
        node.ask("burst 10")
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertEqual(self.status()["current"]["kind"], "blocked")
        late = self.start()
        group.wait_until("all is there", lambda: not late.missing(node.name, 10)[0])
        self.assertEqual(late.stats()["error"], "")

    def test_opened(self):
        """That is no reason for a generation."""
        node = self.start(seconds=3600)
        time.sleep(1.5)
        self.assertEqual(node.stats()["newest"], 1)

    # ---- follow ----

    def test_two_of_one_file_and_one_is_behind(self):
        """What the other wrote is later, and stays."""
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.build("b", 500, 600, "--like=a")
        self.replicate("publish", "a")
        self.follow("image", "--url=" + self.liar.url)
        path = os.path.join(self.folder, "image")
        group.wait_until("the file", lambda: os.path.exists(path))
        self.liar.refusals["manifest"] = liar.Error(b"BUSY a script runs")
        self.replicate("publish", "b")
        self.follow("image")
        group.wait_until("it is written", lambda: self.query(path, 550))
        time.sleep(1.5) # each has let the other's stay
        before = os.stat(path)
        time.sleep(1.5)
        self.assertEqual(os.stat(path), before)
        self.assertTrue(self.query(path, 550))

    def copied(self, path, image):
        shutil.copy(path, image + ".new")
        os.replace(image + ".new", image) # it is whole whenever somebody looks

    def test_the_wrong_one_after_the_next(self):
        """That another wrote the generation before says nothing of who writes this one."""
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.build("c", 500, 600, "--like=a")
        self.replicate("publish", "a")
        for _ in range(2):
            self.weir("replicate", "publish", "--set=other", "c")
        wrong, image = (os.path.join(self.folder, name) for name in ("wrong", "image"))
        of = subprocess.Popen([tool.WEIR, "replicate", "follow", "--set=other", "-q", "-o", wrong],
                              env=self.environment)
        self.addCleanup(of.wait)
        self.addCleanup(of.kill)
        self.follow("image")
        group.wait_until("the files", lambda: os.path.exists(wrong) and os.path.exists(image))
        for _ in range(2): # as another who follows the set would
            self.copied(image, image + ".same")
            self.copied(image + ".same", image)
            time.sleep(0.7)
        before = os.stat(image)
        self.replicate("publish", "a")
        group.wait_until("the next", lambda: os.stat(image).st_ino != before.st_ino)
        time.sleep(0.7)
        self.copied(wrong, image)
        group.wait_until("it is written again", lambda: self.query(image, 50) and
                         not self.query(image, 550))

    def test_generations_are_said(self):
        self.build("a", 0, 100)
        self.replicate("publish", "a")
        with open(os.path.join(self.folder, "said"), "w+") as said:
            of = subprocess.Popen([tool.WEIR, "replicate", "follow", "--set=seen", "-o", "x"],
                                  cwd=self.folder, env=self.environment, stderr=said)
            self.addCleanup(of.wait)
            self.addCleanup(of.kill)
            group.wait_until("the file", lambda: os.path.exists(os.path.join(self.folder, "x")))
            self.replicate("publish", "a")
            group.wait_until("it is said", lambda: "generation 2 serves" in
                             open(said.name).read())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
