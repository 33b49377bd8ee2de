# SPDX-License-Identifier: MIT
"""WEIR.LOAD and WEIR.PUBLISH where an enemy (enemy.py) has changed several things at a time, also
the ids of the log, in keys of any kind and sets of any name: each answers in time, the
server goes on, and as soon as the keys are what they were they bring all that they have.
test_mutated.py MODULE [--rounds=N] [--from=N]: how many, and the first: its number is its seed"""
import random
import sys
import unittest

import redis

from enemy import Enemy
from hostile import number
from served import HOSTILE
from sets import Sets

SLOW = 3000000 # microseconds that no command takes, on a busy machine either
WRONG = (AttributeError, LookupError, TypeError, ValueError, redis.exceptions.ResponseError)


def option(name, number):
    return next((int(of[len(name):]) for of in sys.argv if of.startswith(name)), number)


ROUNDS, FROM = option("--rounds=", HOSTILE // 3), option("--from=", 1)


class Mutated(Enemy, Sets):
    def setUp(self):
        self.start(self.serve(options=["--slowlog-log-slower-than", str(SLOW)]))
        self.make()
        self.publish()
        for i in range(3):
            self.append(range(500 + i, 520 + i))
        self.publish()
        self.append(range(700, 720))
        self.touch(("c", "%016x 1.1" % 9))
        self.load("k")
        self.items = [*range(522), *range(700, 720)]
        self.good = {k: self.client.dump(k) for k in self.client.scan_iter("*")}

    def restore(self):
        with self.client.pipeline(transaction=False) as pipe:
            pipe.flushall()
            for key, value in self.good.items():
                pipe.restore(key, 0, value)
            pipe.execute()

    # ---- ways of this test alone ----

    def change_field(self, dice):
        """Change fields that the scripts read in the head, or a generation in the hash kept."""
        key, names = dice.choice((("head", (
            "run", "mark", "prev", "base", "lost", "last", "tag", "version", "generation",
            "replicas", "seen", "bytes", "signature")),
                                  ("kept", ("1.1", "1.2", "nan", "inf", "-1", self.word(dice)))))
        value = dice.choice((str(number(dice)), "%d-%d" % (number(dice), number(dice)), "", "nan",
                             "1e308", "9" * 40, dice.randbytes(20)))
        self.client.hset(self.OF + key, dice.choice(names), value)

    def change_counts(self, dice):
        last = "%d-%d" % ((2 ** 64 - 1,) * 2)
        how = dice.randrange(3)
        if how == 0:
            self.client.xdel(self.LOG, dice.choice(self.client.xrange(self.LOG))[0])
        elif how == 1:
            self.client.xadd(self.LOG, {"v": 1}, id=last)
        else:
            self.run_("XSETID", self.LOG, dice.choice((last, "9999999999999-0")), "ENTRIESADDED",
                      dice.choice((0, 5, 2 ** 63 - 1)))

    def ways(self):
        return (*super().ways(), self.change_field, self.change_counts)

    # ---- a round ----

    def change(self, dice):
        for _ in range(dice.choice((1, 1, 2, 3))):
            way = dice.choice(self.ways())
            self.did.append(way.__name__)
            try:
                way(dice)
            except WRONG:
                pass # another way was there before
        if dice.random() < 0.3: # one of another seed, compact or only smaller than the set
            self.client.delete("k")
            self.run_("BF.RESERVE", "k", "0.01", dice.choice((20, 3500)), "NONSCALING")

    def commands(self, dice):
        name = dice.choice(("", "x" * 200, "a\0b", "}{", "x:2:kept", "y"))
        own = self.OF + dice.choice(("head", "log", "kept"))
        return dice.sample((("WEIR.LOAD", "k", "x"), ("WEIR.PUBLISH", "k", "x"),
                            ("WEIR.LOAD", "l", "x"), ("WEIR.PUBLISH", "l", "x"),
                            ("WEIR.LOAD", "k", name), ("WEIR.PUBLISH", "k", name),
                            ("WEIR.LOAD", own, "x"), ("WEIR.PUBLISH", own, "x")), 5)

    def once(self, dice):
        self.change(dice)
        for verb, key, name in self.commands(dice):
            self.did.append((verb, key, name))
            try:
                self.run_(verb, key, "SET", name)
            except redis.exceptions.ResponseError as e:
                self.assertRegex(str(e), "set x|set y|WRONGTYPE|is not a set's name|not found")
        self.assertEqual(self.client.slowlog_get(), [])
        self.restore()
        self.load("l")
        self.assertTrue(self.has("l", self.items))

    def test_mutated(self):
        for seed in range(FROM, FROM + ROUNDS):
            self.did = []
            try:
                self.once(random.Random(seed))
            except (AssertionError, redis.exceptions.RedisError) as why:
                self.fail("round %d: %s; what was done: %s; %s" % (
                    seed, why, self.did, self.server.log()[-3000:]))
        self.assertIsNone(self.server.process.poll())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
