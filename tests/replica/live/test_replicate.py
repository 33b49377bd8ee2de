# SPDX-License-Identifier: MIT
"""weir replicate beside nodes; signed generations, and images by HTTP.
test_replicate.py PROGRAM WEIR SOURCE LIBRARY LIBRARY_REDIS"""
import json
import os
import subprocess
import sys
import threading
import unittest
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import group
import nodes
import tool


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Replicate(tool.Tool):
    def test_publish_follow_replace_rollback(self):
        self.assertIn("no generation of", self.replicate("status", status=1))
        self.assertIn("no generation of it", self.replicate(
            "publish", "--replace", "x", "--", "true", status=2))
        self.assertIn("no generation of it", self.replicate(
            "rollback", "--generation=1", status=2))
        self.assertIn("exclude", self.replicate("status", "--json", "--prometheus", status=2))
        self.build("a", 0, 1000, "-n", "10000", "-p", "1e-6")
        self.assertEqual(self.replicate("publish", "a"), "set seen: generation 1\n")
        process, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))
        self.assertTrue(self.query(path, 999) and not self.query(path, 1000))
        self.build("b", 1000, 2000, "--like=a")
        self.replicate("publish", "--keep=4", "b")
        group.wait_until("both", lambda: self.query(path, 1999) and self.query(path, 0))
        self.assertEqual(self.replicate("publish", "--keep=4", "--replace", "c", "--", "cp",
                                        "b", "c"), "set seen: generation 3\n")
        group.wait_until("it is replaced", lambda: not self.query(path, 0))
        self.assertIn("exit status 7", self.replicate("publish", "--replace", "c", "--", "sh",
                                                      "-c", "exit 7", status=2))
        self.replicate("rollback", "--generation=2", "--keep=4")
        group.wait_until("it is back", lambda: self.query(path, 0))
        self.assertIn("not kept", self.replicate("rollback", "--generation=17", status=1))
        said = self.status()
        self.assertEqual([g["generation"] for g in said["kept"]], [4, 3, 2, 1])
        self.assertEqual(said["current"]["generation"], 4)
        self.assertEqual(len(said["nodes"]), 1) # those that ended took their reports away
        self.replicate("rollback", "--generation=2") # what is kept stays, to return to that
        self.assertEqual([g["generation"] for g in self.status()["kept"]], [5, 4, 3, 2, 1])
        self.assertEqual(said["alerts"], [])
        self.assertEqual(self.replicate("status", "-q"), "")
        group.wait_until("how full it is",
                         lambda: 1900 < self.status()["nodes"][0]["keys"] < 2100)
        self.assertEqual(self.status()["nodes"][0]["capacity"], 10000)
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.status()["nodes"], [])

    def test_follow_cannot_write(self):
        """That is not well, until it can."""
        self.build("a", 0, 1000)
        self.replicate("publish", "a")
        folder, away = (os.path.join(self.folder, name) for name in ("served", "away"))
        os.mkdir(folder)
        self.follow("served/image", "--timeout=2")
        group.wait_until("the file", lambda: os.path.exists(os.path.join(folder, "image")))
        self.assertEqual(self.status()["alerts"], [])
        os.rename(folder, away)
        self.replicate("publish", "a")

        def alerts():
            return self.status(status=None)["alerts"]
        group.wait_until("it says so", lambda: any("served/image" in a for a in alerts()))
        os.rename(away, folder)
        group.wait_until("it is well again", lambda: not alerts())

    def test_a_set_of_keys(self):
        """--stream=keys: --replace may bring another seed, and followers take it."""
        self.build("a", 0, 1000, "-n", "10000", "-p", "1e-6")
        self.assertIn("hashes or keys", self.replicate("publish", "--stream=x", "a", status=2))
        self.replicate("publish", "--stream=keys", "a")
        self.assertEqual(self.status()["current"]["stream"], "keys")
        _, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))
        self.build("b", 500, 2000, "-n", "10000", "-p", "1e-6")
        self.replicate("publish", "--replace", "c", "--", "cp", "b", "c")
        group.wait_until("it is replaced", lambda: self.query(path, 1999))
        self.assertFalse(self.query(path, 0))
        self.replicate("rollback", "--generation=1")
        group.wait_until("it is back", lambda: self.query(path, 0))
        self.server.client.delete(*self.server.client.keys("*"))
        self.replicate("publish", "a")
        self.assertEqual(self.status()["current"]["stream"], "hashes")
        self.assertIn("another seed", self.replicate("publish", "--replace", "c", "--", "cp", "b",
                                                     "c", status=1))
        self.assertIn("are of hashes", self.replicate("publish", "--stream=keys", "a", status=2))

    def test_an_image_that_is_gone_is_replaced(self):
        """By one who cannot have it: from the record, and by a rollback."""
        for what in ([], ["--stream=keys"]):
            for key in self.server.client.scan_iter("*"):
                self.server.client.delete(key)
            self.build("a", 0, 1000, "-n", "10000", "-p", "1e-6")
            self.replicate("publish", *what, "a")
            self.build("b", 0, 2000, "--like=a")
            self.replicate("publish", "--replace", "c", "--", "cp", "b", "c")
            self.lose_chunks()
            self.assertIn("is not there", self.replicate("publish", "b", status=2))
            done = self.replicate("rollback", "--generation=1", status=0)
            self.assertIn("generation 3", done)
            process, path = self.follow("served")
            group.wait_until("it serves", lambda: os.path.exists(path) and self.query(path, 0))
            self.lose_chunks()
            self.replicate("publish", "--replace", "c", "--", "cp", "b", "c")
            self.assertNotIn("becomes another", self.aside) # of what it was nothing is known
            group.wait_until("it is replaced", lambda: self.query(path, 1999))
            process.terminate()
            process.wait(60)
            os.unlink(path)

    def test_a_manifest_that_cannot_be_read(self):
        self.build("a", 0, 1000, "-n", "10000", "-p", "1e-6")
        self.replicate("publish", "a")
        self.server.client.hset("{weir:seen}:manifest", "text", "rubbish")
        for command in (["rollback", "--generation=1"],
                        ["publish", "--replace", "c", "--", "cp", "a", "c"]):
            self.assertIn("a node that serves the set can publish it again",
                          self.replicate(*command, status=2))

    def lose_chunks(self):
        """Of the newest generation."""
        stored = self.server.client.hget("{weir:seen}:manifest", "text").split(b"\nchunks ")[1]
        stored = stored.split(b"\n")[0].split(b" ")[2].decode()
        self.server.client.delete(*self.server.client.scan_iter("{weir:seen}:c:%s:*" % stored))

    def test_keyed(self):
        """Who has the key joins, whoever has none, or another, does not."""
        for name in ("key", "other"):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as f:
                f.write(name.ljust(16).encode())
            os.chmod(path, 0o600)
        self.build("a", 0, 1000, "--keyed-by=key")
        self.replicate("publish", "--keyed-by=key", "a")
        for options in ([], ["--keyed-by=other"]):
            self.assertIn("key", self.replicate("rollback", "--generation=1", *options,
                                                status=2))
        self.replicate("rollback", "--generation=1", "--keyed-by=key")
        self.assertEqual(self.status()["current"]["generation"], 2)

    def test_what_is_not_well(self):
        ledger = self.nodes()
        node = ledger.start()
        text = self.replicate("status", "--prometheus")
        self.assertIn('weir_replica_generation{set="seen"} 1\n', text)
        self.assertIn('weir_replica_alerts{set="seen"} 0\n', text)
        self.assertIn("age_seconds{set=\"seen\",node=\"", text)
        group.wait_until("it is old", lambda: self.status()["current"]["age_seconds"] > 1.1)
        self.assertIn("the limit is 1", self.replicate("status", "--max-age=1", status=1))
        self.server.client.config_set("maxmemory", 10 ** 9)
        self.server.client.config_set("maxmemory-policy", "allkeys-lru")
        self.assertIn("noeviction", self.replicate("status", status=1))
        self.server.client.config_set("maxmemory", 0)
        for chunk in self.server.client.scan_iter("{weir:seen}:c:*"):
            self.server.client.delete(chunk)
        self.server.client.hset("{weir:seen}:manifest", "text", "rubbish\x1b[31m")
        self.assertIn("cannot be read", self.replicate("status", status=1))
        self.server.client.hset("{weir:seen}:nodes", "%016x" % 7, "rubbish")
        self.server.client.hset("{weir:seen}:nodes", "%016x" % 8,
                                "1 host \x1b[31m generation x error \x1b[32m")
        self.server.client.hset("{weir:seen}:nodes", "x", "")
        text = self.replicate("status", "--json", status=1)
        self.assertNotIn("\x1b", text)
        bad = [n for n in json.loads(text)["nodes"] if n["node"] == "%016x" % 8]
        self.assertEqual((bad[0]["generation"], bad[0]["error"]), (0, "\x1b[32m"))
        self.assertEqual(node.stats()["lost"], 0)

    def test_signed(self):
        self.weir("replicate", "key", "secret", "public")
        secret, public = ("%s/%s" % (self.folder, name) for name in ("secret", "public"))
        ledger = self.nodes("secret=" + secret, "trusted=" + public)
        first = ledger.start()
        second = ledger.start()
        first.rate(10000)
        first.ask("flush 10000")
        self.assertEqual(first.ask("publish"), "0 ")
        nodes.settle(self, ledger)
        self.assertTrue(self.status()["current"]["signed"])
        generation = second.stats()["generation"]
        # one that anybody makes
        client = self.server.client
        good = client.hgetall("{weir:seen}:manifest")
        client.hset("{weir:seen}:manifest", mapping={
            "text": good[b"text"].replace(b"generation %d" % generation,
                                          b"generation %d" % (generation + 1)),
            "generation": generation + 1})
        group.wait_until("it is refused", lambda: "signature" in second.stats()["error"])
        self.assertEqual(second.stats()["generation"], generation)
        client.hset("{weir:seen}:manifest", "signature", "")
        group.wait_until("it is refused", lambda: "signature" in second.stats()["error"])
        # inserts go on meanwhile
        self.assertEqual(first.ask("flush 10000"), "0 ")
        client.hset("{weir:seen}:manifest", mapping=good)
        nodes.settle(self, ledger)

    def test_images_by_http(self):
        images = os.path.join(self.folder, "images")
        os.mkdir(images)
        web = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=images))
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/" % web.server_port
        ledger = self.nodes("folder=" + images, "image_url=" + url, "http=1", "keep=1")
        for _ in range(3):
            ledger.start()
        for _ in range(5):
            ledger.nodes[0].rate(5000)
            self.assertEqual(ledger.nodes[1].ask("flush 10000"), "0 ")
            group.wait_until("complete", lambda: ledger.nodes[1].stats()["complete"])
            self.assertEqual(ledger.nodes[1].ask("publish"), "0 ")
            nodes.settle(self, ledger)
        self.assertEqual(list(self.server.client.scan_iter("{weir:seen}:c:*")), [])
        # those that are old and that no generation has go, and what is not ours stays
        for name in ("other", "seen-x-0000000000000000.weir"):
            open(os.path.join(images, name), "w").close()
        for name in os.listdir(images):
            os.utime(os.path.join(images, name), (1, 1))
        self.assertEqual(ledger.nodes[1].ask("publish"), "0 ")
        nodes.settle(self, ledger)
        left = sorted(os.listdir(images))
        self.assertEqual(left[0], "other")
        self.assertEqual(len(left), 3) # and the one that is kept
        late = ledger.start()
        nodes.settle(self, ledger)
        self.assertEqual(late.stats()["lost"], 0)

    def test_the_example(self):
        """The C of src/replica/README.md is compiled without a warning, and runs."""
        source, *libraries = (os.path.abspath(path) for path in sys.argv[3:6])
        with open(os.path.join(source, "src/replica/README.md")) as f:
            blocks = f.read().split("```c\n")[1:]
        self.assertEqual(len(blocks), 1)
        with open(os.path.join(self.folder, "example.c"), "w") as f:
            f.write(blocks[0].split("```")[0])
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", source +
                        "/include", "example.c", "-o", "example", *libraries,
                        *("-Wl,-rpath," + os.path.dirname(path) for path in libraries)],
                       check=True, cwd=self.folder)
        subprocess.run(["./example", "unix://" + self.server.socket], check=True,
                       cwd=self.folder, timeout=60, stderr=subprocess.DEVNULL)
        self.assertEqual(self.status()["current"]["generation"], 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
