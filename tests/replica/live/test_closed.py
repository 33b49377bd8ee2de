# SPDX-License-Identifier: MIT
"""A node is closed at any moment while an image comes, from redis or a web server, however it comes
and whatever is done to redis meanwhile: it ends in time, and refused nothing that was whole.
test_closed.py PROGRAM [--runs=N] [--from=N]: how many, and the first: its number is its seed."""
import os
import random
import sys
import threading
import time
import unittest

import group
import liar
import nodes
import slow

RUNS, FROM = nodes.numbers("--runs=", 6, "--from=", 10)
SET = "{weir:seen}:"
BOUND = 5           # seconds that closing takes at most: flushing a second, and a busy machine
PATIENT = 20000     # ms for an answer, which closing does not wait for
RATE = 20000        # bytes a second of what drips: longer than that for a chunk
DAMAGES = {"bad", "chunks"}
WEB = ["fast", "drip", "drip", "hang", "bad", "cut", "none"]
REDIS = ["fast", "drip", "drip", "hang", "bad", "cut", "MOVED 1 127.0.0.1:1", "MOVED there",
         "ASK there", "LOADING x", "BUSY x", "READONLY x", "MASTERDOWN x", "NOAUTH x"]
ACTS = ["restart", "kill clients", "publish", "record", "chunks", "how", "no manifest", "asked"]


class Coming:
    """how: the way that an image comes; go: what hangs goes on."""

    def __init__(self, server, folder):
        self.liar, self.web = liar.Liar(server.socket), Web(folder, self)
        self.how, self.go = "fast", threading.Event()

    def change(self, how):
        self.how, self.web.rate = how, RATE if how == "drip" else None

    def get(self, args, answer, send):
        how = self.how
        if not isinstance(answer, bytes) or how == "fast":
            return answer
        if how == "drip":
            send(b"$%d\r\n" % len(answer))
            for i in range(0, len(answer), RATE // 20):
                send(answer[i:i + RATE // 20])
                self.go.wait(0.05)
            return liar.Raw(b"\r\n")
        if how == "hang":
            self.go.wait(60)
            return answer
        if how == "bad":
            return bytes(len(answer))
        if how == "cut":
            send(liar.encode(answer)[:len(answer) // 2])
            raise OSError # and the connection ends
        return liar.Error(how.replace("there", "1 127.0.0.1:%d" % self.liar.port).encode())

    def release(self):
        """Whoever waits for what comes waits no more."""
        self.go.set()
        self.web.rate = None

    def end(self):
        """The next begins."""
        self.release()
        self.go = threading.Event()
        self.liar.lies.clear()
        self.change("fast")

    def close(self):
        self.end()
        self.liar.close()
        self.web.close()


class Web(slow.Web):
    def __init__(self, folder, coming):
        self.coming = coming
        super().__init__(folder)

    def send(self, link, name, body):
        how = self.coming.how
        if how == "hang":
            self.coming.go.wait(60)
        elif how == "bad":
            body = bytes(len(body))
        elif how == "cut":
            body = body[:len(body) // 2]
        elif how == "none":
            return # whatever was promised
        super().send(link, name, body)


class Closed(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.folder = os.path.join(self.server.folder, "images")
        os.mkdir(self.folder)
        self.coming = Coming(self.server, self.folder)
        self.addCleanup(self.coming.close)
        self.web = slow.Web(self.folder) # the publisher's
        self.addCleanup(self.web.close)

    def begin(self):
        """By what it comes, and the two nodes."""
        self.server.client.flushall()
        self.ledger.capacity = 300000
        web = self.rng.random() < 0.4
        self.ways = WEB if web else REDIS
        url = ["url=" + self.coming.liar.url]
        if web:
            url += ["image_url=" + self.coming.web.url, "http=1"]
        if self.rng.random() < 0.3:
            url.append("read_url=" + self.coming.liar.url)
        self.acts = [self.rng.choice(ACTS) for _ in range(self.rng.randrange(4))]
        # who publishes waits for what comes
        url.append("answer=%d" % (1000 if "asked" in self.acts else PATIENT))
        own = ["folder=" + self.folder, "image_url=" + self.web.url, "http=1"] if web else []
        self.publisher = self.ledger.start(*own)
        self.reader = self.ledger.start(*url)
        self.did = [*url, "web" if web else "redis"]

    def change(self):
        self.coming.change(self.rng.choice(self.ways))
        self.did.append(self.coming.how)

    def act(self, name):
        client = self.server.client
        self.did.append(name)
        if name == "restart":
            self.server.again()
        elif name == "kill clients":
            client.client_kill_filter(_type="normal", skipme=True)
        elif name in ("publish", "record"):
            self.publisher.ask(name)
        elif name == "chunks":
            for chunk in client.scan_iter(SET + "c:*"):
                client.setrange(chunk, 0, bytes(client.strlen(chunk)))
        elif name == "how":
            self.change()
        elif name == "no manifest":
            client.delete(SET + "manifest")
        else: # which waits for what comes, for a web server a minute
            timer = threading.Timer(0.5, self.coming.release)
            timer.start()
            self.reader.ask("publish")
            timer.cancel()

    def close_it(self):
        if not DAMAGES & set(self.did):
            self.assertEqual(self.reader.stats()["refused"], 0)
        begun = time.monotonic()
        answer = self.reader.quit()
        self.assertLess(time.monotonic() - begun, BOUND)
        self.assertEqual(self.reader.process.returncode, 0)
        if not {"restart", "kill clients"} & set(self.did): # else it may come too soon after
            self.assertEqual(answer, "0 ")

    def once(self):
        self.begin()
        self.coming.liar.lies["get"] = self.coming.get
        self.change()
        self.reader.rate(1000)
        self.publisher.ask("record")
        for name in self.acts:
            time.sleep(self.rng.random() * 0.4)
            self.act(name)
        time.sleep(self.rng.random() * 0.4)
        self.close_it()
        self.coming.end()
        nodes.publish_anyhow(self.publisher)
        group.wait_until("who published is well", lambda: not self.publisher.stats()["error"])
        self.assertEqual(self.publisher.quit(), "0 ")

    def test_at_any_moment(self):
        for seed in range(FROM, FROM + RUNS):
            self.rng, self.did = random.Random(seed), []
            with self.subTest(run=seed):
                try:
                    self.once()
                except AssertionError as why:
                    self.fail("%s; what was done: %s" % (why, self.did))
                finally:
                    self.coming.end()
                    self.ledger.close()
                    self.ledger.nodes.clear()


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a server whose node has gone
    unittest.main(argv=[sys.argv[0], *nodes.words()])
