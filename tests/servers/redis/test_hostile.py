# SPDX-License-Identifier: MIT
"""RESTORE, BF.LOADCHUNK and CF.LOADCHUNK of hostile data (hostile.py), in weir's formats and
RedisBloom's. Each payload is refused, or the key is a complete filter. It runs as test_hostile.py
MODULE; WEIR_HOSTILE is the number of payloads of each kind."""
import os
import random
import sys
import unittest

import redis

from formats import RAW_CF, Value, is_raw, old_values, own_bf, own_cf, raw_bf, raw_link
from hostile import hostile_chunk, hostile_header, hostile_value
from served import HOSTILE, Case, digests

MOST = 1 << 20          # of a key
RESIDENT = 100 << 10    # kB that redis-server may ever have
SLOW = 3000000          # microseconds that no command takes, on a busy machine either
ITEMS = list(range(50))
MANY = ["CF_MAX_EXPANSIONS", "65535"]


class Hostile:
    def setUp(self):
        self.server = self.serve(arguments=["max-bytes", str(MOST), *MANY], options=[
            "--rdbcompression", "no", "--slowlog-log-slower-than", str(SLOW)])
        self.client = redis.Redis(unix_socket_path=self.server.socket, socket_timeout=30)
        self.run_ = self.client.execute_command
        self.fill()
        self.whole = {key: self.client.dump(key) for key in self.keys}
        self.dumps = {key: self.scan(key) for key in self.keys}

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
        numbers = self.run_(self.kind + ".INFO", key)
        for number in numbers[1::2]:
            self.assertIn(number or 0, range(1 << 62))
        self.run_(self.kind + ".DEBUG", key)
        whole = self.client.dump(key)
        loads = [(self.kind + ".LOADCHUNK", "loaded", *piece) for piece in self.scan(key)]
        # Without an item there is no dump of CF.
        loaded = digests(self.client, key)[0] if loads else b"0" * 40
        answers = self.ask(*loads, ["DEBUG", "DIGEST-VALUE", "loaded"], ["COPY", key, "copy"],
                           ["DUMP", "copy"], ["RESTORE", "again", 0, whole], ["DUMP", "again"],
                           ["UNLINK", key, "copy", "again", "loaded"])
        self.assertEqual(answers, [b"OK"] * len(loads) + [
            [loaded], 1, whole, b"OK", whole, 4 if loads else 3])

    def whole_still(self, counts):
        """Check the server, the other keys and @counts, the payloads refused and used."""
        self.assertIsNone(self.server.process.poll())
        self.assertEqual({key: self.client.dump(key) for key in self.keys}, self.whole)
        self.assertEqual(sorted(self.client.keys("*")),
                         sorted(key.encode() for key in self.keys))
        self.assertEqual(self.client.slowlog_get(), [])
        with open("/proc/%d/status" % self.server.process.pid) as status:
            most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        self.assertLess(most, RESIDENT)
        self.assertGreater(min(counts), HOSTILE // 20, "refused and used")
        if "WEIR_HOSTILE" in os.environ:
            print("%s: %d refused, %d used, %d kB" % (self.id(), *counts, most))

    def payloads(self):
        """Return: values of each encoding, each of which RESTORE takes."""
        made = list(self.whole.values())
        for key, ((_, header), *chunks) in self.dumps.items():
            if is_raw(header):
                made += old_values(self.whole[key], header, [data for _, data in chunks])
        for payload in made:
            self.client.restore("h", 0, payload)
            self.use("h")
        return made

    def test_restore(self):
        dice, counts = random.Random(17), [0, 0]
        payloads = self.payloads()
        for _ in range(HOSTILE):
            payload = hostile_value(dice, payloads)
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
        dumps = self.dumps.values()
        headers = [dump[0][1] for dump in dumps]
        chunks = [(*chunk, is_raw(dump[0][1])) for dump in dumps for chunk in dump[1:]]
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
    kind, keys = "BF", ("k", "l", "big", "raw")

    def fill(self):
        self.run_("BF.MADD", "k", *range(250))
        self.run_("BF.RESERVE", "l", "0.001", 50, "EXPANSION", 1)
        self.run_("BF.MADD", "l", *range(90))
        self.run_("BF.RESERVE", "big", "0.001", 3000, "NONSCALING") # a blocked link
        self.run_("BF.MADD", "big", *range(100))
        self.run_("BF.LOADCHUNK", "raw", 1, raw_bf(raw_link(100, 0.005)))
        self.run_("BF.MADD", "raw", *range(250))

    def add(self, key):
        answers = self.run_("BF.MADD", key, *ITEMS)
        taken = [item for item, answer in zip(ITEMS, answers) if answer in (0, 1)]
        self.assertEqual(self.run_("BF.MEXISTS", key, *taken, "x")[:-1], [1] * len(taken))


    def test_numbers_of_a_chain(self):
        """Numbers that end early, go on after the last link or exceed 64 bits are refused."""
        for key in self.keys:
            value = Value.of(self.whole[key])
            code, numbers = value.fields[0]
            forged = [numbers[:n] for n in range(len(numbers))] + [numbers + b"\0",
                      numbers[:9] + b"\xff" * 10 + numbers[10:]]
            for each in forged:
                value.fields[0] = (code, each)
                with self.assertRaisesRegex(redis.ResponseError, "Bad data format"):
                    self.client.restore("new", 0, value.payload())
            value.fields[0] = (code, numbers)
            self.client.restore("new", 0, value.payload())
            self.assertEqual(*digests(self.client, key, "new"))
            self.client.delete("new")


class CF(Hostile, Case):
    kind, keys = "CF", ("k", "l", "raw")

    def fill(self):
        self.run_("CF.INSERT", "k", "CAPACITY", 100, "ITEMS", *range(250))
        self.run_("CF.RESERVE", "l", 20, "EXPANSION", 2)
        self.run_("CF.INSERT", "l", "ITEMS", *range(100))
        self.run_("CF.DEL", "l", 7)
        self.run_("CF.LOADCHUNK", "raw", 1, RAW_CF.pack(0, 32, 0, 1, 2, 20, 1))
        self.run_("CF.INSERT", "raw", "ITEMS", *range(150))

    def add(self, key):
        answers = self.run_("CF.INSERT", key, "ITEMS", *ITEMS)
        taken = [item for item, answer in zip(ITEMS, answers) if answer == 1]
        self.assertEqual(self.run_("CF.MEXISTS", key, *taken, "x")[:-1], [1] * len(taken))
        self.run_("CF.INSERTNX", key, "ITEMS", "x", "y")
        removed = self.ask(*(("CF.DEL", key, item) for item in taken[:10]))
        self.assertEqual(removed, [1] * len(removed))
        self.assertEqual(self.run_("CF.MEXISTS", key, *taken[10:], "x")[:-1], [1] * len(taken[10:]))


class ForgedHeaders(Case):
    """Headers of any size are answered at once by a server without max-bytes."""

    def setUp(self):
        self.server = self.serve(arguments=MANY, options=["--slowlog-log-slower-than", str(SLOW)])
        self.client = redis.Redis(unix_socket_path=self.server.socket, socket_timeout=30)
        with open("/proc/%d/oom_score_adj" % self.server.process.pid, "w") as first:
            first.write("1000") # the system would end this server before any other process

    def load(self, kind, headers):
        """Each header is refused, or the key works."""
        for header in headers:
            try:
                self.client.execute_command(kind + ".LOADCHUNK", "h", 1, header)
            except redis.exceptions.ResponseError as e:
                self.assertRegex(str(e), "received bad data|Invalid header|Couldn't create filter")
                continue
            try:
                self.client.execute_command(kind + ".ADD", "h", "a")
                self.assertEqual(self.client.execute_command(kind + ".EXISTS", "h", "a"), 1)
            except redis.exceptions.ResponseError as e:
                self.assertEqual(str(e), "Maximum expansions reached") # of 65,535 sub filters
            self.client.execute_command(kind + ".SCANDUMP", "h", 0)
            self.assertLess(self.client.memory_usage("h"), 128 << 20)
            self.assertEqual(self.client.unlink("h"), 1)
        self.assertIsNone(self.server.process.poll())
        self.assertEqual(self.client.slowlog_get(), [])

    def test_refused_headers_leave_no_memory(self):
        """Their first links are good, so these are made before the header is refused."""
        big = (100, 1 << 20, 0, 1 << 16 | 4 << 32)
        wrong_sum = b"\5" + raw_bf(raw_link(1, 0.01, 1 << 20))[1:]
        used = lambda: self.client.info("memory")["used_memory"]
        for header in (own_bf([big, (0, 64, 0, 5)]), wrong_sum,
                       raw_bf(raw_link(1, 0.01, 1 << 20), raw_link(0, 0.01, 64))):
            before = used()
            for _ in range(20):
                self.refused(self.client.execute_command, "BF.LOADCHUNK", "h", 1, header,
                             text="received bad data")
            self.assertLess(used() - before, 5 << 20)

    SIZES = (0, 1, 7, 8, 63, 64, 72, 4096, 4104, 4160, 1 << 20, (1 << 40) - 64, 1 << 40, 1 << 44,
             (1 << 46) - 64, 1 << 46, 1 << 51, 1 << 52, 1 << 63, (1 << 64) - 128, (1 << 64) - 64,
             (1 << 64) - 8, (1 << 64) - 1)

    def test_bf_in_weirs_format(self):
        words = (1 | 4 << 16, 1 << 16, 4 << 32, 1 << 16 | 4 << 32, 3 << 16 | 4 << 32, 5, 32, 33, 0,
                 8 << 16 | 255 << 32)
        self.load("BF", [own_bf([(capacity, size, 0, shape)] * n) for size in self.SIZES
                         for capacity in (0, 1, 100, 1 << 48, 1 << 63) for shape in words
                         for n in (1, 2, 64)])
        self.load("BF", [own_bf([(100, 64, 0, shape)] * n) for shape in words
                         for n in (1075, 1076)])
        self.load("BF", [own_bf([(10, 64, 5, 3)], *more) for more in (
            (float("nan"),), (0.0,), (1.0,), (5e-324,), (0.01, 0), (0.01, 1 << 49), (0.01, 1, 0),
            (0.01, 1, 7, 1 << 32), (0.01, 1, 7, 0))])

    def test_bf_in_redisblooms_format(self):
        links = [raw_link(capacity, error, size, items) for size in self.SIZES
                 for capacity in (0, 1, 100, (1 << 48) - 1, (1 << 64) - 1)
                 for error in (0.01, 5e-324, 1e-300, 1 - 2 ** -53) for items in (0, 1 << 55)]
        self.load("BF", [raw_bf(link) for link in links])
        self.load("BF", [raw_bf(*[raw_link(1, 0.01, 1 << 30)] * 64), raw_bf(),
                         raw_bf(links[-1], growth=0),
                         *(raw_bf(*[raw_link(1, 0.01)] * n) for n in (1075, 1076))])
        n2 = [(*raw_link(100, 0.01, size)[:7], n) for size in self.SIZES
              for n in (1, 9, 48, 63, 255)]
        self.load("BF", [raw_bf(link) for link in n2])

    def fills_slowly(self, size, expansion, subs):
        """Some sizes fit into the memory of many machines, but take long to fill."""
        size *= sum(expansion ** j for j in range(min(subs, 50))) if expansion != 1 else subs
        return 1 << 25 < size < 1 << 40

    def test_cf_in_weirs_format(self):
        self.load("CF", [own_cf(buckets, bucket, expansion, subs)
                         for buckets in (0, 1, 3, 1 << 10, 1 << 20, 1 << 30, 1 << 39, 1 << 40)
                         for bucket in (0, 1, 255, 256) for expansion in (0, 1, 2, 3, 32768, 65535)
                         for subs in (0, 1, 2, 46, 65535)
                         if not self.fills_slowly(buckets * bucket, expansion, subs)])
        self.load("CF", [own_cf(64, 2, 1, 1, 0)])

    def test_cf_in_redisblooms_format(self):
        self.load("CF", [RAW_CF.pack(items, buckets, deleted, subs, bucket, 20, expansion)
                         for buckets in (0, 1, 3, 1 << 10, 1 << 39, 1 << 40, (1 << 64) - 1)
                         for bucket in (0, 1, 255, 256) for expansion in (0, 1, 2, 3, 32768, 65535)
                         for subs in (0, 1, 65535, 65536, 1 << 63) for items in (0, 1 << 62)
                         for deleted in (0, 1 << 62)
                         if not self.fills_slowly(buckets * bucket, expansion, subs)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
