#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client cannot have redis-server killed for its memory: a server in a control group of 400 MB
refuses what exceeds it, and answers PING afterwards. test_memory.py MODULE"""
import os
import struct
import sys
import time
import unittest

import redis

from served import Case, Server, free_port

MB = 1 << 20
LIMIT = 400 * MB


def group_folder():
    """A new memory control group of version 1 below this process's own, or None."""
    for line in open("/proc/self/cgroup"):
        number, names, path = line.rstrip("\n").split(":", 2)
        if "memory" in names.split(","):
            folder = "/sys/fs/cgroup/memory%s/weir-redis.%d" % (path.rstrip("/"), os.getpid())
            try:
                os.mkdir(folder)
                with open(folder + "/memory.limit_in_bytes", "w") as limit:
                    limit.write(str(LIMIT))
            except OSError:
                return None
            return folder
    return None


class Limited(Server):
    """A server in the control group."""

    def command(self):
        return ["sh", "-c", 'echo $$ > "%s/cgroup.procs"; exec "$0" "$@"' % GROUP,
                *super().command()]


class Memory(Case):
    def serve_limited(self, *arguments, **options):
        server = Limited(*arguments, **options)
        self.addCleanup(server.close)
        return server

    def refuses(self, server, *command, text="no memory"):
        try:
            server.client.execute_command(*command)
        except redis.exceptions.ResponseError as e:
            self.assertIn(text, str(e))
        else:
            self.fail("%r is not refused" % (command[:3],))
        self.assertTrue(server.client.ping())

    def test_a_reserve_of_a_billion_is_refused(self):
        server = self.serve_limited()
        self.refuses(server, "BF.RESERVE", "k", "0.01", 1 << 30, text="are left of")
        self.refuses(server, "CF.RESERVE", "k", 1 << 30, text="Insufficient memory")
        self.refuses(server, "BF.RESERVE", "k", "0.0000001", 10 ** 14)
        self.refuses(server, "BF.RESERVE", "k", "0.0000001", 10 ** 15, text="capacity")
        self.assertEqual(server.client.dbsize(), 0)

    def test_growth_by_a_large_factor_is_refused(self):
        server = self.serve_limited()
        call = server.client.execute_command
        call("BF.RESERVE", "k", "0.01", 1000000, "EXPANSION", 32768)
        answers, i = [1], 0
        while answers and answers[-1] in (0, 1):
            answers = call("BF.MADD", "k", *range(i, i + 10000))
            i += 10000
        self.assertIn("no memory", str(answers[-1]))
        self.assertEqual(call("BF.INFO", "k", "FILTERS"), [1])
        self.assertEqual(set(call("BF.MEXISTS", "k", *range(10000))), {1})
        call("CF.RESERVE", "c", 1 << 20, "EXPANSION", 32768)
        answers, i = [1], 0
        while -1 not in answers:
            answers = call("CF.INSERT", "c", "ITEMS", *range(i, i + 10000))
            i += 10000
        self.assertEqual(call("CF.INFO", "c")[5], 1)
        self.assertTrue(server.client.ping())

    def test_many_reserves_that_only_together_exceed_it(self):
        server = self.serve_limited()
        taken = 0
        for i in range(100):
            try:
                server.client.execute_command("BF.RESERVE", "k%d" % i, "0.01", 5000000)
                taken += 1
            except redis.exceptions.ResponseError as e:
                self.assertIn("are left of", str(e))
        self.assertGreater(taken, 20)
        self.assertLess(taken, 60)
        self.assertTrue(server.client.ping())
        server.client.flushall()
        time.sleep(0.5)
        server.client.execute_command("BF.RESERVE", "again", "0.01", 5000000)

    def test_fork_share_stays_free(self):
        taken = []
        for share in ("0", "1"):
            server, n = self.serve_limited(arguments=["fork-share", share]), 0
            with self.assertRaisesRegex(redis.exceptions.ResponseError, "are left of"):
                for n in range(100):
                    server.client.execute_command("BF.RESERVE", "k%d" % n, "0.01", 5000000)
            taken.append(n)
            server.kill()
        self.assertLess(taken[1], taken[0] * 0.7)

    def test_small_keys_count_too(self):
        server = self.serve_limited()
        pipe = server.client.pipeline(transaction=False)
        for i in range(130000):
            pipe.execute_command("BF.RESERVE", "k%d" % i, "0.01", 3000)
        refused = sum(isinstance(a, redis.exceptions.ResponseError)
                      for a in pipe.execute(raise_on_error=False))
        self.assertGreater(refused, 10000)
        self.assertTrue(server.client.ping())

    def test_copies_are_refused(self):
        server = self.serve_limited()
        call = server.client.execute_command
        call("BF.RESERVE", "k", "0.01", 100000000)
        refused = 0
        for i in range(4):
            try:
                call("COPY", "k", "copy%d" % i)
            except redis.exceptions.ResponseError:
                refused += 1
        self.assertGreater(refused, 1)
        self.assertTrue(server.client.ping())

    def test_a_forged_header_is_refused(self):
        server = self.serve_limited()
        bits = 1 << 33
        link = struct.pack("<QQQddIQB", bits // 8, bits, 0, 0.005, 11.027754494, 8, 1 << 29, 0)
        self.refuses(server, "BF.LOADCHUNK", "k", 1, struct.pack("<QIII", 0, 1, 5, 2) + link,
                     text="bad data")
        head = struct.pack("<QQQQHHH", 1, 1 << 32, 0, 1, 2, 20, 1)
        self.refuses(server, "CF.LOADCHUNK", "k", 1, head, text="Couldn't create filter")
        head = struct.pack("<QQQQHHH", 1, 1 << 20, 0, 65535, 2, 20, 1)
        self.refuses(server, "CF.LOADCHUNK", "k", 1, head, text="Couldn't create filter")
        self.assertEqual(server.client.dbsize(), 0)

    def test_maxmemory_is_a_limit_too(self):
        server = self.serve(options=["--maxmemory", "100mb"])
        self.refuses(server, "BF.RESERVE", "k", "0.01", 1 << 27, text="left of maxmemory")
        server.client.execute_command("BF.RESERVE", "k", "0.01", 1 << 20)

    def test_a_full_cache_that_evicts_takes_keys(self):
        server = self.serve(options=["--maxmemory", "20mb", "--maxmemory-policy", "allkeys-lru"])
        pipe = server.client.pipeline(transaction=False)
        for i in range(40000):
            pipe.set("s%d" % i, "x" * 900)
        pipe.execute()
        for i in range(200):
            server.client.execute_command("BF.ADD", "b%d" % i, "x")
            server.client.execute_command("CF.ADD", "c%d" % i, "x")
        server.client.execute_command("BF.RESERVE", "r", "0.01", 1 << 20)
        self.refuses(server, "BF.RESERVE", "k", "0.01", 1 << 25, text="left of maxmemory")

    def test_a_refused_key_leaves_room_for_small_ones(self):
        server = self.serve(options=["--maxmemory", "20mb"])
        server.client.execute_command("BF.RESERVE", "a", "0.01", 10 << 20)
        self.refuses(server, "BF.RESERVE", "b", "0.01", 1 << 29, text="left of maxmemory")
        for i in range(100):
            server.client.execute_command("BF.ADD", "n%d" % i, "x")

    def test_a_replica_takes_what_its_master_has(self):
        master = self.serve(port=free_port())
        replica = self.replica_of(master)
        replica.client.config_set("maxmemory", "20mb")
        master.client.execute_command("BF.RESERVE", "k", "0.01", 1 << 25)
        master.client.execute_command("BF.ADD", "k", "a")
        master.client.wait(1, 5000)
        self.assertEqual(replica.client.execute_command("BF.EXISTS", "k", "a"), 1)


if __name__ == "__main__":
    GROUP = group_folder()
    if not GROUP:
        print("no control group of version 1 may be made here")
        sys.exit(77)
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        os.rmdir(GROUP)
