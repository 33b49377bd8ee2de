# SPDX-License-Identifier: MIT
"""What a node asks of its server before it says that something is done, and which answers it takes
for that: a liar stands between (liar.py). test_asked.py PROGRAM"""
import os
import re
import sys
import threading
import time
import unittest

import group
import liar
import nodes

PROGRAM = os.path.abspath(sys.argv[1])
SET = "{weir:seen}:"
ALL = "confirm=4294967295"
OOM = liar.Error(b"OOM command not allowed when used memory > 'maxmemory'.")


class Asked(unittest.TestCase):
    def setUp(self):
        self.errors = open(os.devnull, "w")
        self.addCleanup(self.errors.close)
        self.server = group.Server()
        self.addCleanup(self.server.close)
        self.client = self.server.client
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)

    def start(self, *options):
        node = nodes.Node(PROGRAM, 0, "set=seen", "url=" + self.liar.url, "poll=20", "idle=300",
                          *options, errors=self.errors)
        self.addCleanup(node.close)
        self.assertEqual(node.opened, "0 ")
        return node


class Confirmed(Asked):
    def test_what_was_inserted_meanwhile(self):
        """A ticket that is drawn while a round waits for replicas is the next round's."""
        node, held, go = self.start(ALL), threading.Event(), threading.Event()

        def role(args, answer, send):
            held.set()
            go.wait(60)
            return answer
        self.liar.lies["role"] = role
        node.ask("burst 1") # a thread of the program waits for it
        self.assertTrue(held.wait(60))
        self.liar.refusals["append"] = OOM
        threading.Timer(0.5, go.set).start()
        answer = node.ask("confirm 1")
        self.assertTrue(answer.startswith("-11 "), answer)

    def begins_anew(self, name):
        """The server begins anew at this command, and has nothing of what it was sent."""
        node = self.start(ALL)

        def lie(args, answer, send):
            self.client.hset(SET + "manifest", "token", "f" * 16)
            self.client.delete(SET + "stream")
            self.liar.refusals["append"] = OOM
            return answer
        self.liar.lies[name] = lie
        answer = node.ask("confirm 1")
        self.assertTrue(answer.startswith("-11 "), answer)

    def test_another_epoch_after_sending(self):
        self.begins_anew("exists")

    def test_another_epoch_while_replicas_are_waited_for(self):
        self.begins_anew("role")

    def test_a_full_server(self):
        """OOM is redis's own word; WEIRFULL is the script's (test_scripts.py)."""
        for word in (OOM, liar.Error(b"WEIRFULL 1 of 1 bytes are used")):
            with self.subTest(word=word):
                node = self.start()
                self.liar.refusals["append"] = word
                answer = node.ask("confirm 1")
                self.assertTrue(answer.startswith("-11 "), answer)
                group.wait_until("it says so", lambda: bytes(word).decode() in
                                 node.stats()["error"])
                del self.liar.refusals["append"]
                self.assertEqual(node.ask("flush 10000"), "0 ")
                node.close()

    def test_another_number_beside_a_manifest(self):
        """It is no reason to look again and again, be it another each time."""
        self.start("poll=500")
        numbers = iter(range(77, 1 << 40))
        self.liar.lies["read"] = lambda args, answer, send: [
            *answer[:2], b"%d" % next(numbers), *answer[3:]]
        group.wait_until("it looks", lambda: self.liar.calls["manifest"] > 2)
        before = self.liar.calls["manifest"]
        time.sleep(2)
        self.assertLess(self.liar.calls["manifest"] - before, 30)

    def test_any_number_of_milliseconds(self):
        node = self.start()
        for milliseconds in (10001, 10500, 10999): # a fraction of a second that is carried
            self.assertEqual(node.ask("flush %d" % milliseconds), "0 ")


