# SPDX-License-Identifier: MIT
"""weir replicate follow: links, owners, two that follow into one file, and folders that cannot be
written to for a while. test_follow_files.py PROGRAM WEIR"""
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

import group
import tool

NOBODY = 65534


class FollowFiles(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 100, "-n", "1000", "--seed=7")
        self.replicate("publish", "a")
        self.at = os.path.join(self.folder, "at")
        self.image = os.path.join(self.at, "image")
        os.mkdir(self.at)

    def begin(self):
        self.process, path = self.follow("at/image")
        group.wait_until("the file", lambda: os.path.exists(path))

    def another(self, first, last):
        self.build("b", first, last, "--like=a")
        self.replicate("publish", "b")

    def error(self):
        return [n["error"] for n in self.status(status=None)["nodes"]][0]

    def fails(self, why, first=500):
        """Another generation comes, and cannot be written: that is said once."""
        self.another(first, first + 100)
        os.set_blocking(self.process.stderr.fileno(), False)
        said = []
        group.wait_until("it says so", lambda: said.append(self.process.stderr.read()) or
                         any(said))
        time.sleep(0.5) # it is tried five times a second
        said = b"".join(s or b"" for s in [*said, self.process.stderr.read()]).decode()
        self.assertEqual((said.count("at/image: "), why in said), (1, True), said)

    def recovers(self):
        group.wait_until("it is written", lambda: self.query(self.image, 550))

    def test_two_of_one_file(self):
        """Neither replaces what the other has written: they would do so for ever."""
        self.begin()
        self.begin()
        time.sleep(0.5)
        before = os.stat(self.image)
        time.sleep(1.5)
        self.assertEqual(os.stat(self.image), before)
        self.another(500, 600)
        group.wait_until("it is written", lambda: self.query(self.image, 550))
        time.sleep(1.5) # each has let the other's stay
        self.spoil(self.image) # of the same number still
        group.wait_until("it is written again", lambda: "damaged" not in
                         self.weir("verify", self.image, status=None) + self.aside)

    def test_two_of_one_keyed_file(self):
        """Whose images only those verify who have the key."""
        key = os.path.join(self.folder, "key")
        with open(key, "wb") as f:
            f.write(os.urandom(16))
        os.chmod(key, 0o600)
        self.server.client.flushall()
        self.build("keyed", 0, 100, "-n", "1000", "--keyed-by=" + key)
        self.replicate("publish", "--keyed-by=" + key, "keyed")
        for _ in range(2):
            self.follow("at/image", "--keyed-by=" + key)
        group.wait_until("the file", lambda: os.path.exists(self.image))
        time.sleep(1)
        before = os.stat(self.image)
        time.sleep(1.5)
        self.assertEqual(os.stat(self.image), before)

    def test_it_stays(self):
        """As long as nothing is new; then it is written once."""
        self.begin()
        time.sleep(0.5)
        for _ in range(2):
            before = os.stat(self.image)
            time.sleep(1)
            self.assertEqual(os.stat(self.image), before)
            self.replicate("publish", "a")
            group.wait_until("the next", lambda: os.stat(self.image).st_ino != before.st_ino)
            time.sleep(0.5)

    def spoil(self, path):
        with open(path, "r+b") as image:
            image.seek(4096)
            image.write(b"x" * 100)

    def test_what_differs_in_one_thing(self):
        """Its size, its time, or that it is another file."""
        self.begin()
        time.sleep(0.5)
        with open(self.image, "rb") as image:
            good = image.read()

        def size(before):
            os.truncate(self.image, 300)
            os.utime(self.image, ns=(before.st_atime_ns, before.st_mtime_ns))

        def times(before):
            self.spoil(self.image)

        def a_nanosecond(before):
            self.spoil(self.image)
            os.utime(self.image, ns=(before.st_atime_ns, before.st_mtime_ns ^ 1))

        def a_second(before):
            self.spoil(self.image)
            os.utime(self.image, ns=(before.st_atime_ns, before.st_mtime_ns + 10 ** 9))

        def another_file(before):
            shutil.copy2(self.image, self.image + "2")
            self.spoil(self.image + "2")
            os.utime(self.image + "2", ns=(before.st_atime_ns, before.st_mtime_ns))
            os.rename(self.image + "2", self.image)

        def is_good():
            with open(self.image, "rb") as image:
                return image.read() == good
        for how in (size, times, a_nanosecond, a_second, another_file):
            with self.subTest(how=how.__name__):
                how(os.stat(self.image))
                group.wait_until("it is whole", is_good)
                time.sleep(0.3)

    def served_of(self, name, *options):
        """The file of another set, which has this image."""
        self.build(name, 500, 600, *options)
        self.weir("replicate", "publish", "--set=" + name, name)
        path = os.path.join(self.folder, name + ".served")
        process = subprocess.Popen([tool.WEIR, "replicate", "follow", "--set=" + name, "-q", "-o",
                                    path], env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        group.wait_until("the other's", lambda: os.path.exists(path))
        return path

    def is_replaced(self, path, has=50, lacks=550):
        shutil.copy(path, self.image + ".new")
        os.replace(self.image + ".new", self.image) # it is whole whenever somebody looks
        group.wait_until("it is written again", lambda: self.query(self.image, has) and
                         not self.query(self.image, lacks))

    def test_what_another_set_has(self):
        """Of the same number, by the same seed or not: the wrong file was copied here."""
        self.begin()
        self.is_replaced(self.served_of("c", "--like=a"))
        other = self.served_of("d", "-n", "1000", "--seed=8")
        for _ in range(3): # however often
            self.is_replaced(other)

    def test_removed_and_then_the_wrong_one(self):
        """That it was removed before says nothing of who wrote it."""
        other = self.served_of("c", "--like=a")
        self.begin()
        os.unlink(self.image)
        group.wait_until("it is written again", lambda: os.path.exists(self.image))
        time.sleep(0.5)
        self.is_replaced(other)

    def test_what_it_was_before(self):
        self.begin()
        shutil.copy(self.image, self.folder + "/old")
        self.build("c", 500, 600, "--like=a")
        self.replicate("publish", "--replace", "c", "--", "true")
        group.wait_until("the next", lambda: self.query(self.image, 550))
        for _ in range(3):
            self.is_replaced(self.folder + "/old", 550, 50)

    def test_through_a_link(self):
        real = os.path.join(self.at, "real")
        with open(real, "w"):
            pass
        os.chmod(real, 0o640)
        if os.geteuid() == 0:
            os.chown(real, NOBODY, NOBODY)
        before = os.stat(real)
        os.symlink("real", self.image)
        self.begin()
        group.wait_until("it is written", lambda: self.query(real, 50))
        now = os.stat(real)
        self.assertTrue(os.path.islink(self.image))
        self.assertEqual((now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)),
                         (before.st_uid, before.st_gid, 0o640))

    def test_a_link_to_nothing(self):
        """What it would name is not made, neither at the beginning nor later."""
        os.symlink("none", self.image)
        self.assertIn("at/image: ", self.replicate("follow", "-o", "at/image", status=2))
        os.unlink(self.image)
        self.begin()
        os.unlink(self.image)
        os.symlink("none", self.image)
        self.fails("link")
        self.assertEqual(os.listdir(self.at), ["image"])
        os.unlink(self.image)
        self.recovers()

    def test_a_folder_that_goes_away(self):
        self.begin()
        os.rename(self.at, self.at + "2")
        self.fails("no such file or directory")
        group.wait_until("status says so", lambda: "at/image: " in self.error())
        os.rename(self.at + "2", self.at)
        self.recovers()
        group.wait_until("all is well", lambda: not self.error())
        os.rename(self.at, self.at + "2") # it may fail again, and is heard of again
        self.fails("no such file or directory", 700)
        os.rename(self.at + "2", self.at)
        group.wait_until("it is written", lambda: self.query(self.image, 750))
        self.process.send_signal(signal.SIGHUP)
        self.assertEqual(self.process.wait(60), 0)

    def test_a_disk_that_becomes_read_only(self):
        if subprocess.run(["mount", "-t", "tmpfs", "none", self.at],
                          capture_output=True).returncode:
            self.skipTest("no disk can be mounted")
        self.addCleanup(subprocess.run, ["umount", "-l", self.at], check=True)
        self.begin()
        subprocess.run(["mount", "-o", "remount,ro", self.at], check=True)
        self.fails("is read-only")
        subprocess.run(["mount", "-o", "remount,rw", self.at], check=True)
        self.recovers()

    def test_a_user_without_rights(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        for path, mode in ((self.folder, 0o755), (self.server.socket, 0o777)):
            os.chmod(path, mode)
        os.chown(self.at, NOBODY, NOBODY)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tool.WEIR]
        if subprocess.run([*as_nobody, "--version"], capture_output=True).returncode:
            self.skipTest("another user cannot run weir here")
        self.process = subprocess.Popen(
            [*as_nobody, "replicate", "follow", "--set=seen", "-q", "-o", self.image],
            env=self.environment, stderr=subprocess.PIPE)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        group.wait_until("the file", lambda: os.path.exists(self.image))
        os.chown(self.at, 0, 0)
        self.fails("permission denied")
        os.chown(self.at, NOBODY, NOBODY)
        self.recovers()
        for first, mode in ((700, 0o555), (900, 0)): # it may not write there, nor look
            os.chmod(self.at, mode)
            self.fails("permission denied", first)
            os.chmod(self.at, 0o755)
            group.wait_until("it is written", lambda: self.query(self.image, first + 50))


if __name__ == "__main__":
    unittest.main(argv=[__file__, *sys.argv[3:]])
