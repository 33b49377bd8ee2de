# SPDX-License-Identifier: MIT
"""weir replicate follow: the file that it writes, and what it says of one that it cannot write.
test_follow.py PROGRAM WEIR"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import group
import tool


class Follow(tool.Tool):
    def served(self, *options):
        """What is written by who follows a set that is there."""
        _, path = self.follow("served", *options)
        group.wait_until("the file", lambda: os.path.exists(path))
        return path

    def test_its_number(self):
        """The file has that of its generation: who serves it shows which it is."""
        self.build("a", 0, 100)
        for _ in range(3):
            self.replicate("publish", "a")
        self.assertRegex(self.weir("info", self.served()), r"(?m)^ +generation +3$")

    def test_compressed(self):
        self.build("a", 0, 10, "-n", "100000")
        self.replicate("publish", "a")
        self.assertLess(os.path.getsize(self.served("--zstd")), 20000)

    def test_a_set_begun_anew(self):
        """What is written then has a lower number than what was."""
        self.build("a", 0, 100, "--seed=7", "-n", "1000", "-p", "1e-6")
        for _ in range(3):
            self.replicate("publish", "a")
        path = self.served()
        self.server.client.delete(*self.server.client.keys("*"))
        self.build("b", 100, 200, "--seed=7", "-n", "1000", "-p", "1e-6")
        self.replicate("publish", "b")
        group.wait_until("it is written", lambda: self.query(path, 150))

    def test_what_ends_it(self):
        """At once, and soon where redis answers nothing any more."""
        self.build("a", 0, 100)
        self.replicate("publish", "a")
        for number, stopped, seconds in ((signal.SIGINT, False, 5), (signal.SIGHUP, False, 5),
                                         (signal.SIGTERM, False, 5), (signal.SIGTERM, True, 9)):
            with self.subTest(number=number, stopped=stopped):
                path = os.path.join(self.folder, "of%d%d" % (number, stopped))
                process, _ = self.follow(path)
                group.wait_until("the file", lambda: os.path.exists(path))
                if stopped:
                    self.server.process.send_signal(signal.SIGSTOP)
                    time.sleep(2) # it asks, and waits for an answer
                begun = time.monotonic()
                process.send_signal(number)
                process.wait(60)
                self.assertLess(time.monotonic() - begun, seconds)
                self.assertEqual(process.returncode, 0)
        self.server.process.send_signal(signal.SIGCONT)

    def test_what_somebody_did_to_it(self):
        """It is written again: emptied, cut, of another image; and another file is not touched."""
        self.build("a", 0, 100)
        self.build("b", 500, 600)
        self.replicate("publish", "a")
        path = self.served()
        for how in (lambda: open(path, "w").close(), lambda: os.truncate(path, 300),
                    lambda: shutil.copy(self.folder + "/b", path)):
            how()
            group.wait_until("it is whole", lambda: self.query(path, 50) and
                             os.path.getsize(path) > 300 and not self.query(path, 550))
        mine = self.folder + "/mine"
        with open(mine, "w") as f:
            f.write("my text, no image at all")
        os.unlink(path)
        os.symlink(mine, path)
        self.replicate("publish", "a")
        group.wait_until("status says so", lambda: any(
            "neither empty nor an image" in n["error"] for n in self.status(status=None)["nodes"]))
        self.assertEqual(open(mine).read(), "my text, no image at all")

    def test_another_of_the_same_number(self):
        """The set was begun anew while the follower was away."""
        self.build("a", 0, 100, "--seed=7", "-n", "1000")
        self.build("b", 500, 600, "--like=a")
        self.replicate("publish", "a")
        process, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))
        process.send_signal(signal.SIGSTOP)
        self.server.client.delete(*self.server.client.keys("*"))
        self.replicate("publish", "b")
        process.send_signal(signal.SIGCONT)
        group.wait_until("it is followed", lambda: self.query(path, 550))

    def test_what_is_no_image_stays(self):
        self.assertIn("-o -: a file is replaced", self.replicate("follow", "-o", "-", status=2))
        mine = os.path.join(self.folder, "mine")
        with open(mine, "w") as f:
            f.write("a text of somebody\n" * 100)
        self.assertIn("neither a weir image nor empty", self.replicate("follow", "-o", "mine",
                                                                       status=1))
        self.build("a", 0, 10)
        self.replicate("publish", "a")
        process, _ = self.follow("mine")
        self.assertEqual(process.wait(10), 1)
        with open(mine, errors="replace") as f:
            self.assertEqual(f.read(), "a text of somebody\n" * 100)

    def is_live(self, image):
        return re.search(r"(?m)^ +live +yes$", self.weir("info", image))

    def insert_live(self, image):
        """The process that inserts, until its standard input ends."""
        adder = subprocess.Popen([tool.WEIR, "add", "-q", "--live", image, "-"],
                                 cwd=self.folder, stdin=subprocess.PIPE, text=True)
        self.addCleanup(adder.communicate)
        self.addCleanup(adder.kill)
        group.wait_until("it is live", lambda: self.is_live(image))
        return adder

    def test_does_an_image_of_other_traits_stay(self):
        """At the beginning: as weir build refuses to replace it, and takes it with --force."""
        self.build("a", 0, 100)
        self.replicate("publish", "a")
        with open(os.path.join(self.folder, "key"), "wb") as f:
            f.write(bytes(range(16)))
        os.chmod(f.name, 0o600)
        image = os.path.join(self.folder, "old")
        for why, options in (("is of kind counting", ["--kind=counting"]),
                             ("is keyed", ["--keyed-by=" + f.name]),
                             ("was built with --trim", ["--trim"]), ("it is live", [])):
            with self.subTest(why=why):
                if os.path.exists(image):
                    os.unlink(image)
                self.build("old", 500, 600, *options)
                if not options:
                    self.insert_live("old")
                self.assertIn("old: not replaced: ", self.replicate("follow", "-o", "old",
                                                                    status=1))
                self.assertIn(why, self.aside)
                process, _ = self.follow("old", "--force")
                group.wait_until("it is written", lambda: self.query(image, 50) and
                                 not self.query(image, 550))
                process.terminate()
                self.assertEqual(process.wait(60), 0)

    def test_does_a_live_image_stay_until_it_is_sealed(self):
        """Keys that a process inserts there must not be lost, however often the set changes."""
        self.build("a", 0, 100)
        self.replicate("publish", "a")
        path = self.served()
        adder = self.insert_live(path)
        inode = os.stat(path).st_ino
        self.build("b", 700, 800, "--like=a")
        self.replicate("publish", "b")
        group.wait_until("status says so", lambda: any(
            "it is live" in n["error"] for n in self.status(status=None)["nodes"]))
        self.assertEqual(os.stat(path).st_ino, inode)
        adder.communicate("550\n") # and it seals the image
        self.assertEqual(adder.returncode, 0)
        group.wait_until("it is written", lambda: self.query(path, 750))
        group.wait_until("all is well", lambda: not any(
            n["error"] for n in self.status(status=None)["nodes"]))

    def test_a_failure_is_said_once(self):
        """It is tried five times a second."""
        self.build("a", 0, 10)
        self.replicate("publish", "a")
        os.mkdir(os.path.join(self.folder, "d"))
        process, path = self.follow("d/image")
        group.wait_until("the file", lambda: os.path.exists(path))
        os.rename(os.path.join(self.folder, "d"), os.path.join(self.folder, "away"))
        time.sleep(1.5)
        process.terminate()
        process.wait()
        said = process.stderr.read().decode()
        self.assertEqual(said.count("d/image: "), 1, said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