class Told(Asked):
    """What whoever operates a node hears of it."""

    def hearing(self, name=0, capacity=1000000, *options):
        self.log = open(os.path.join(self.server.folder, "said"), "w+")
        self.addCleanup(self.log.close)
        node = nodes.Node(PROGRAM, name, "set=seen", "url=" + self.liar.url, "poll=20",
                          "idle=300", *options, errors=self.log, capacity=capacity)
        self.addCleanup(node.close)
        self.assertEqual(node.opened, "0 ")
        return node

    def said(self, word):
        self.log.seek(0)
        return [line for line in self.log if word in line]

    def test_a_server_that_has_nothing_any_more(self):
        """It answers, and is not well."""
        node = self.hearing()
        self.client.flushall()
        group.wait_until("it says so", lambda: self.said("redis has no generation of it"))
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.assertEqual(self.said("all is well"), [])
        self.assertEqual(node.ask("publish"), "0 ")
        group.wait_until("it is over", lambda: self.said("all is well again"))
        self.assertEqual(len(self.said("redis has no generation of it")), 1)

    def test_a_full_server_is_one_failure(self):
        """However many numbers its sentences have, one line when it begins, one when it is over."""
        node, numbers = self.hearing(), iter(range(98, 100000))

        def append(args, answer, send):
            return liar.Error(b"WEIRFULL %d of %d bytes are used" % (next(numbers), 10 ** 6))
        self.liar.lies["append"] = append
        node.ask("burst 1")
        calls = self.liar.calls.get("append", 0) + 5
        group.wait_until("it has tried", lambda: self.liar.calls.get("append", 0) > calls)
        self.assertIn("WEIRFULL", node.stats()["error"])
        del self.liar.lies["append"]
        self.assertEqual(node.ask("flush 20000"), "0 ")
        group.wait_until("it is over", lambda: self.said("all is well again"))
        self.assertEqual(len(self.said("no room")), 1, self.said(""))

    def test_a_full_server_without_inserts(self):
        """Words of an idle node are refused now and then: it is full between them too."""
        node = self.hearing()
        self.liar.refusals["append"] = liar.Error(b"WEIRFULL 1")
        calls = self.liar.calls.get("append", 0) + 4
        group.wait_until("it has tried", lambda: self.liar.calls.get("append", 0) > calls)
        self.assertEqual((len(self.said("no room")), self.said("well again")), (1, []))
        del self.liar.refusals["append"]
        group.wait_until("it is over", lambda: self.said("all is well again"))
        self.assertEqual(node.stats()["error"], "")

    def test_what_nobody_has(self):
        """It waits no more, and says what it waited for."""
        one = self.hearing()
        one.ask("burst 1")
        self.assertEqual(one.ask("flush 10000"), "0 ")
        one.kill()
        self.server.client.xtrim("{weir:seen}:stream", maxlen=0, approximate=False)
        self.hearing(1)
        group.wait_until("it says so", lambda: self.said("no node that lives has sent them"))
        time.sleep(0.5)
        self.assertEqual(len(self.said("no node that lives")), 1)

    def test_another_failure_is_another(self):
        node = self.hearing()
        for word in (b"WEIRFULL 1", b"OOM 1", b"MISCONF x"):
            self.liar.refusals["append"] = liar.Error(word)
            node.ask("burst 1")
            group.wait_until("it says so", lambda: self.said(word.decode()))

    def test_the_first_report_after_a_failure(self):
        node, reports = self.hearing(), []

        def report(args, answer, send):
            reports.append(args[1].decode())
            return answer
        self.server.kill()
        group.wait_until("it fails", lambda: node.stats()["error"])
        time.sleep(1) # so that a report is due
        self.liar.lies["report"] = report
        self.server.start()
        group.wait_until("it reports", lambda: reports)
        self.assertTrue(reports[0].endswith(" error "), reports[0])

    def test_params_of_a_set_that_is_there(self):
        self.hearing()
        group.wait_until("it begins", lambda: self.said("redis had no generation of it"))
        self.hearing(1)
        time.sleep(0.5)
        self.assertEqual(self.said("params") + self.said("had no"), [])
        node = self.hearing(2, 5000)
        group.wait_until("it says so", lambda: self.said("params"))
        line = "".join(self.said("params"))
        self.assertRegex(line, r"^node 2: 0 set seen: .* 1000000 keys .* classic, 5000 keys")
        node.ask("burst 1")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.assertEqual(len(self.said("params")), 1)
        self.hearing(3, 1000000, "rate=0.01")
        group.wait_until("it says so", lambda: self.said("params"))

    def test_params_of_a_growing_set_that_is_there(self):
        """It has grown, or will: only another kind is something else."""
        self.hearing(0, 1000, "kind=growing")
        group.wait_until("it begins", lambda: self.said("redis had no generation of it"))
        self.hearing(1, 5000, "kind=growing")
        time.sleep(0.5)
        self.assertEqual(self.said("params"), [])
        self.hearing(2, 1000)
        group.wait_until("it says so", lambda: self.said("params"))

    def test_another_node_was_faster(self):
        """Whose duty it is to publish now and then has no failure then."""
        node = self.hearing(0, 1000000)
        node.quit()
        self.liar.refusals["publish"] = liar.Error(b"WEIRBASE 7")
        node = nodes.Node(PROGRAM, 1, "set=seen", "url=" + self.liar.url, "poll=20", "idle=300",
                          seconds=1, errors=self.errors)
        self.addCleanup(node.close)
        group.wait_until("it has tried", lambda: self.liar.calls.get("publish", 0) > 2)
        self.assertEqual(node.stats()["error"], "")


