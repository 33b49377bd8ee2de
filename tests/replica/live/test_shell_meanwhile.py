# SPDX-License-Identifier: MIT
"""weir replicate publish --replace, and what happens to redis while its command runs; and what is
taken back in another epoch. test_shell_meanwhile.py PROGRAM WEIR"""
import os
import signal
import subprocess
import sys
import unittest

import group
import tool

SIZE = ["-n", "10000", "-p", "1e-6"]


class Meanwhile(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 1000, *SIZE)
        self.build("b", 1000, 2000, "--like=a")
        self.replicate("publish", "--keep=4", "a")
        self.replicate("publish", "--keep=4", "b")

    def replacing(self):
        """Its command runs until there is a file."""
        process = subprocess.Popen(
            [tool.WEIR, "replicate", "publish", "--set=seen", "--timeout=2", "--replace", "c",
             "--", "sh", "-c", "touch runs; until [ -e done ]; do sleep 0.02; done; cp a c"],
            cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        group.wait_until("it runs", lambda: os.path.exists(self.folder + "/runs"))
        return process

    def ends(self, process):
        """Return: its exit status and what it says."""
        with open(self.folder + "/done", "w"):
            pass
        said, _ = process.communicate(timeout=50)
        for name in "runs", "done":
            os.unlink(os.path.join(self.folder, name))
        return process.returncode, said

    def replaced(self):
        """Whoever begins now has what is new, and nothing of what was."""
        process, path = self.follow("served")
        group.wait_until("it is written", lambda: os.path.exists(path))
        self.assertTrue(self.query(path, 50))
        self.assertFalse(self.query(path, 1050))
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        os.unlink(path)

    def replaces(self):
        self.replicate("publish", "--replace", "c", "--", "cp", "a", "c")
        self.replaced()
        self.assertEqual(self.status()["alerts"], [])

    def is_refused(self, process):
        """What its command has read may lack what came in the new epoch."""
        code, said = self.ends(process)
        self.assertEqual(code, 1)
        self.assertIn("began anew while the record was read: read it again", said)

    def test_redis_restarts(self):
        process = self.replacing()
        self.server.again()
        self.is_refused(process)
        self.assertEqual(self.status()["current"]["generation"], 2)
        self.replaces()

    def test_all_is_deleted(self):
        process = self.replacing()
        self.server.client.flushall()
        self.is_refused(process)
        self.assertIsNone(self.status(status=1)["current"])
        self.replicate("publish", "a")
        self.replaces()

    def test_another_publishes(self):
        process = self.replacing()
        self.replicate("publish", "b")
        self.assertEqual(self.ends(process), (0, "set seen: generation 4\n"))
        self.replaced()

    def test_redis_stands_still(self):
        process = self.replacing()
        self.server.process.send_signal(signal.SIGSTOP)
        code, said = self.ends(process)
        self.assertEqual(code, 2, said)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.status()["current"]["generation"], 2)
        self.replaces()

    def test_redis_has_gone(self):
        process = self.replacing()
        self.server.kill()
        code, said = self.ends(process)
        self.assertEqual(code, 2, said)
        self.server.start()
        self.assertEqual(self.status()["current"]["generation"], 2)
        self.replaces()

    def test_taken_back_in_another_epoch(self):
        """Those who follow it have it, and nothing of what was after it."""
        followers = [self.follow("served%d" % i) for i in range(2)]
        for _, path in followers:
            group.wait_until("the file", lambda: os.path.exists(path))
        for generation in 1, 2:
            self.server.again()
            self.replicate("rollback", "--keep=4", "--generation=%d" % generation)
            for _, path in followers:
                group.wait_until("it is followed", lambda: self.query(path, 50) and
                                 self.query(path, 1050) == (generation == 2))
            self.assertEqual(self.status()["alerts"], [])

    def test_followers_begin_at_once(self):
        """Each writes its file, and reports."""
        followers = [self.follow("served%d" % i) for i in range(6)]
        for process, path in followers:
            group.wait_until("the file", lambda: os.path.exists(path))
            self.assertTrue(self.query(path, 1050))
            self.assertIsNone(process.poll())
        pids = {process.pid for process, _ in followers}
        group.wait_until("they report", lambda: {n["pid"] for n in self.status()["nodes"]} == pids)
        for process, _ in followers:
            process.terminate()
            self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.status()["nodes"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
