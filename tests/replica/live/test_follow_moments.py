# SPDX-License-Identifier: MIT
"""weir replicate follow, and somebody who writes to its file again in the very moment after it was
written anew, in any way that leaves a trace: it is whole in the end, and then it is let be.
test_follow_moments.py PROGRAM WEIR [--times=N] for each way [--pipe=SECONDS]"""
import ctypes
import mmap
import os
import shutil
import stat
import sys
import time
import unittest

import group
import nodes
import tool

TIMES, PIPE_SECONDS = nodes.numbers("--times=", 1, "--pipe=", 6)
NOBODY = 65534


class Moments(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.build("x", 500, 600, "-n", "1000", "--seed=8")
        self.replicate("publish", "a")
        os.mkdir(os.path.join(self.folder, "at"))
        self.image = os.path.join(self.folder, "at", "image")
        with open(self.folder + "/x", "rb") as other:
            self.other = other.read()

    def begin(self):
        process, _ = self.follow("at/image")
        group.wait_until("the file", lambda: os.path.exists(self.image))
        return process

    # ---- ways to write to it ----

    def emptied(self):
        open(self.image, "w").close()

    def cut(self):
        os.truncate(self.image, 300)

    def overwritten(self):
        """As large, and the same file."""
        with open(self.image, "r+b") as image:
            image.write(self.other)

    def mapped(self):
        with open(self.image, "r+b") as image:
            try:
                with mmap.mmap(image.fileno(), 0) as at:
                    at[:len(self.other)] = self.other[:len(at)]
            except ValueError:
                pass # it was empty

    def longer(self):
        with open(self.image, "ab") as image:
            image.write(b"tail")

    def replaced(self):
        shutil.copy(self.folder + "/x", self.folder + "/y")
        os.replace(self.folder + "/y", self.image)

    def through_another_name(self):
        """Of what was written."""
        name = self.folder + "/at/name"
        if os.path.exists(name):
            os.unlink(name)
        os.link(self.image, name)
        open(name, "w").close()
        os.unlink(name)

    WAYS = (emptied, cut, overwritten, mapped, longer, replaced, through_another_name)

    # ---- what has to be ----

    def is_whole(self):
        if not (self.query(self.image, 50) and not self.query(self.image, 550)):
            return False
        said = self.weir("verify", self.image, status=None)
        return not self.aside and "damaged" not in said

    def twice(self, how):
        """In this moment, and as soon as it was written anew."""
        before = os.stat(self.image).st_ino
        how(self)
        group.wait_until("it is written", lambda: os.stat(self.image).st_ino != before)
        how(self)
        group.wait_until("it is whole", self.is_whole)

    def is_let_be(self):
        def as_it_is():
            of = os.stat(self.image)
            return of.st_ino, of.st_size, of.st_mtime_ns
        before = as_it_is()
        time.sleep(1) # it looks five times
        return as_it_is() == before

    def all_ways(self, *processes):
        for how in self.WAYS:
            for i in range(TIMES):
                with self.subTest(how=how.__name__, time=i):
                    self.twice(how)
        group.wait_until("it is let be", self.is_let_be) # soon
        self.assertEqual(os.listdir(self.folder + "/at"), ["image"])
        for process in processes:
            self.assertIsNone(process.poll())
        self.replicate("status")

    def test_one(self):
        self.all_ways(self.begin())

    def test_two_of_one_file(self):
        self.all_ways(self.begin(), self.begin())

    def test_whose_it_is(self):
        """Its mode, owner and group are kept when somebody has changed them: they are no writing,
        and go on with what is written next."""
        process = self.begin()
        os.chmod(self.image, 0o640)
        if os.geteuid() == 0:
            os.chown(self.image, NOBODY, NOBODY)
        before = os.stat(self.image)
        self.assertTrue(self.is_let_be())
        self.build("b", 200, 300, "--like=a")
        self.replicate("publish", "b")
        group.wait_until("it is written", lambda: self.query(self.image, 250))
        now = os.stat(self.image)
        self.assertEqual((now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)),
                         (before.st_uid, before.st_gid, 0o640))
        os.utime(self.image) # which may be a writing
        group.wait_until("it is let be", self.is_let_be)
        self.assertTrue(self.is_whole())
        process.terminate()
        self.assertEqual(process.wait(60), 0)


class Pipes(tool.Tool):
    def exchange(self, seconds):
        """The file and a pipe, again and again, in a process of its own."""
        image, pipe = self.image.encode(), self.image.encode() + b".pipe"
        libc = ctypes.CDLL(None)
        pid = os.fork()
        if pid:
            return pid
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                for _ in range(500):
                    libc.renameat2(-100, image, -100, pipe, 2)
                for path in (image, pipe): # one may have been replaced
                    if not os.path.lexists(path):
                        os.mkfifo(path)
                if not any(stat.S_ISFIFO(os.lstat(path).st_mode) for path in (image, pipe)):
                    os.unlink(pipe)
                    os.mkfifo(pipe)
        finally:
            os._exit(0)

    def test_a_pipe_comes_and_goes(self):
        """It keeps nobody waiting who looked and found a file."""
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.replicate("publish", "a")
        os.mkdir(os.path.join(self.folder, "at"))
        process, self.image = self.follow("at/image")
        group.wait_until("the file", lambda: os.path.exists(self.image))
        os.mkfifo(self.image + ".pipe")
        os.waitpid(self.exchange(PIPE_SECONDS), 0)
        for name in os.listdir(os.path.dirname(self.image)):
            os.unlink(os.path.join(os.path.dirname(self.image), name))
        group.wait_until("it is written again", lambda: os.path.exists(self.image))
        process.terminate()
        self.assertEqual(process.wait(20), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
