# SPDX-License-Identifier: MIT
"""weir replicate follow, where something that is no file stands in its file's place: it does not
wait there, reads nothing without end, and writes its file when that has gone.
test_follow_devices.py PROGRAM WEIR"""
import os
import select
import shutil
import sys
import unittest

import group
import nodes
import tool

MEGABYTES, TICKS = 64, 300 # more than it had at first; hundredths of a second in all


class Devices(tool.Tool):
    def setUp(self):
        super().setUp()
        self.at = os.path.join(self.folder, "at")
        os.mkdir(self.at)
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.replicate("publish", "a")
        self.process, self.path = self.follow("at/image")
        group.wait_until("the file", lambda: os.path.exists(self.path))
        self.first = nodes.megabytes(self.process)

    def says(self):
        """Something new, of what stands there."""
        said = b""
        while b"\n" not in said:
            group.wait_until("it says so", lambda: select.select([self.process.stderr], [], [],
                                                                 0)[0])
            piece = os.read(self.process.stderr.fileno(), 4096)
            self.assertTrue(piece, "it has ended")
            said += piece
        self.assertIn(b"at/image: ", said)
        return said

    def removed(self):
        for name in os.listdir(self.at):
            path = os.path.join(self.at, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def put(self, how):
        self.removed()
        how()
        return self.says()

    def stands_there(self, first, how):
        """A generation that comes meanwhile is written when it has gone."""
        self.put(how)
        before = os.lstat(self.path)
        self.build("more", first, first + 100, "--like=a")
        self.replicate("publish", "more")
        self.assertEqual(os.lstat(self.path), before)
        self.removed()
        group.wait_until("it is written again", lambda: os.path.exists(self.path) and
                         self.query(self.path, first + 50))

    def test_it_goes_on(self):
        """With a pipe that nobody writes to, a folder, links to what never ends, and to itself."""
        self.stands_there(1000, lambda: os.mkfifo(self.path))
        self.stands_there(2000, lambda: os.mkdir(self.path))
        for i, to in enumerate(("/dev/zero", "/proc/self/mem", "image", ".")):
            with self.subTest(to=to):
                self.stands_there(3000 + 1000 * i, lambda: os.symlink(to, self.path))
        self.assertLess(nodes.megabytes(self.process), self.first + MEGABYTES)
        self.assertLess(nodes.ticks(self.process), TICKS)
        self.process.terminate()
        self.assertEqual(self.process.wait(60), 0)
        self.assertEqual(os.listdir(self.at), ["image"])

    def test_it_ends_at_a_pipe(self):
        said = self.put(lambda: os.mkfifo(self.path))
        self.assertIn(b"is not a regular file, which an image replaces: name one\n", said)
        self.process.terminate()
        self.assertEqual(self.process.wait(30), 0)
        self.assertEqual(os.listdir(self.at), ["image"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