class Replicas(Asked):
    """ROLE and WAIT are answered by what a test says."""

    def setUp(self):
        super().setUp()
        self.there, self.have, self.waited, self.role = 0, 0, [], b"master"
        self.liar.refusals.update(role=[b"x"], wait=0)
        self.liar.lies.update(role=self.say_role, wait=self.say_wait)

    def say_role(self, args, answer, send):
        return [self.role, 100, [[b"127.0.0.1", b"%d" % (i + 1), b"100"]
                                 for i in range(self.there)]]

    def say_wait(self, args, answer, send):
        self.waited.append(int(args[0]))
        return self.have

    def not_confirmed(self, node):
        node.ask("burst 1")
        answer = node.ask("flush 1000")
        self.assertTrue(answer.startswith("-110 "), answer)

    def test_each_of_all(self):
        node = self.start(ALL)
        self.there, self.have = 3, 2
        self.not_confirmed(node)
        self.assertEqual(set(self.waited), {3})
        self.have = 3
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_one_that_was_there(self):
        """It may be promoted, though it is cut off for the moment."""
        node = self.start(ALL)
        self.there, self.have = 2, 2
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.there = self.have = 1
        self.not_confirmed(node)
        self.assertEqual(set(self.waited), {2})

    def test_one_that_is_still_given_what_the_master_had(self):
        """ROLE leaves it out, and it may be promoted."""
        node = self.start(ALL)
        come = [1]
        self.liar.lies["info"] = lambda args, answer, send: re.sub(
            rb"connected_slaves:\d+", b"connected_slaves:%d" % come[0], answer)
        self.not_confirmed(node)
        self.assertEqual(set(self.waited), {1})
        come[0] = 0
        self.assertEqual(node.ask("flush 10000"), "0 ")
        for other in (b"nothing of it", 5):
            self.liar.lies["info"] = lambda args, answer, send: other
            self.not_confirmed(node)

    def test_none(self):
        node = self.start(ALL)
        self.assertEqual(node.ask("flush 10000"), "0 ")
        self.assertEqual(self.waited, [])

    def test_a_number_of_them(self):
        node = self.start("confirm=2")
        self.there, self.have = 5, 1
        self.not_confirmed(node)
        self.assertEqual(set(self.waited), {2})
        self.have = 2
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_no_master(self):
        node = self.start(ALL)
        self.role = b"slave"
        self.not_confirmed(node)
        self.role = b"master"
        self.assertEqual(node.ask("flush 10000"), "0 ")

    def test_waited_for_by_another_connection(self):
        """WAIT there says nothing of what this one was sent."""
        node, calls = self.start("confirm=1"), []

        def wait(args, answer, send):
            calls.append(0)
            return (liar.Error(b"MOVED 1 127.0.0.1:%d" % self.liar.port) if len(calls) % 2
                    else 9)
        self.liar.lies["wait"] = wait
        self.not_confirmed(node)
        self.assertGreater(len(calls), 1)

    # ---- generations ----

    def covered(self, node):
        node.ask("burst 10")
        group.wait_until("it is sent", lambda: node.ask("flush 10000") == "0 ")
        self.assertEqual(node.ask("publish"), "0 ")
        text = self.client.hget(SET + "manifest", "text").decode()
        return re.search(r"(?m)^covered (.*)$", text)[1]

    def test_a_generation_that_replicas_lack(self):
        """What it has is kept by the nodes until one is known to be safe (L3)."""
        self.there = 1
        node = self.start("replicas=1")
        for _ in range(3):
            self.assertEqual(self.covered(node), "0-0")
        self.have = 1
        self.assertNotEqual(self.covered(node), "0-0")


