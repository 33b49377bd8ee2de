# SPDX-License-Identifier: MIT
"""WEIR.WINDOW.* of weir-redis.so in a real server: ages of items, files, replicas, clocks and
damaged values. A file with chosen times stands for a clock that was stepped. It runs as
test_window.py MODULE."""
import glob
import os
import random
import struct
import sys
import time
import unittest

import redis

from formats import UNSIGNED, Value, crc64
from hostile import damage, mutate_field, resize, splice, strings
from served import Case, HOSTILE, Server, digests, free_port, wait_until

ALWAYS = ["--appendonly", "yes", "--appendfsync", "always"]
HOUR, DAY = 3600 * 1000, 86400 * 1000


def clock():
    return int(time.time() * 1000)


def settings(error=0.001, capacity=1000, seconds=3600, generations=4, expansion=2, seed=17):
    """The settings of WEIR.WINDOW.MAKE."""
    return struct.pack("<d5Q", error, capacity, seed, seconds, generations, expansion)


def append_only_file(server):
    parts = sorted(glob.glob(os.path.join(server.folder, "appendonlydir", "*.aof")))
    return b"".join(open(part, "rb").read() for part in parts)


class Filed(Server):
    """A server that begins with an append-only file of @commands, each with its time."""

    def __init__(self, *commands, **options):
        self.commands = commands
        super().__init__(options=ALWAYS, **options)

    def start(self):
        path = os.path.join(self.folder, "appendonly.aof")
        if not os.path.exists(os.path.join(self.folder, "appendonlydir")):
            with open(path, "wb") as file:
                for *words, at in self.commands:
                    words = [w if isinstance(w, bytes) else str(w).encode()
                             for w in (*words, "AT", at)]
                    file.write(b"*%d\r\n" % len(words))
                    file.write(b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        super().start()


class WindowCase(Case):
    def filed(self, *commands, **options):
        server = Filed(*commands, **options)
        self.addCleanup(server.close)
        return server

    def has(self, server, *items, key="k"):
        """Return: an answer for each item."""
        return items and server.client.execute_command("WEIR.WINDOW.MEXISTS", key, *items)

    def info(self, server, key="k"):
        words = server.client.execute_command("WEIR.WINDOW.INFO", key)
        return {words[i].decode(): words[i + 1] for i in range(0, len(words), 2)}

    def reserve(self, server, key="k", error="0.0001", capacity=1000, seconds=3600, *options):
        return server.client.execute_command("WEIR.WINDOW.RESERVE", key, error, capacity, seconds,
                                             *options)


class Commands(WindowCase):
    def setUp(self):
        self.server = self.serve()
        self.run_ = self.server.client.execute_command

    def test_add_answers_whether_the_window_lacked_the_item(self):
        self.assertEqual(self.reserve(self.server), b"OK")
        self.assertEqual([self.run_("WEIR.WINDOW.ADD", "k", i) for i in "aab"], [1, 0, 1])
        self.assertEqual(self.run_("WEIR.WINDOW.MADD", "k", "c", "a", "c"), [1, 0, 0])
        self.assertEqual(self.run_("WEIR.WINDOW.EXISTS", "k", "c"), 1)
        self.assertEqual(self.run_("WEIR.WINDOW.EXISTS", "k", "d"), 0)
        self.assertEqual(self.has(self.server, *"abcd"), [1, 1, 1, 0])
        self.assertEqual(self.run_("TYPE", "k"), b"weirwindo")

    def test_info_tells_settings_and_use(self):
        self.reserve(self.server, "k", "0.01", 1000, 60)
        self.run_("WEIR.WINDOW.MADD", "k", *range(10))
        info = self.info(self.server)
        self.assertLess(info.pop("Age of last write"), 60000)
        self.assertGreater(info.pop("Size"), 500)
        self.assertEqual(info, {
            "Error rate": b"0.01", "Capacity": 1000, "Seconds": 60, "Generations": 4,
            "Expansion rate": 2, "Generations in use": 1, "Number of items in use": 10,
            "Clock difference": 0})
        self.reserve(self.server, "f", "0.01", 1000, 60, "GENERATIONS", 1, "NONSCALING")
        info = self.info(self.server, "f")
        self.assertEqual((info["Generations"], info["Expansion rate"]), (1, None))
        self.assertEqual(self.resp3(self.server, b"WEIR.WINDOW.ADD k q",
                                    b"WEIR.WINDOW.MEXISTS k q z", b"WEIR.WINDOW.INFO k")[:5],
                         [b"#t", b"*2", b"#t", b"#f", b"%10"])

    def test_missing_key_has_nothing_and_takes_nothing(self):
        self.assertEqual(self.run_("WEIR.WINDOW.EXISTS", "none", "a"), 0)
        self.assertEqual(self.run_("WEIR.WINDOW.MEXISTS", "none", "a", "b"), [0, 0])
        for words in (("ADD", "none", "a"), ("MADD", "none", "a"), ("INFO", "none")):
            self.refused(self.run_, "WEIR.WINDOW." + words[0], *words[1:], text="not found")
        self.assertEqual(self.run_("EXISTS", "none"), 0)

    def test_other_types_are_refused(self):
        self.run_("SET", "s", "text")
        self.run_("BF.ADD", "b", "a")
        self.reserve(self.server)
        for key in "sb":
            for words in (("RESERVE", key, "0.1", 1, 1), ("ADD", key, "a"), ("MADD", key, "a"),
                          ("EXISTS", key, "a"), ("MEXISTS", key, "a"), ("INFO", key)):
                self.refused(self.run_, "WEIR.WINDOW." + words[0], *words[1:], text="WRONGTYPE")
        for words in (("BF.ADD", "k", "a"), ("CF.ADD", "k", "a"), ("BF.EXISTS", "k", "a")):
            self.refused(self.run_, *words, text="WRONGTYPE")

    def test_reserve_refuses_numbers_outside_their_limits(self):
        for words, text in (
                (("x", 1, 1), "bad error rate"), ((0, 1, 1), "0 < error rate range < 1"),
                ((1, 1, 1), "0 < error rate range < 1"), (("nan", 1, 1), "error rate"),
                ((0.1, "x", 1), "bad capacity"), ((0.1, 0, 1), "capacity must be"),
                ((0.1, (1 << 48) + 1, 1), "capacity must be"), ((0.1, -1, 1), "capacity must be"),
                ((0.1, 1, "x"), "bad seconds"), ((0.1, 1, 0), "seconds must be"),
                ((0.1, 1, "1.5"), "bad seconds"), ((0.1, 1, 1 << 32), "seconds must be"),
                ((0.1, 1, 1, "GENERATIONS"), "unknown argument"),
                ((0.1, 1, 1, "GENERATIONS", "x"), "bad generations"),
                ((0.1, 1, 1, "GENERATIONS", 0), "generations must be"),
                ((0.1, 1, 1, "GENERATIONS", 65), "generations must be"),
                ((0.1, 1, 1, "EXPANSION", "x"), "bad expansion"),
                ((0.1, 1, 1, "EXPANSION", 0), "expansion must be"),
                ((0.1, 1, 1, "EXPANSION", 1 << 32), "expansion must be"),
                ((0.1, 1, 1, "EXPANSION", 2, "NONSCALING"), "cannot expand"),
                ((0.1, 1, 1, "AT", clock()), "unknown argument"),
                (("1e-9", 1 << 48, 1), "no memory")):
            self.refused(self.run_, "WEIR.WINDOW.RESERVE", "r", *words, text=text)
        self.assertEqual(self.run_("EXISTS", "r"), 0)
        self.reserve(self.server, "r", 0.5, 1, (1 << 32) - 1, "generations", 64, "expansion", 9)
        self.refused(self.run_, "WEIR.WINDOW.RESERVE", "r", 0.1, 1, 1, text="item exists")
        self.assertEqual(self.run_("WEIR.WINDOW.ADD", "r", "a"), 1)

    def test_wrong_numbers_of_words_are_refused(self):
        self.reserve(self.server)
        for words in (("RESERVE", "r", 0.1, 1), ("ADD", "k"), ("ADD", "k", "a", "b"),
                      ("MADD", "k"), ("EXISTS", "k"), ("EXISTS", "k", "a", "b"), ("MEXISTS", "k"),
                      ("INFO", "k", "SIZE")):
            self.refused(self.run_, "WEIR.WINDOW." + words[0], *words[1:], text="wrong number")

    def test_clients_cannot_tell_a_time(self):
        """From a client, AT and a number are items, and the internal commands are refused."""
        self.reserve(self.server)
        self.refused(self.run_, "WEIR.WINDOW.ADD", "k", "a", "AT", 5, text="wrong number")
        self.assertEqual(self.run_("WEIR.WINDOW.MADD", "k", "a", "AT", 5), [1, 1, 1])
        self.assertEqual(self.has(self.server, "a", "AT", 5), [1, 1, 1])
        for words in (("MAKE", "m", settings(), "AT", clock()),
                      ("LOAD", "k", clock(), b"data", "AT", clock())):
            self.refused(self.run_, "WEIR.WINDOW." + words[0], *words[1:], text="only a master")

    def test_full_generation_refuses_and_its_replica_agrees(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        self.reserve(master, "k", "0.0001", 40, 3600, "NONSCALING")
        answers = master.client.execute_command("WEIR.WINDOW.MADD", "k", *range(30))
        self.assertEqual(answers[:-1], [1] * 10)
        self.assertEqual(str(answers[-1]), "non scaling filter is full")
        self.refused(master.client.execute_command, "WEIR.WINDOW.ADD", "k", "new",
                     text="non scaling filter is full")
        master.client.wait(1, 0)
        self.equal(master, [replica], "k")

    def test_error_rate_is_at_most_the_windows(self):
        self.reserve(self.server, "k", "0.02", 4000, 4)
        begin = time.time()
        while time.time() < begin + 4:
            first = int((time.time() - begin) * 1000)
            self.run_("WEIR.WINDOW.MADD", "k", *range(first, first + 10))
        self.assertGreaterEqual(self.info(self.server)["Generations in use"], 3)
        false = sum(self.has(self.server, *(b"x%d" % i for i in range(20000))))
        self.assertLess(false, 20000 * 0.02 * 1.2)


class Ages(WindowCase):
    def watch(self, server, added, span, step, item="a"):
        """Ask for the item until it is gone. @added: the times before and after it was added."""
        while True:
            before = time.time()
            found, = self.has(server, item)
            after = time.time()
            if not found:
                self.assertGreaterEqual(after - added[0], span - 0.002)
                return
            self.assertLessEqual(before - added[1], span + step + 0.002)
            time.sleep(0.02)

    def add(self, server, item="a"):
        before = time.time()
        server.client.execute_command("WEIR.WINDOW.ADD", "k", item)
        return before, time.time()

    def test_item_is_found_for_the_span_and_forgotten_a_step_later(self):
        server = self.serve()
        for options, step in (((), 0.25), (("GENERATIONS", 1), 1), (("GENERATIONS", 64), 0.016)):
            server.client.delete("k")
            self.reserve(server, "k", "0.0001", 100, 1, *options)
            time.sleep(0.1)
            added = self.add(server)
            self.assertEqual(self.has(server, "a"), [1])
            self.watch(server, added, 1, step)
            self.assertEqual(self.info(server)["Generations in use"], 0)

    def test_item_that_is_added_again_lives_on(self):
        server = self.serve()
        self.reserve(server, "k", "0.0001", 100, 1)
        for _ in range(5):
            added = self.add(server)
            self.assertEqual(self.has(server, "a"), [1])
            time.sleep(0.4)
        self.watch(server, added, 1, 0.25)

    def test_memory_stays_that_of_five_generations(self):
        server = self.serve()
        self.reserve(server, "k", "0.01", 100000, 1) # more than a client adds in a second
        sizes, end = [], time.time() + 2.5
        while time.time() < end:
            self.add(server, time.time())
            sizes.append(server.client.memory_usage("k"))
        self.assertLessEqual(max(sizes), 5 * sizes[0] + 1000)

    def test_item_ages_while_the_server_is_down(self):
        for name, options in (("rdb", ["--save", "3600 1"]), ("aof", ALWAYS)):
            with self.subTest(name):
                server = self.serve(options=options)
                self.reserve(server, "k", "0.0001", 100, 2)
                added = self.add(server)
                if name == "rdb":
                    server.client.save()
                server.again()
                before = digests(server.client, "k")
                if time.time() - added[0] < 2:
                    self.assertEqual(self.has(server, "a"), [1])
                server.kill()
                time.sleep(max(0, added[1] + 3 - time.time())) # 1.5 spans
                server.start()
                self.assertEqual(digests(server.client, "k"), before)
                self.assertEqual(self.has(server, "a"), [0])
                self.assertEqual(server.client.execute_command("WEIR.WINDOW.ADD", "k", "a"), 1)
                self.assertEqual(self.has(server, "a"), [1])


class Clocks(WindowCase):
    """A file tells times by a clock that differs from this server's."""

    def test_file_that_is_replayed_a_day_later_forgets_what_is_a_day_old(self):
        then = clock() - DAY
        server = self.filed(
            ("WEIR.WINDOW.MAKE", "k", settings(), then),
            ("WEIR.WINDOW.MADD", "k", "old", "AT", then + 1000),
            ("WEIR.WINDOW.ADD", "k", "young", then + DAY - HOUR + 60000))
        self.assertEqual(self.has(server, "old", "young", "AT"), [0, 1, 0])
        self.assertEqual(server.client.execute_command("WEIR.WINDOW.ADD", "k", "old"), 1)
        self.assertEqual(self.has(server, "old", "young"), [1, 1])
        self.assertEqual(self.info(server)["Clock difference"], 0)

    def test_items_from_a_file_have_their_own_ages(self):
        now = clock()
        step = HOUR // 4
        server = self.filed(
            ("WEIR.WINDOW.MAKE", "k", settings(), now - 5 * HOUR),
            *(("WEIR.WINDOW.ADD", "k", i, now - 5 * HOUR + i * 60000) for i in range(300)))
        found = self.has(server, *range(300))
        self.assertEqual(found, sorted(found))
        oldest = now - (now - 5 * HOUR + found.index(1) * 60000)
        self.assertGreaterEqual(oldest, HOUR - 60000)
        self.assertLess(oldest, HOUR + step + 60000)
        self.assertEqual(self.info(server)["Generations in use"], 4)

    def test_clock_set_back_an_hour_forgets_nothing_early(self):
        then = clock() + HOUR # the time before the clock was set back
        server = self.filed(("WEIR.WINDOW.MAKE", "k", settings(seconds=60), then - 50000),
                            ("WEIR.WINDOW.ADD", "k", "a", then - 45000),
                            ("WEIR.WINDOW.ADD", "k", "b", then))
        self.assertEqual(self.has(server, "a", "b"), [1, 1])
        self.assertEqual(server.client.execute_command("WEIR.WINDOW.MADD", "k", "c", "b"), [1, 0])
        self.assertEqual(self.has(server, "a", "b", "c"), [1, 1, 1])
        info = self.info(server)
        self.assertAlmostEqual(info["Age of last write"], -HOUR, delta=30000)
        self.assertAlmostEqual(info["Clock difference"], HOUR, delta=30000)
        self.assertIn(str(then).encode(), append_only_file(server).split(b"AT\r\n")[-1])
        before = digests(server.client, "k")
        server.again()
        self.assertEqual(digests(server.client, "k"), before)
        self.assertEqual(self.has(server, "a", "b", "c"), [1, 1, 1])
        self.rewrite(server)
        server.again() # from a value instead of commands
        self.assertAlmostEqual(self.info(server)["Clock difference"], HOUR, delta=60000)

    def test_add_judges_by_the_clock_as_exists_does(self):
        """The first generation expired for a reader at the newest time, but not for one now."""
        base = clock() + HOUR
        server = self.filed(("WEIR.WINDOW.MAKE", "k", settings(seconds=10, generations=3), base),
                            *(("WEIR.WINDOW.ADD", "k", after, base + after)
                              for after in (3333, 10002, 13335)))
        self.assertEqual(self.has(server, 3333), [1])
        self.assertEqual(server.client.execute_command("WEIR.WINDOW.ADD", "k", 3333), 0)

    def test_digest_depends_on_begins_and_items(self):
        now = clock()
        server = self.filed(*(command for key, begin in (("k", now - 2000), ("l", now - 1000),
                                                         ("m", now - 1000))
                              for command in (("WEIR.WINDOW.MAKE", key, settings(), begin),
                                              ("WEIR.WINDOW.ADD", key, "a", now - 500))),
                            ("WEIR.WINDOW.MAKE", "n", settings(), now - 1000),
                            ("WEIR.WINDOW.ADD", "n", "b", now - 500))
        k, l, m, n = digests(server.client, *"klmn")
        self.assertNotEqual(k, l)
        self.assertEqual(l, m)
        self.assertNotEqual(m, n)

    def test_clock_set_ahead_an_hour_forgets_by_that_clock(self):
        then = clock() - HOUR
        server = self.filed(("WEIR.WINDOW.MAKE", "k", settings(seconds=60), then),
                            ("WEIR.WINDOW.ADD", "k", "a", then),
                            ("WEIR.WINDOW.MAKE", "l", settings(seconds=7200), then),
                            ("WEIR.WINDOW.ADD", "l", "a", then))
        self.assertEqual(self.has(server, "a"), [0])
        self.assertEqual(self.has(server, "a", key="l"), [1])
        for key in "kl":
            self.assertAlmostEqual(self.info(server, key)["Age of last write"], HOUR, delta=30000)
            server.client.execute_command("WEIR.WINDOW.ADD", key, "b")
        self.assertEqual(self.has(server, "a", "b"), [0, 1])
        self.assertEqual(self.has(server, "a", "b", key="l"), [1, 1])

    def test_write_of_an_earlier_time_counts_as_the_newest(self):
        now = clock()
        server = self.filed(("WEIR.WINDOW.MAKE", "k", settings(), now - 1000),
                            ("WEIR.WINDOW.ADD", "k", "a", now - DAY))
        self.assertEqual(self.has(server, "a"), [1])
        self.assertEqual(self.info(server)["Generations in use"], 1)

    def test_replica_with_another_clock_keeps_items_for_the_span(self):
        """The master's clock is an hour ahead of the replica's."""
        then = clock() + HOUR
        master = self.filed(("WEIR.WINDOW.MAKE", "k", settings(seconds=60), then - 50000),
                            ("WEIR.WINDOW.ADD", "k", "a", then - 45000),
                            ("WEIR.WINDOW.ADD", "k", "b", then), port=free_port())
        replica = self.replica_of(master)
        master.client.execute_command("WEIR.WINDOW.ADD", "k", "c")
        master.client.wait(1, 0)
        self.equal(master, [replica], "k")
        self.assertEqual(self.has(replica, "a", "b", "c"), [1, 1, 1])
        self.assertAlmostEqual(self.info(replica)["Clock difference"], HOUR, delta=30000)
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(replica.client.execute_command("WEIR.WINDOW.ADD", "k", "d"), 1)
        self.assertEqual(self.has(replica, "a", "b", "c", "d"), [1] * 4)

    def test_bad_commands_of_a_file_change_nothing(self):
        now = clock()
        chain = self.header_of()
        server = self.filed(
            ("WEIR.WINDOW.MAKE", "k", settings(), now), ("WEIR.WINDOW.ADD", "k", "a", now),
            ("WEIR.WINDOW.MAKE", "k", settings(), now), ("WEIR.WINDOW.ADD", "k", "b", -1),
            ("WEIR.WINDOW.ADD", "k", "b", 1 << 54), ("WEIR.WINDOW.ADD", "k", "b", "x"),
            *(("WEIR.WINDOW.MAKE", "m", bad, now) for bad in (
                b"", settings()[:-1], settings(error=0), settings(capacity=0),
                settings(seconds=0), settings(generations=0), settings(generations=65),
                settings(seed=0), settings(expansion=1 << 32), settings(seconds=1 << 32))),
            *(("WEIR.WINDOW.MAKE", "m", settings(), header, now) for header in (
                b"", b"header", chain[:-1], chain)),
            *(("WEIR.WINDOW.LOAD", "k", begin, data, now) for begin, data in (
                (now, b""), (now, b"x" * 32), (now - 900000, chain), (now + 900000, chain),
                (now + 1, chain), (now + 900000, b""), (-1, b""), ("x", b""), (now, chain))),
            ("WEIR.WINDOW.LOAD", "m", now, b"", now))
        self.assertEqual(self.has(server, "a", "b"), [1, 0])
        self.assertEqual(self.info(server)["Generations in use"], 1)
        self.assertEqual(server.client.exists("m"), 0)

    def header_of(self):
        """Return: the header of a chain, of a key of BF.*."""
        client = self.serve().client
        client.execute_command("BF.RESERVE", "b", "0.0002", 250)
        return client.execute_command("BF.SCANDUMP", "b", 0)[1]


class Keeping(WindowCase):
    def fill(self, server, items=3000):
        """Make windows of several generations: of compact links, and of blocked ones."""
        for key, capacity, options in (("k", 100, ()), ("l", 100000, ()),
                                       ("n", 100000, ("GENERATIONS", 3, "NONSCALING"))):
            self.reserve(server, key, "0.001", capacity, 1, *options)
        for part in range(5):
            for key in "kln":
                server.client.execute_command(
                    "WEIR.WINDOW.MADD", key, *range(part * items, (part + 1) * items))
            time.sleep(0.3)

    def generations(self, server):
        """Return: how many generations window l has. A value begins with five other numbers."""
        fields = Value.of(server.client.dump("l")).fields
        return sum(code == UNSIGNED for code, _ in fields) - 5

    def test_rewrite_at_the_memory_limit_keeps_the_window(self):
        server = self.serve(options=[*ALWAYS, "--aof-use-rdb-preamble", "no"])
        self.reserve(server, "large", "0.01", 8000000, 1000, "GENERATIONS", 1)
        server.client.execute_command("WEIR.WINDOW.MADD", "large", *range(1000))
        before = digests(server.client, "large")
        server.client.config_set("maxmemory", 1 << 20)
        self.rewrite(server)
        server.again()
        self.assertEqual(digests(server.client, "large"), before)

    def test_files_keep_all_generations(self):
        for preamble in ("yes", "no"):
            with self.subTest(preamble):
                server = self.serve(options=[*ALWAYS, "--aof-use-rdb-preamble", preamble,
                                             "--rdbcompression", "no"])
                self.fill(server)
                self.assertGreater(self.generations(server), 2)
                before = digests(server.client, *"kln")
                server.again()
                self.assertEqual(digests(server.client, *"kln"), before)
                self.rewrite(server)
                self.assertEqual(b"WEIR.WINDOW.LOAD" in append_only_file(server),
                                 preamble == "no")
                server.again()
                self.assertEqual(digests(server.client, *"kln"), before)
                server.client.execute_command("WEIR.WINDOW.MADD", "k", "a", "b")
                before = digests(server.client, *"kln")
                server.again()
                self.assertEqual(digests(server.client, *"kln"), before)

    def test_rewrite_splits_a_large_generation(self):
        server = self.serve(options=[*ALWAYS, "--aof-use-rdb-preamble", "no"])
        self.reserve(server, "k", "0.01", 20000000, 3600, "GENERATIONS", 1)
        server.client.execute_command("WEIR.WINDOW.MADD", "k", *range(1000))
        before = digests(server.client, "k")
        self.rewrite(server)
        self.assertGreater(append_only_file(server).count(b"WEIR.WINDOW.LOAD"), 1)
        server.again()
        self.assertEqual(digests(server.client, "k"), before)
        self.assertEqual(self.has(server, *range(1000)), [1] * 1000)

    def test_rewrite_keeps_times(self):
        now = clock()
        server = self.filed(
            ("WEIR.WINDOW.MAKE", "k", settings(), now - 2 * HOUR),
            *(("WEIR.WINDOW.ADD", "k", i, now - 2 * HOUR + i * 60000) for i in range(120)))
        server.client.config_set("aof-use-rdb-preamble", "no")
        before, found = digests(server.client, "k"), self.has(server, *range(120))
        self.rewrite(server)
        server.again()
        self.assertEqual(digests(server.client, "k"), before)
        self.assertEqual(self.has(server, *range(120)), found)

    def test_replicas_have_the_same_bits(self):
        """One replica follows from the start, one connects late, and one loses its connection."""
        master = self.serve(port=free_port())
        early, broken = self.replica_of(master), self.replica_of(master)
        self.fill(master)
        late = self.replica_of(master)
        broken.client.client_kill_filter(_type="master")
        master.client.execute_command("WEIR.WINDOW.MADD", "k", "x", "y")
        wait_until("the replica follows again",
                   lambda: broken.client.info()["master_link_status"] == "up")
        master.client.execute_command("WEIR.WINDOW.ADD", "l", "z")
        master.client.wait(3, 0)
        self.equal(master, [early, late, broken], *"kln")
        self.assertGreaterEqual(master.client.info()["sync_partial_ok"], 1)
        self.assertEqual(early.client.execute_command("WEIR.WINDOW.EXISTS", "l", "z"), 1)
        early.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(early.client.execute_command("WEIR.WINDOW.ADD", "l", "z2"), 1)
        self.assertEqual(self.has(early, "z", "z2", key="l"), [1, 1])

    def test_duplicates_are_not_replicated(self):
        server = self.serve(options=ALWAYS)
        self.reserve(server)
        server.client.execute_command("WEIR.WINDOW.ADD", "k", "a")
        before = append_only_file(server)
        for _ in range(20):
            server.client.execute_command("WEIR.WINDOW.ADD", "k", "a")
        self.assertEqual(append_only_file(server), before)

    def test_transactions_and_scripts_are_replicated(self):
        server = self.serve(port=free_port(), options=ALWAYS)
        replica = self.replica_of(server)
        with server.client.pipeline(transaction=True) as together:
            together.execute_command("WEIR.WINDOW.RESERVE", "k", "0.01", 1000, 3600)
            for i in range(300):
                together.execute_command("WEIR.WINDOW.ADD", "k", i)
            together.execute()
        script = """redis.call('WEIR.WINDOW.RESERVE', KEYS[1], '0.01', 100, 3600)
                    for i = 1, 300 do redis.call('WEIR.WINDOW.MADD', KEYS[1], i, 'AT', i) end"""
        server.client.eval(script, 1, "s")
        server.client.wait(1, 0)
        self.equal(server, [replica], "k", "s")
        self.assertEqual(self.has(server, "AT", key="s"), [1])
        before = digests(server.client, "k", "s")
        server.again()
        self.assertEqual(digests(server.client, "k", "s"), before)

    def test_copies_equal_the_key(self):
        server = self.serve(options=["--rdbcompression", "no"])
        self.fill(server)
        for key in "kln":
            dump = server.client.dump(key)
            server.client.copy(key, "copy")
            server.client.restore("restored", 0, dump)
            self.assertEqual(len(set(digests(server.client, key, "copy", "restored"))), 1)
            self.assertEqual(server.client.dump("copy"), dump)
            self.assertEqual(server.client.dump("restored"), dump)
            server.client.execute_command("WEIR.WINDOW.ADD", "copy", "only in the copy")
            self.assertEqual(server.client.dump(key), dump)
            server.client.unlink("copy", "restored")

    def test_memory_usage_is_what_redis_allocated(self):
        server = self.serve()
        used = server.client.info("memory")["used_memory"]
        for i in range(300):
            self.reserve(server, "k%d" % i, "0.01", 4000, 60)
        grown = server.client.info("memory")["used_memory"] - used
        told = sum(server.client.memory_usage("k%d" % i) for i in range(300))
        self.assertAlmostEqual(told / grown, 1, delta=0.1)


class Limits(WindowCase):
    def test_max_bytes_bounds_all_generations_together(self):
        master = self.serve(["max-bytes", "20kb"], port=free_port(), options=ALWAYS)
        replica = self.replica_of(master)
        run = master.client.execute_command
        self.refused(run, "WEIR.WINDOW.RESERVE", "k", "0.01", 1000000, 60, text="max-bytes")
        self.reserve(master, "k", "0.01", 4000, 1)
        refused, end, i = 0, time.time() + 2.5, 0
        while time.time() < end:
            answers = run("WEIR.WINDOW.MADD", "k", *range(i, i + 500))
            i += 500
            taken = [a for a in answers if not isinstance(a, Exception)]
            self.assertEqual(self.has(master, *range(i - 500, i - 500 + len(taken))),
                             [1] * len(taken) or ())
            if len(taken) < len(answers):
                self.assertIn("max-bytes", str(answers[-1]))
                refused += 1
            time.sleep(0.02)
        self.assertGreater(refused, 0)
        self.assertLess(master.client.memory_usage("k"), 22000)
        master.client.wait(1, 0)
        self.equal(master, [replica], "k")
        before = digests(master.client, "k")
        master.again()
        self.assertEqual(digests(master.client, "k"), before)

    def test_items_that_a_limit_refused_are_not_replicated(self):
        master = self.serve(["max-bytes", "20kb"], port=free_port(), options=ALWAYS)
        replica = self.replica_of(master)
        self.reserve(master, "k", "0.01", 700)
        answers = master.client.execute_command("WEIR.WINDOW.MADD", "k", *range(30000))
        self.assertIn("max-bytes", str(answers[-1]))
        self.assertGreater(len(answers), 100)
        master.client.wait(1, 0)
        self.equal(master, [replica], "k")
        before = digests(master.client, "k")
        master.again()
        self.assertEqual(digests(master.client, "k"), before)


class Hostile(WindowCase):
    """RESTORE refuses a damaged payload, or makes a key that serves every command."""

    def payloads(self, server):
        for key, size, options in (("a", 20, ()), ("b", 20000, ("GENERATIONS", 2)),
                                   ("c", 50, ("NONSCALING",))):
            self.reserve(server, key, "0.01", size, 1, *options)
        for part in range(4):
            for key in "abc":
                items = range(9 * part, 9 * part + 20)
                server.client.execute_command("WEIR.WINDOW.MADD", key, *items)
            time.sleep(0.3)
        return [server.client.dump(key) for key in "abc"]

    def hostile(self, dice, payloads):
        value, other = (Value.of(p) for p in dice.choices(payloads, k=2))
        if dice.random() < 0.2:
            splice(dice, value.fields, other.fields)
        for _ in range(dice.randint(1, 2)):
            if strings(value.fields) and dice.random() < 0.2:
                resize(dice, value.fields)
            elif dice.random() < 0.2: # a time or the head
                i = dice.choice((0, 1, 5, 6))
                code, n = value.fields[i]
                value.fields[i] = (code, n + dice.choice((-1, 1, 250, -250, 500, 1000, 1 << 20))
                                   if code == UNSIGNED else n)
            else:
                mutate_field(dice, value.fields)
        payload = value.payload()
        if dice.random() < 0.1:
            raw = bytearray(payload[10:-10]) # the type stays
            damage(dice, raw)
            payload = payload[:10] + raw + value.version
            payload += crc64(payload)
        return payload

    def test_damaged_payloads_are_refused_or_serve(self):
        server = self.serve(["max-bytes", "1mb"], options=["--rdbcompression", "no"])
        run, dice = server.client.execute_command, random.Random(46)
        payloads, taken = self.payloads(server), 0
        for _ in range(HOSTILE):
            try:
                run("RESTORE", "h", 0, self.hostile(dice, payloads), "REPLACE")
            except redis.exceptions.ResponseError as e:
                self.assertIn("Bad data format", str(e))
                continue
            taken += 1
            self.serves(server, run)
        self.assertTrue(server.client.ping())
        self.assertGreater(taken, HOSTILE // 20)

    def serves(self, server, run):
        answers = run("WEIR.WINDOW.MADD", "h", *range(30))
        added = [i for i, a in enumerate(answers) if not isinstance(a, Exception)]
        if added:
            self.assertEqual(self.has(server, *added, key="h"), [1] * len(added))
        self.info(server, "h")
        dump = server.client.dump("h")
        run("COPY", "h", "h2", "REPLACE")
        self.assertEqual(server.client.dump("h2"), dump)
        run("RESTORE", "h2", 0, dump, "REPLACE")
        self.assertEqual(len(set(digests(server.client, "h", "h2"))), 1)
        server.client.memory_usage("h")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
