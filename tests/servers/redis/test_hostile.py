# SPDX-License-Identifier: MIT
"""RESTORE, BF.LOADCHUNK and CF.LOADCHUNK of hostile data (hostile.py). Each payload is refused, or
the key is a complete filter. It runs as test_hostile.py MODULE; WEIR_HOSTILE is the number of
payloads of each kind."""
import os
import random
import sys
import unittest

import redis

from hostile import hostile_chunk, hostile_header, hostile_value
from served import HOSTILE, Case

MOST = 1 << 20          # of a key
RESIDENT = 100 << 10    # kB that redis-server may ever have
SLOW = 3000000          # microseconds that no command takes, on a busy machine either
ITEMS = list(range(50))


class Hostile:
    def setUp(self):
        self.server = self.serve(arguments=["max-bytes", str(MOST)], options=[
            "--rdbcompression", "no", "--slowlog-log-slower-than", str(SLOW)])
        self.client = redis.Redis(unix_socket_path=self.server.socket, socket_timeout=30)
        self.run_ = self.client.execute_command
        self.fill()
        self.whole = {key: self.client.dump(key) for key in self.keys}

    def ask(self, *commands):
        """Send the commands in one pipeline. Errors are returned as answers."""
        pipe = self.client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        return pipe.execute(raise_on_error=False)

    def scan(self, key):
        at, chunks = 0, []
        while True:
            at, data = self.run_(self.kind + ".SCANDUMP", key, at)
            if not at:
                return chunks
            chunks.append((at, data))

    def use(self, key):
        """Whatever bits the key has, it keeps added items, and all copies of the key equal it."""
        self.add(key)
        self.assertLess(self.client.memory_usage(key), MOST + 16384)
        self.run_(self.kind + ".INFO", key)
        whole = self.client.dump(key)
        loads = [(self.kind + ".LOADCHUNK", "loaded", *piece) for piece in self.scan(key)]
        answers = self.ask(*loads, ["DUMP", "loaded"], ["COPY", key, "copy"], ["DUMP", "copy"],
                           ["RESTORE", "again", 0, whole], ["DUMP", "again"],
                           ["UNLINK", key, "copy", "again", "loaded"])
        self.assertEqual(answers, [b"OK"] * len(loads) + [whole, 1, whole, b"OK", whole, 4])

    def whole_still(self, counts):
        """Check the server, the other keys and @counts, the payloads refused and used."""
        self.assertIsNone(self.server.process.poll())
        self.assertEqual({key: self.client.dump(key) for key in self.keys}, self.whole)
        self.assertEqual(sorted(self.client.keys("*")), [key.encode() for key in self.keys])
        self.assertEqual(self.client.slowlog_get(), [])
        with open("/proc/%d/status" % self.server.process.pid) as status:
            most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        self.assertLess(most, RESIDENT)
        self.assertGreater(min(counts), HOSTILE // 20, "refused and used")
        if "WEIR_HOSTILE" in os.environ:
            print("%s: %d refused, %d used, %d kB" % (self.id(), *counts, most))

    def test_restore(self):
        dice, counts = random.Random(17), [0, 0]
        payloads = list(self.whole.values())
        for _ in range(HOSTILE):
            payload = hostile_value(dice, payloads, self.kind == "CF")
            try:
                self.client.restore("h", 0, payload)
            except redis.exceptions.ResponseError:
                counts[0] += 1
                continue
            counts[1] += 1
            self.use("h")
        self.whole_still(counts)

    def test_loadchunk(self):
        dice, counts, sent = random.Random(23), [0, 0], 0
        dumps = [self.scan(key) for key in self.keys]
        headers = [dump[0][1] for dump in dumps]
        chunks = [chunk for dump in dumps for chunk in dump[1:]]
        while sent < HOSTILE:
            header = dice.choice(headers)
            if dice.random() < 0.5:
                header = hostile_header(dice, header)
            pieces = [(1, header)] + [hostile_chunk(dice, header, chunks) for _ in range(5)]
            answers = self.ask(*((self.kind + ".LOADCHUNK", "h", *piece) for piece in pieces))
            sent += len(pieces)
            counts[0] += sum(answer != b"OK" for answer in answers)
            if self.client.exists("h"):
                counts[1] += answers.count(b"OK")
                self.use("h")
        self.whole_still(counts)


class BF(Hostile, Case):
    kind, keys = "BF", ("k", "l")

    def fill(self):
        self.run_("BF.MADD", "k", *range(250))
        self.run_("BF.RESERVE", "l", "0.001", 50, "EXPANSION", 1)
        self.run_("BF.MADD", "l", *range(90))

    def add(self, key):
        answers = self.run_("BF.MADD", key, *ITEMS)
        taken = [item for item, answer in zip(ITEMS, answers) if answer in (0, 1)]
        self.assertEqual(self.run_("BF.MEXISTS", key, *taken, "x")[:-1], [1] * len(taken))


class CF(Hostile, Case):
    kind, keys = "CF", ("k", "l")

    def fill(self):
        self.run_("CF.INSERT", "k", "CAPACITY", 100, "ITEMS", *range(250))
        self.run_("CF.RESERVE", "l", 20, "EXPANSION", 2)
        self.run_("CF.INSERT", "l", "ITEMS", *range(100))
        self.run_("CF.DEL", "l", 7)

    def add(self, key):
        answers = self.run_("CF.INSERT", key, "ITEMS", *ITEMS)
        taken = [item for item, answer in zip(ITEMS, answers) if answer == 1]
        self.assertEqual(self.run_("CF.MEXISTS", key, *taken, "x")[:-1], [1] * len(taken))
        self.run_("CF.INSERTNX", key, "ITEMS", "x", "y")
        info = self.client.cf().info(key)
        removed = self.ask(*(("CF.DEL", key, item) for item in taken[:10]))
        # If the links have several sizes, one removal may fail.
        self.assertEqual(set(removed) - ({0, 1} if info.expansionRate > 1 else {1}), set())
        self.assertEqual(self.run_("CF.MEXISTS", key, *taken[10:], "x")[:-1], [1] * len(taken[10:]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
