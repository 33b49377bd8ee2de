# SPDX-License-Identifier: MIT
"""Nodes at a server that lies in one way at a time. test_liar.py PROGRAM TOOL"""
import os
import pty
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

import group
import liar
import nodes

PROGRAM, TOOL = (os.path.abspath(a) for a in sys.argv[1:3])
STREAM = "{weir:seen}:stream"
HUGE = 2**64 - 1


def idle_entry(ms):
    return [b"%d-0" % ms, [b"v", b"1", b"n", b"00000000000000aa", b"q", b"1", b"s", b"0" * 16,
                           b"i", b""]]


class Endless:
    """A stream that always has as many entries more as were asked for."""

    def __init__(self):
        self.at = 10**15

    def __call__(self, args, answer, send):
        self.at += 64
        return liar.reading(self.at, self.at, [idle_entry(self.at + i) for i in range(64)])


def drip(args, answer, send):
    """Bytes that come before answer_ms is over, each time."""
    send(b"$100000\r\n")
    while True:
        send(b"x")
        time.sleep(0.3)


class Lies(unittest.TestCase):
    def setUp(self):
        self.errors = open(os.devnull, "w")
        self.addCleanup(self.errors.close)
        self.server = group.Server()
        self.addCleanup(self.server.close)
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)

    def start(self, *options, name=0, url=None, **more):
        node = nodes.Node(PROGRAM, name, "set=seen", "url=" + (url or self.liar.url), "poll=20",
                          "idle=300", *options, errors=self.errors, **more)
        self.addCleanup(node.close)
        self.assertEqual(node.opened, "0 ")
        return node

    def ends(self, node, patience=60):
        node.process.stdin.write("quit\n")
        node.process.stdin.flush()
        try:
            self.assertEqual(node.answers.get(timeout=patience)[0], "quit")
        except queue.Empty:
            self.fail("the node does not end")

    def tool(self, *args):
        return subprocess.run([TOOL, "replicate", *args], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60).stdout

    # ---- connections ----

    def test_an_idle_reader_connects_again(self):
        """Whoever has nothing to send notices all the same, and reads on."""
        reader, writer = self.start(), self.start(name=1)
        self.server.again()
        writer.rate(1000)
        group.wait_until("something was inserted", lambda: writer.stats()["inserted"] > 100)
        writer.rate(0)
        inserted = writer.stats()["inserted"]
        group.wait_until("the reader has it", lambda: reader.missing(1, inserted)[0] == 0)

    def test_no_password_comes_back(self):
        """Redis names the arguments of a command that it does not know."""
        server = group.Server(["--rename-command", 'AUTH ""'])
        self.addCleanup(server.close)
        url = "redis://:hunter2@127.0.0.1:%d" % server.port
        node = nodes.Node(PROGRAM, 0, "set=seen", "url=" + url, errors=self.errors)
        self.addCleanup(node.close)
        self.assertNotEqual(node.opened, "0 ")
        self.assertNotIn("hunter2", node.opened)
        self.assertNotIn(b"hunter2", self.tool("status", "--set=seen", "--url=" + url))

    def test_a_password_file_that_never_opens(self):
        server = group.Server(["--requirepass", "x"])
        self.addCleanup(server.close)
        path = os.path.join(self.server.folder, "password")
        with open(path, "w") as f:
            f.write("x\n")
        node = self.start("password_file=" + path, url="unix://" + server.socket)
        os.unlink(path)
        os.mkfifo(path)
        server.kill()
        node.rate(100) # so that it has something to connect for
        time.sleep(1)
        self.ends(node)

    # ---- answers that never end ----

    def test_closing_at_a_stream_without_end(self):
        """It begins when the last flush was confirmed."""
        node, endless, flushed = self.start("confirm=4294967295"), Endless(), []

        def role(args, answer, send):
            flushed.append(0)
            return answer

        def read(args, answer, send):
            if not flushed:
                return answer
            flushed.append(0)
            return answer if len(flushed) == 2 else endless(args, answer, send)
        self.liar.lies.update(role=role, read=read)
        self.ends(node)

    def test_closing_at_an_answer_without_end(self):
        node = self.start("answer=2000")
        self.liar.lies["hdel"] = drip
        self.ends(node)

    def test_closing_at_a_line_without_end(self):
        """Its end is looked for from its beginning on, whenever a piece arrives."""
        node, asked = self.start("answer=2000"), threading.Event()

        def read(args, answer, send):
            asked.set()
            send(b"+")
            for _ in range(255):
                send(b"x" * (1 << 20))
            return liar.Raw(b"\r\n")
        self.liar.lies["read"] = read
        group.wait_until("it is reading", asked.is_set)
        self.ends(node)

    def opening_ends(self, name, lie):
        self.liar.lies[name] = lie
        with subprocess.Popen([PROGRAM, "0", "0", "1000", "set=seen", "answer=2000",
                               "url=" + self.liar.url], stdin=subprocess.DEVNULL,
                              stdout=self.errors, stderr=self.errors) as opening:
            try:
                opening.wait(60)
            except subprocess.TimeoutExpired:
                self.fail("opening does not end")
            finally:
                opening.kill()

    def test_opening_at_a_stream_without_end(self):
        self.opening_ends("read", Endless())

    def test_opening_at_an_answer_without_end(self):
        self.opening_ends("manifest", drip)

    def answers(self, node, lie):
        """Does the node go on answering its own threads?"""
        self.liar.lies["read"] = lie
        time.sleep(0.5)
        node.process.stdin.write("publish\n")
        node.process.stdin.flush()
        try:
            self.assertEqual(node.answers.get(timeout=60)[0], "publish")
        except queue.Empty:
            self.fail("nobody answers who publishes")

    def test_an_answer_that_is_too_short(self):
        node = self.start()
        self.liar.lies["read"] = lambda args, answer, send: answer[:-1]
        group.wait_until("it is refused", lambda: "a reading of the stream" in
                         node.stats()["error"])
        del self.liar.lies["read"]
        group.wait_until("it is over", lambda: not node.stats()["error"])
        for n in range(4):
            with self.subTest(n=n):
                self.liar.lies["manifest"] = lambda args, answer, send, of=n: answer[:of]
                for _ in range(10): # on a busy machine the connection itself may go first
                    other = nodes.Node(PROGRAM, 1, "set=seen", "url=" + self.liar.url,
                                       errors=self.errors)
                    self.addCleanup(other.close)
                    if "the other end has" not in other.opened:
                        break
                self.assertIn("a reading of the manifest", other.opened)

    def test_a_last_id_that_is_none(self):
        node = self.start()
        for last in (b"7", b"7-", 7, None, []):
            with self.subTest(last=last):
                self.liar.lies["read"] = lambda args, answer, send, of=last: [*answer[:-1], of]
                group.wait_until("it is refused", lambda: "a reading of the stream" in
                                 node.stats()["error"])
                del self.liar.lies["read"]
                group.wait_until("it is over", lambda: not node.stats()["error"])

    def test_more_there_than_ever_added(self):
        self.answers(self.start(), lambda a, r, send: liar.reading(0, 5, [idle_entry(10**15)]))

    def test_a_trim_before_each_reading(self):
        added = iter(range(1000, 1 << 40, 1000))
        self.answers(self.start(), lambda a, r, send: liar.reading(next(added), 0))

    def test_ids_that_go_back_while_it_joins(self):
        """Another generation is replayed from entries that all are before its position."""
        node = self.start()
        node.rate(1000)
        group.wait_until("it has sent", lambda: self.server.client.xlen(STREAM) > 3)
        node.rate(0)
        self.assertEqual(node.ask("flush 10000"), "0 ")

        def manifest(args, answer, send):
            return liar.looking(answer[0], liar.changed(answer[1], b"generation", b"7"))
        self.liar.lies["manifest"] = manifest
        self.answers(node, lambda a, r, send: liar.reading(
            10**9, 10**9, [idle_entry(1) for _ in range(64)], b"7"))

    def test_a_server_that_says_nothing(self):
        """It takes the connection. Each verb ends, and names it."""
        with socket.socket(socket.AF_UNIX) as silent:
            path = self.server.folder + "/silent"
            silent.bind(path)
            silent.listen(100)
            image = self.server.folder + "/image"
            subprocess.run([TOOL, "build", "-q", "-o", image, "-"], input=b"1\n", check=True)
            for verb in (["status"], ["follow", "-o", self.server.folder + "/f"],
                         ["publish", image], ["rollback", "--generation=1"]):
                begun = time.monotonic()
                said = self.tool(*verb, "--set=seen", "--timeout=1", "--url=unix://" + path)
                self.assertIn(b"silent: ", said)
                self.assertIn(b"nothing within 1000 ms", said)
                self.assertLess(time.monotonic() - begun, 20)
            self.assertFalse(os.path.exists(self.server.folder + "/f"))

    def test_a_signal_while_it_opens(self):
        """An image that never comes keeps nobody from ending it."""
        self.assertEqual(self.start().ask("publish"), "0 ")
        asked = threading.Event()

        def get(args, answer, send):
            asked.set()
            return drip(args, answer, send)
        self.liar.lies["get"] = get
        with subprocess.Popen([TOOL, "replicate", "follow", "-q", "--set=seen", "-o",
                               self.server.folder + "/f", "--url=" + self.liar.url],
                              stderr=self.errors) as process:
            self.assertTrue(asked.wait(60))
            begun = time.monotonic()
            process.terminate()
            process.wait(60)
        self.assertLess(time.monotonic() - begun, 2)
        self.assertFalse(os.path.exists(self.server.folder + "/f"))

    # ---- generations ----

    def test_the_last_number_there_is(self):
        """It leaves no generation that nobody can read, and passes."""
        node = self.start()

        def manifest(args, answer, send):
            return liar.looking(answer[0],
                                liar.changed(answer[1], b"generation", b"%d" % HUGE))
        self.liar.lies.update(manifest=manifest, read=lambda a, r, send: [
            r[0], r[1], b"%d" % HUGE, *r[3:]])
        group.wait_until("it is refused", lambda: "none could follow" in
                         node.stats()["error"])
        self.liar.lies.clear()
        group.wait_until("it has gone", lambda: node.stats()["generation"] == 1)
        node.ask("rollback 1")
        text = self.server.client.hget("{weir:seen}:manifest", "text")
        self.assertNotIn(b"\ngeneration 0\n", text)
        group.wait_until("it publishes again", lambda: node.ask("publish") == "0 ")

    def test_an_older_generation_with_its_signature(self):
        keys = [os.path.join(self.server.folder, "key-" + n) for n in ("secret", "public")]
        self.tool("key", *keys)
        options = ["secret=" + keys[0], "trusted=" + keys[1]]
        publisher, reader = self.start(*options), self.start(*options, name=1)
        client = self.server.client
        old = client.hmget("{weir:seen}:manifest", "text", "signature")
        publisher.rate(5000)
        group.wait_until("inserts", lambda: publisher.stats()["inserted"] > 1000)
        publisher.rate(0)
        self.assertEqual(publisher.ask("flush 10000"), "0 ")
        inserted = publisher.stats()["inserted"]
        for _ in range(2):
            self.assertEqual(publisher.ask("publish"), "0 ")
        group.wait_until("the newest is joined", lambda: reader.stats()["generation"] == 3)
        self.liar.lies.update(manifest=lambda a, r, send: liar.looking(r[0], *old),
                              read=lambda a, r, send: liar.reading(r[0], r[0]))
        looks = self.liar.calls["manifest"] + 10
        group.wait_until("it is seen", lambda: self.liar.calls["manifest"] > looks or
                         reader.stats()["generation"] == 1)
        self.assertEqual(reader.missing(0, inserted)[0], 0)

    def test_a_folder_when_publishing_fails(self):
        """The image that is served stays, and what nobody published does not pile up."""
        folder = os.path.join(self.server.folder, "images")
        os.mkdir(folder)
        node = self.start("folder=" + folder)
        self.assertEqual(node.ask("publish"), "0 ")
        text = self.server.client.hget("{weir:seen}:manifest", "text").decode()
        served = [line[5:] for line in text.split("\n") if line.startswith("path ")][0]
        self.liar.refusals["publish"] = liar.Error(b"OOM command not allowed")
        for _ in range(8):
            self.assertTrue(node.ask("publish").startswith("-28 "))
        self.assertIn(served, os.listdir(folder))
        self.assertLess(len(os.listdir(folder)), 6)

    def test_a_folder_when_a_rollback_fails(self):
        """Its image is that of a generation that is kept."""
        folder = os.path.join(self.server.folder, "images")
        os.mkdir(folder)
        node = self.start("folder=" + folder)
        self.assertEqual(node.ask("publish"), "0 ")
        before = sorted(os.listdir(folder))
        self.assertEqual(len(before), 2)
        self.liar.refusals["publish"] = liar.Error(b"OOM command not allowed")
        self.assertTrue(node.ask("rollback 1").startswith("-28 "))
        self.assertEqual(sorted(os.listdir(folder)), before)

    def test_a_folder_and_a_path_of_an_enemy(self):
        """Who writes to redis and to the folder has no file removed elsewhere."""
        folder, elsewhere = (os.path.join(self.server.folder, n) for n in ("images", "elsewhere"))
        os.mkdir(folder)
        os.mkdir(elsewhere)
        node = self.start("folder=" + folder)
        client, kept = self.server.client, "{weir:seen}:kept"
        os.symlink(elsewhere, folder + "/seen-2-x")
        with open(elsewhere + "/file", "w") as f:
            f.write("somebody's")
        client.hset(kept, "1", re.sub(rb"(?m)^path .*$", b"path seen-2-x/file",
                                      client.hget(kept, "1")))
        self.liar.refusals["publish"] = liar.Error(b"WEIRBASE 99")
        self.assertTrue(node.ask("rollback 1").startswith("-17 "))
        self.assertTrue(os.path.exists(elsewhere + "/file"))

    def test_a_folder_of_a_set_that_begins_anew(self):
        """Images of before have higher numbers; none of them is the one that is served."""
        folder = os.path.join(self.server.folder, "images")
        os.mkdir(folder)
        node = self.start("folder=" + folder)
        for _ in range(4):
            self.assertEqual(node.ask("publish"), "0 ")
        node.quit()
        self.server.client.flushall()
        self.start("folder=" + folder)
        text = self.server.client.hget("{weir:seen}:manifest", "text").decode()
        served = [line[5:] for line in text.split("\n") if line.startswith("path ")][0]
        self.assertIn(served, os.listdir(folder))

    def test_an_honest_server(self):
        """Through the same way: what fails above fails by its lie."""
        node, other = self.start("confirm=4294967295"), self.start(name=1)
        node.rate(1000)
        group.wait_until("inserts", lambda: node.stats()["inserted"] > 100)
        node.rate(0)
        self.assertEqual(node.ask("flush 10000"), "0 ")
        inserted = node.stats()["inserted"]
        group.wait_until("the other has them", lambda: other.missing(0, inserted)[0] == 0)
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertEqual(node.ask("rollback 1"), "0 ")
        self.ends(node)

    def test_one_bad_entry(self):
        """Whoever can write to the stream stops no set for good: a record can replace it."""
        node = self.start("record=%s/record" % self.server.folder)
        self.server.client.xadd(STREAM, {"v": "1", "n": "00000000000000aa", "q": "1",
                                         "s": "0" * 16, "h": "12345678"})
        group.wait_until("it is met", lambda: node.stats()["error"])
        self.assertEqual(node.ask("record"), "0 ")

    # ---- what is shown ----

    def test_no_escapes_on_a_terminal(self):
        self.start()
        esc = b"\x1b[31m"

        def status(args, answer, send):
            of = list(answer)
            of[8] = of[11] = esc
            of[10] = 5
            of[12] = [b"%016x" % 7, b"1 host %sx pid 1 position %sx error %sx" % (esc, esc, esc)]
            return of
        self.liar.lies["status"] = status
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(TOOL, [TOOL, "replicate", "status", "--set=seen", "--url=" + self.liar.url])
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError: # its end
            pass
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertIn(b"generations that are kept", shown)
        self.assertNotIn(b"\x1b", shown)


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a server whose node has gone
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