class Chunks(Asked):
    def chunks(self):
        return {name: self.client.ttl(name) for name in self.client.scan_iter(SET + "c:*")}

    def test_of_what_nobody_published(self):
        """They go, at once where it was refused; else by themselves."""
        node = self.start()
        before = self.chunks()
        self.assertGreater(len(before), 2)
        self.liar.refusals.update(publish=liar.Error(b"WEIRLEASE another"),
                                  release=liar.Error(b"ERR which is not why"))
        answer = node.ask("publish")
        self.assertTrue(answer.startswith("-1 ") and "WEIRLEASE" in answer, answer)
        self.assertEqual(self.chunks().keys(), before.keys())
        self.liar.refusals["publish"] = liar.Error(b"ERR whether it was nobody knows")
        self.assertIn("nobody knows", node.ask("publish"))
        after = self.chunks()
        self.assertGreater(len(after), len(before))
        for name in after.keys() - before.keys():
            self.assertTrue(0 < after[name] <= 3600, after)

    def test_without_room_for_all(self):
        node, sets = self.start(), []
        before = self.chunks()

        def lie(args, answer, send):
            sets.append(0)
            return OOM if len(sets) == 3 else answer
        self.liar.lies["set"] = lie
        self.assertTrue(node.ask("publish").startswith("-28 "))
        self.assertEqual(self.chunks().keys(), before.keys())

    def test_of_what_is_kept_no_more(self):
        node = self.start()
        first = self.chunks()
        for _ in range(2):
            self.assertEqual(node.ask("publish"), "0 ")
        for name, ttl in self.chunks().items():
            self.assertTrue(0 < ttl <= 120 if name in first else ttl == -1, (name, ttl))

    def test_an_image_that_is_not_there_at_first(self):
        """Each time that a node tries to begin, it asks for it."""
        self.start().quit()
        self.liar.lies["get"] = lambda args, answer, send: None
        before = self.liar.calls.get("get", 0)
        node = nodes.Node(PROGRAM, 1, "set=seen", "url=" + self.liar.url, errors=self.errors)
        self.addCleanup(node.close)
        self.assertTrue(node.opened.startswith("-11 "), node.opened)
        self.assertEqual(self.liar.calls["get"] - before, 8)

    def test_an_image_that_is_too_large(self):
        self.start()
        node = nodes.Node(PROGRAM, 1, "set=seen", "url=" + self.liar.url, "image=100000",
                          errors=self.errors)
        self.addCleanup(node.close)
        self.assertTrue(node.opened.startswith("-27 ") and "allowed are 100000" in node.opened,
                        node.opened)


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a server whose node has gone
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
