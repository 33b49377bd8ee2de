# SPDX-License-Identifier: MIT
"""weir replicate follow: the file that it writes, other writers of that file, and what it reports
if it cannot write the file. test_follow.py WEIR"""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import tool
from redis_server import wait_until


class Follow(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 100, "-n", "10000", "-p", "1e-6", "--seed=7")
        self.build("b", 500, 600, "--like=a")
        self.replicate("publish", "a")
        self.at, self.image = self.path("at"), self.path("at/image")
        os.mkdir(self.at)

    def begin(self, *options):
        return self.follows("at/image", *options)[0]

    def another(self, first):
        """A generation with a hundred more keys."""
        self.build("more", first, first + 100, "--like=a")
        self.replicate("publish", "more")

    def has_key(self, key):
        return self.has(self.image, key)

    def mark(self):
        of = os.stat(self.image)
        return of.st_ino, of.st_size, of.st_mtime_ns

    def stays(self, seconds=1):
        """Does the file stay the same? The command looks five times a second."""
        before = self.mark()
        time.sleep(seconds)
        return self.mark() == before

    def errors(self):
        return [n["error"] for n in self.status(status=None)["nodes"]]

    # ---- what it writes ----

    def test_each_generation(self):
        """The file follows each generation. A signal ends the command and removes its report."""
        process = self.begin()
        self.assertTrue(self.has_key(50) and not self.has_key(550))
        self.replicate("publish", "b")
        wait_until("both", lambda: self.has_key(50) and self.has_key(550))
        self.replicate("publish", "--replace", "c", "--", "cp", "b", "c")
        wait_until("it is replaced", lambda: not self.has_key(50))
        self.assertTrue(self.has_key(550))
        self.assertRegex(self.weir("info", self.image), r"(?m)^ +generation +2,?000,?000,?001$")
        self.assertTrue(self.stays())
        wait_until("it says so", lambda: [n["joined"] for n in self.status()["nodes"]] == ["2.1"])
        self.ends(process)
        self.assertEqual(self.status()["nodes"], [])
        self.assertEqual(os.listdir(self.at), ["image"])

    def test_a_set_begun_anew(self):
        """The new set has a lower number than the file that it replaces."""
        for _ in range(3):
            self.replicate("publish", "a")
        process = self.begin()
        process.send_signal(signal.SIGSTOP) # a running command would begin the set
        self.client.flushall()
        self.replicate("publish", "b")
        process.send_signal(signal.SIGCONT)
        wait_until("it is written", lambda: self.has_key(550))

    def test_what_ends_it(self):
        """A signal soon ends the command, even if redis no longer answers."""
        for number, stopped in ((signal.SIGINT, False), (signal.SIGHUP, False),
                                (signal.SIGTERM, False), (signal.SIGTERM, True)):
            with self.subTest(number=number, stopped=stopped):
                process, _ = self.follows("of%d%d" % (number, stopped))
                if stopped:
                    self.server.process.send_signal(signal.SIGSTOP)
                    time.sleep(1)
                process.send_signal(number)
                self.assertEqual(process.wait(30), 0)
        self.server.process.send_signal(signal.SIGCONT)

    # ---- the file that is there before ----

    def test_what_is_no_image_stays(self):
        with open(self.path("mine"), "w") as f:
            f.write("a text of somebody\n" * 100)
        self.assertIn("neither a weir image nor empty",
                      self.replicate("follow", "-o", "mine", status=1))
        with open(self.path("mine")) as f:
            self.assertEqual(f.read(), "a text of somebody\n" * 100)

    def is_live(self, image):
        """Reads the mark itself: weir info fails if the mark comes while it reads."""
        with open(self.path(image), "rb") as f:
            return f.read(512)[504:] == b"WEIRLIVE"

    def insert_live(self, image):
        """Return: a process that inserts into @image until its standard input ends."""
        adder = subprocess.Popen([tool.WEIR, "add", "-q", "--live", image, "-"],
                                 cwd=self.folder, stdin=subprocess.PIPE, text=True)
        self.addCleanup(adder.communicate)
        self.addCleanup(adder.kill)
        wait_until("it is live", lambda: self.is_live(image))
        return adder

    def test_an_image_of_other_traits_stays(self):
        """At its start the command replaces a counting or live image only with --force."""
        for why, options in (("is of kind counting", ["--kind=counting"]), ("it is live", [])):
            with self.subTest(why=why):
                self.build("old", 500, 600, "--force", *options)
                if not options:
                    self.insert_live("old")
                self.assertIn("old: not replaced: ",
                              self.replicate("follow", "-o", "old", status=1))
                self.assertIn(why, self.aside)
                process, path = self.follow("old", "--force")
                wait_until("it is written", lambda: self.has(path, 50) and
                           not self.has(path, 550))
                shutil.copy(self.path("keys"), path) # --force does not allow this
                wait_until("status says so", lambda: any("nor an image" in e
                                                         for e in self.errors()))
                self.ends(process)
                os.unlink(path)

    def test_a_live_image_stays_until_it_is_sealed(self):
        """While another process inserts into the image, the command does not replace the image."""
        self.begin()
        adder = self.insert_live(self.image)
        inode = os.stat(self.image).st_ino
        self.replicate("publish", "b")
        wait_until("status says so", lambda: any("it is live" in e for e in self.errors()))
        self.assertEqual(os.stat(self.image).st_ino, inode)
        adder.communicate("750\n") # the process seals the image
        self.assertEqual(adder.returncode, 0)
        wait_until("it is written", lambda: self.has_key(550))
        wait_until("all is well", lambda: not any(self.errors()))

    # ---- other writers ----

    def spoil(self):
        with open(self.image, "r+b") as image:
            image.seek(4096)
            image.write(b"x" * 100)

    def is_whole(self):
        said = self.weir("verify", self.image, status=None)
        return not self.aside and "damaged" not in said

    def spoil_times(self):
        before = os.stat(self.image)
        self.spoil()
        os.utime(self.image, ns=(before.st_atime_ns, before.st_mtime_ns ^ 1))

    def copied(self, name):
        """Replace the file in one step, so that it is always whole."""
        shutil.copy(self.path(name), self.image + ".new")
        os.replace(self.image + ".new", self.image)

    def test_what_somebody_did_to_it(self):
        """The command writes a changed file again, also after a second change at once. Then it
        leaves the file alone. The test copies the old image there, and once an image of another
        set with the same number and seed, which might be another follower's."""
        process = self.begin()
        shutil.copy(self.image, self.path("old"))
        self.another(700)
        wait_until("it is written", lambda: self.has_key(750))
        for _ in range(2):
            self.replicate("publish", "--set=other", "b")
        self.ends(self.follows("others", "--set=other")[0])
        for i, how in enumerate((
                lambda: open(self.image, "w").close(), lambda: os.truncate(self.image, 300),
                lambda: os.unlink(self.image), self.spoil, self.spoil_times,
                lambda: self.copied("b"), lambda: self.copied("old"),
                lambda: self.copied("others"))):
            with self.subTest(i=i):
                for _ in range(2 if i < 7 else 1):
                    how()
                    wait_until("it is written", lambda: self.has_key(750) and
                               not self.has_key(550) and self.is_whole())
                    time.sleep(0.3) # the command looks again and must change nothing
        wait_until("it stays", self.stays)
        self.ends(process)
        self.assertEqual(os.listdir(self.at), ["image"])

    def test_two_of_one_file(self):
        """Two commands write one file, and neither replaces what the other has written."""
        processes = [self.begin("--zstd")]
        self.assertLess(os.path.getsize(self.image), os.path.getsize(self.path("a")) // 2)
        processes.append(self.begin())
        wait_until("it stays", self.stays)
        for first, number in ((700, signal.SIGSTOP), (900, signal.SIGCONT)):
            self.another(first)
            wait_until("it is written", lambda: self.has_key(first + 50))
            processes[0].send_signal(number)
        wait_until("it stays", self.stays)
        self.assertTrue(self.has_key(950))
        self.spoil()
        wait_until("it is whole", lambda: self.is_whole() and self.has_key(950))
        for process in processes:
            self.ends(process)
        self.assertEqual(os.listdir(self.at), ["image"])

    # ---- a file that cannot be written ----

    def fails(self, process, why, first):
        """Publish a generation that cannot be written. The command reports that once."""
        os.set_blocking(process.stderr.fileno(), False)
        self.another(first)
        said = []
        wait_until("it says so", lambda: said.append(process.stderr.read()) or any(said))
        time.sleep(0.5) # the command tries five times a second
        said = b"".join(s or b"" for s in [*said, process.stderr.read()]).decode()
        # If the folder goes away during a save, the command first reports another error.
        said = "\n".join(line for line in said.split("\n") if "since it was read" not in line)
        self.assertEqual((said.count("at/image: "), why in said), (1, True), said)
        wait_until("status says so", lambda: any("at/image: " in e for e in self.errors()))

    def test_a_folder_that_goes_away(self):
        process = self.begin()
        for first in (700, 900): # the command reports the second failure too
            os.rename(self.at, self.at + "2")
            self.fails(process, "no such file or directory", first)
            os.rename(self.at + "2", self.at)
            wait_until("it is written", lambda: self.has_key(first + 50))
            wait_until("all is well", lambda: not any(self.errors()))
        self.ends(process)

    def test_what_cannot_be_written_is_said_once(self):
        """The library and the command find the same error, but it is printed once."""
        said = self.replicate("follow", "-o", "/proc/x.weir", status=2)
        self.assertEqual(said.count("/proc/x.weir: cannot create"), 1, said)

    def test_what_is_no_file_stands_there(self):
        """The command does not block at a pipe, read an endless file, or replace other files."""
        process = self.begin()
        for i, how in enumerate((lambda: shutil.copy(self.path("keys"), self.image),
                                 lambda: os.mkfifo(self.image), lambda: os.mkdir(self.image),
                                 lambda: os.symlink("/dev/zero", self.image),
                                 lambda: os.symlink("none", self.image))):
            with self.subTest(i=i):
                os.unlink(self.image)
                how()
                before = os.lstat(self.image)
                self.fails(process, "", 1000 + 1000 * i)
                self.assertEqual(os.lstat(self.image).st_ino, before.st_ino)
                self.assertEqual(os.listdir(self.at), ["image"])
                (os.rmdir if os.path.isdir(self.image) else os.unlink)(self.image)
                wait_until("it is written", lambda: self.has_key(1050 + 1000 * i))
        self.ends(process)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
