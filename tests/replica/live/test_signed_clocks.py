# SPDX-License-Identifier: MIT
"""A signed set of keys, followed into a file: clocks of publishers, or of who follows, that are
ahead and behind, and another key. test_signed_clocks.py PROGRAM WEIR"""
import os
import subprocess
import sys
import unittest

import group
import tool

CLOCK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = (int)syscall(SYS_clock_gettime, clock, t);
	if (clock == CLOCK_REALTIME)
		t->tv_sec += atol(getenv("SECONDS_AHEAD"));
	return err;
}
"""
DAY, YEAR = 86400, 365 * 86400
MANY = 100 # keys of a generation


class SignedClocks(tool.Tool):
    def setUp(self):
        super().setUp()
        source, self.clock = self.folder + "/clock.c", self.folder + "/clock.so"
        with open(source, "w") as f:
            f.write(CLOCK)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.clock, source], check=True)
        self.usual = self.environment
        for name in ("one", "other"):
            self.weir("replicate", "key", name + ".secret", name + ".public")
        self.signs = ("--secret=one.secret", "--trusted=one.public")

    def at(self, ahead):
        """What is started then has such a clock."""
        self.environment = {**self.usual, "LD_PRELOAD": self.clock, "SECONDS_AHEAD": str(ahead)}

    def publish(self, i, ahead, *options):
        """The i-th, of other keys and another seed than those before."""
        self.build("record%d" % i, MANY * i, MANY * (i + 1), "-n", "1000")
        self.at(ahead)
        self.replicate("publish", "-q", "--replace", *options, "record%d" % i, "--", "true")
        self.environment = self.usual

    def has(self, i):
        return self.query("served", MANY * i + 5)

    def serves(self, i):
        group.wait_until("it is there", lambda: self.has(i) and not self.has(i - 1))

    def begin(self, ahead=0):
        self.build("first", 0, MANY, "-n", "1000")
        self.replicate("publish", "-q", "--stream=keys", *self.signs, "first")
        self.at(ahead)
        self.follower, self.path = self.follow("served", "--trusted=%s/one.public" % self.folder)
        self.environment = self.usual
        group.wait_until("the file", lambda: os.path.exists(self.path))

    def test_publishers(self):
        self.begin()
        for i, ahead in enumerate((DAY, 0, -DAY, 0, YEAR, 0), 1):
            self.publish(i, ahead, *self.signs)
            self.serves(i)

    def follows(self, ahead):
        self.begin(ahead)
        for i in range(1, 4):
            self.publish(i, 0, *self.signs)
            self.serves(i)

    def test_it_follows_ahead(self):
        self.follows(YEAR)

    def test_it_follows_behind(self):
        self.follows(-YEAR)

    def test_another_key(self):
        """What nobody signed who is trusted is in no file, and in nobody's way."""
        self.begin()
        self.publish(1, 0, "--secret=other.secret")
        group.wait_until("it says so", lambda: "none of the 1 that are trusted" in " ".join(
            self.status(status=None)["alerts"]))
        self.assertFalse(self.has(1))
        self.replicate("publish", "first", status=1) # unsigned
        self.publish(2, 0, "--secret=one.secret")
        self.serves(2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
