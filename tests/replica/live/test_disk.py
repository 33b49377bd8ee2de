# SPDX-License-Identifier: MIT
"""weir replicate follow where the disk is full, and where its file goes away.
test_disk.py PROGRAM WEIR"""
import os
import subprocess
import sys
import unittest

import group
import tool

ROOM = 400 << 10 # of the disk: two images of the set, and a little


class Disk(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 1000, "-n", "100000")
        self.replicate("publish", "a")
        self.at = os.path.join(self.folder, "disk")
        self.image, self.fill = (os.path.join(self.at, name) for name in ("image", "fill"))
        os.mkdir(self.at)

    def mount(self):
        """A disk of its own, which goes before the server's folder does."""
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % ROOM, "none", self.at],
                              text=True, capture_output=True)
        if done.returncode:
            self.skipTest("no disk can be mounted: " + done.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", self.at], check=True)

    def fill_up(self):
        """But for what is no image."""
        with open(self.fill, "wb", buffering=0) as f:
            about = os.statvfs(self.at)
            f.write(bytes(about.f_bavail * about.f_frsize - (16 << 10)))

    def another(self, name, first, last):
        """The next generation, which has these keys too."""
        self.build(name, first, last, "--like=a")
        self.replicate("publish", name)

    def begins(self):
        process, _ = self.follow("disk/image")
        group.wait_until("the file", lambda: os.path.exists(self.image))
        return process

    def ends(self, process):
        """Return: what it said."""
        process.terminate()
        said = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 0, said)
        return said

    def bytes(self):
        with open(self.image, "rb") as f:
            return f.read()

    def test_full_at_the_beginning(self):
        """That is said at once, and what was there stays."""
        self.mount()
        self.fill_up()
        for there in ([], ["image"]):
            said = self.replicate("follow", "-o", self.image, status=2)
            self.assertRegex(said, r"^weir replicate follow: %s: cannot reserve \d+ bytes: no "
                             r"space left\n$" % self.image)
            self.assertEqual(sorted(os.listdir(self.at)), ["fill", *there])
            self.assertEqual(self.status()["nodes"], [])
            if there:
                self.assertEqual(self.bytes(), before)
                continue
            os.unlink(self.fill)
            self.ends(self.begins())
            before = self.bytes()
            self.fill_up()
            self.another("b", 1000, 2000)

    def test_full_later(self):
        """It is not well until there is room again; then nobody needs to publish."""
        self.mount()
        process = self.begins()
        self.fill_up()
        before = self.bytes()
        self.another("b", 1000, 2000)
        group.wait_until("it is not well", lambda: self.status(status=None)["alerts"])
        said = self.status(status=1)
        node, = said["nodes"]
        self.assertRegex(node["error"], r"^%s: cannot reserve \d+ bytes: no space left$" %
                         self.image)
        self.assertEqual(said["alerts"], ["node %s (%s): %s" % (node["node"], node["host"],
                                                                node["error"])])
        self.assertIn('weir_replica_node_failing{set="seen",node="%s"} 1\n' % node["node"],
                      self.replicate("status", "--prometheus", status=None)) # WeirReplicaFailing
        self.assertEqual((node["generation"], node["complete"]), (2, True))
        self.assertEqual(self.bytes(), before)
        self.assertEqual(sorted(os.listdir(self.at)), ["fill", "image"])
        os.unlink(self.fill)
        group.wait_until("it is written", lambda: self.query(self.image, 1999))
        self.assertTrue(self.query(self.image, 0))
        self.assertEqual(os.listdir(self.at), ["image"])
        self.assertEqual(self.status(status=None)["current"]["generation"], 2)
        group.wait_until("it is well", lambda: not self.status(status=None)["alerts"])
        self.replicate("status")
        self.assertEqual(self.ends(process).count("no space left"), 1) # once

    def test_deleted(self):
        """The file comes again, now and with the next generation."""
        process = self.begins()
        before = self.bytes()
        os.unlink(self.image)
        group.wait_until("it comes again", lambda: os.path.exists(self.image))
        self.assertEqual(self.bytes(), before)
        os.unlink(self.image)
        self.another("b", 1000, 2000)
        group.wait_until("another comes", lambda: os.path.exists(self.image) and
                         self.query(self.image, 1999))
        self.assertEqual(self.ends(process), "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
