# SPDX-License-Identifier: MIT
"""weir-redis-check tells which keys of an RDB or append-only file the module takes over. It runs
as test_check.py MODULE."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import unittest

from rdb_files import (dumped_keys, file_of, fill_native, identity, module_key, other_types,
                       string)
from redisbloom_keys import KEYS
from served import HOSTILE, Case

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../../src/servers/redis/weir-redis-check")
FOREIGN = (module_key(b"count", "CMSk-TYPE", 0) + b"\xfe\x03" +
           module_key(b"top\"\n", "TopK-TYPE", 0) + module_key(b"digest", "TDIS-TYPE", 0) +
           module_key(b"\xc3\xa9", "TSDB-TYPE", 5))


def load_check():
    loader = importlib.machinery.SourceFileLoader("check", CHECK)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
    loader.exec_module(module)
    return module


class Check(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, data, name="dump.rdb"):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def check(self, *words, status, **options):
        """Run the program. Return: its output and its errors."""
        done = subprocess.run([sys.executable, "-B", CHECK, *words], capture_output=True,
                              timeout=60, **options)
        self.assertEqual((done.returncode, b"Traceback" in done.stderr), (status, False), done)
        return done.stdout.decode(), done.stderr.decode()

    def native(self, *options):
        """Return: the file of a server that has all native types, without its end."""
        server = self.serve(options=options)
        fill_native(server.client)
        server.client.save()
        with open(os.path.join(server.folder, "dump.rdb"), "rb") as file:
            data = file.read()
        self.assertEqual(data[-9], 0xff)
        return data[:-9]

    # ---- what is found ----

    def test_keys_among_native_keys(self):
        """The types in all encodings, with LZF or without, and with LFU, LRU or no ages."""
        for options in ((), ("--rdbcompression", "no", "--maxmemory", "1gb", "--maxmemory-policy",
                             "allkeys-lru"), ("--maxmemory", "1gb", "--maxmemory-policy",
                                              "allkeys-lfu", "--list-max-listpack-size", "2")):
            native = self.native(*options)
            out, err = self.check(self.write(file_of(native, head=b"")), status=0)
            self.assertEqual((out, err), (
                "written by Redis 7.0.15\n0 keys are taken over, 0 must go first\n", ""))
            data = file_of(native, other_types(), b"\xfe\x07", dumped_keys(KEYS), head=b"")
            out, _ = self.check(self.write(data), status=0)
            self.assertIn("%d keys are taken over, 0 must go first" % len(KEYS), out)

    def test_types_encodings_and_bytes(self):
        out, _ = self.check(self.write(file_of(dumped_keys(KEYS), FOREIGN)), status=1)
        for kind, versions in (("MBbloom--", {"1.0.3": 1, "1.1.1": 3, "2.0.1": 3, "2.8.20": 4}),
                               ("MBbloomCF", {"1.1.1": 3, "2.0.1": 3, "2.8.20": 4})):
            of = [key for key in KEYS if (key.kind == "CF") == kind.endswith("CF")]
            for encoding in set(key.dump[9] & 63 for key in of):
                found, = re.findall(r"%s encoding %d +(\d+) keys +(\d+) bytes  taken over" % (
                    kind, encoding), out)
                here = [key for key in of if key.dump[9] & 63 == encoding]
                self.assertEqual(int(found[0]), len(here))
                self.assertEqual(int(found[1]), sum(len(key.dump) - 11 + len(string(
                    key.name.encode())) for key in here))
        for text in ("CMSk-TYPE .* count-min sketch", "TopK-TYPE .* top-k",
                     "TDIS-TYPE .* t-digest", "TSDB-TYPE encoding 5 .* another module",
                     "redisbloom-2.0.1 yes", "24 keys are taken over, 4 must go first"):
            self.assertRegex(out, text)

    def test_names_and_removal(self):
        """redis-cli reads what --remove writes, and removes these keys alone."""
        path = self.write(file_of(dumped_keys(KEYS[:2]), FOREIGN))
        out, _ = self.check("--keys", path, status=1)
        self.assertEqual(out.splitlines()[:4], [
            'CMSk-TYPE 0 "count"', 'TopK-TYPE 3 "top\\x22\\x0a"', 'TDIS-TYPE 3 "digest"',
            'TSDB-TYPE 3 "\\xc3\\xa9"'])
        out, err = self.check("--remove", path, status=1)
        self.assertIn("4 must go first", err)
        server = self.serve()
        for db, names in ((0, (b"count", b"digest")), (3, (b"top\"\n", b"digest", b"\xc3\xa9"))):
            server.client.execute_command("SELECT", db)
            for name in names:
                server.client.set(name, "v")
        done = subprocess.run(["redis-cli", "-s", server.socket], input=out.encode(),
                              capture_output=True, timeout=60)
        self.assertEqual(done.stdout.split(), [b"OK", b"1", b"OK", b"1", b"1", b"1"])
        self.assertEqual(server.client.keys("*"), [])
        server.client.execute_command("SELECT", 0)
        self.assertEqual(server.client.keys("*"), [b"digest"])

    def test_ages_of_keys(self):
        """An LFU counter is a byte of any value, an LRU age is a length."""
        for age in (b"\xf9\x05", b"\xf9\x40", b"\xf9\xff", b"\xf8\x05", b"\xf8\x7f\xff"):
            key = age + b"\x00" + string(b"k") + string(b"v")
            out, _ = self.check(self.write(file_of(b"\xfe\x00", key, FOREIGN)), status=1)
            self.assertIn("0 keys are taken over, 4 must go first", out)

    def test_data_beside_keys_and_unknown_encodings(self):
        beside = b"\xf7" + identity("scdtype00", 1) + b"\x02\x01\x05\x02ab\x00"
        out, _ = self.check(self.write(file_of(beside)), status=1)
        self.assertIn("scdtype00 data beside keys: must go first", out)
        out, _ = self.check(self.write(file_of(module_key(b"k", "MBbloom--", 5))), status=1)
        self.assertIn("in an unknown encoding", out)
        _, err = self.check(self.write(file_of(head=b"REDIS0011")), status=0)
        self.assertIn("redis-server 7.0 reads up to 10", err)

    def test_the_module_agrees(self):
        """redis-server with the module loads what can be taken over, and stops at the rest."""
        server = self.serve()
        self.assertEqual(server.client.execute_command("WEIR.WINDOW.RESERVE", "w", 0.01, 10, 9),
                         b"OK")
        server.client.execute_command("BF.ADD", "b", "x")
        server.client.execute_command("CF.ADD", "c", "x")
        server.client.save()
        path = os.path.join(server.folder, "dump.rdb")
        out, _ = self.check(path, status=0)
        self.assertEqual(re.findall(r"(\S+) encoding (\d+) +1 keys", out), [
            ("MBbloom--", "64"), ("MBbloomCF", "64"), ("weirwindo", "1")])
        for part in FOREIGN.split(b"\xfe\x03"):
            server.kill()
            with open(path, "wb") as file:
                file.write(file_of(part))
            with self.assertRaisesRegex(AssertionError, "no matching module type"):
                server.start()
            self.check(path, status=1)

    def test_an_empty_file_is_trouble(self):
        _, err = self.check(self.write(b""), status=2)
        self.assertIn("is empty", err)

    def test_a_type_whose_module_stays_is_kept(self):
        path = self.write(file_of(FOREIGN))
        out, _ = self.check("--keys", "--keep", "TSDB-TYPE", path, status=1)
        self.assertNotIn("\nTSDB-TYPE 3 ", "\n" + out)
        self.assertIn("stays: --keep", out)
        self.assertIn("0 keys are taken over, 3 must go first", out)
        types = ("CMSk-TYPE", "TopK-TYPE", "TDIS-TYPE", "TSDB-TYPE")
        self.check(*(word for kind in types for word in ("--keep", kind)), path, status=0)

    def test_append_only_files(self):
        command = b"*2\r\n$8\r\nTOPK.ADD\r\n$1\r\nk\r\n"
        adds = b"#TS:1\r\n*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$1\r\nx\r\n"
        out, _ = self.check(self.write(adds), status=0)
        self.assertIn("1 commands of BF.*, CF.* and WEIR.* in the append-only file: taken", out)
        self.check(self.write(file_of(dumped_keys(KEYS)) + adds), status=0)
        out, _ = self.check("-", status=1, stdin=open(self.write(adds + command), "rb"))
        self.assertIn("TOPK.ADD: 1 commands in the append-only file: remove the keys", out)
        self.check(self.write(adds + b"BF.ADD k x\r\n"), status=2)
        self.check(self.write(adds[:-3]), status=2)
        server = self.serve(options=("--appendonly", "yes"))
        server.client.execute_command("BF.ADD", "k", "x")
        self.rewrite(server)
        server.client.execute_command("BF.ADD", "k", "y")
        folder = os.path.join(server.folder, "appendonlydir")
        out, _ = self.check(folder, status=0)
        self.assertIn("1 keys are taken over", out)
        incr, = (name for name in os.listdir(folder) if name.endswith(".incr.aof"))
        with open(os.path.join(folder, "old.rdb"), "wb") as file: # of a rewrite before
            file.write(file_of(dumped_keys(KEYS)))
        with open(os.path.join(folder, "appendonly.aof.manifest"), "a") as file:
            file.write("file old.rdb seq 1 type h\n")
        out, _ = self.check(folder, status=0)
        self.assertIn("1 keys are taken over", out)
        with open(os.path.join(folder, incr), "ab") as file:
            file.write(command)
        self.check(folder, status=1)
        self.check(self.folder.name, status=2)

    # ---- damaged and hostile files ----

    def run_inside(self, check, data):
        """Run the program in this process. Return: its exit status."""
        errors = io.StringIO()
        sys.argv[1:] = [self.write(data)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            status = check.main()
        self.assertEqual(status == 2, errors.getvalue().startswith("weir-redis-check: /"))
        return status

    def test_every_truncation_is_trouble(self):
        check, words = load_check(), sys.argv[1:]
        try:
            data = file_of(dumped_keys(KEYS[:1]), other_types(), FOREIGN)
            self.assertEqual(self.run_inside(check, data), 1)
            for n in range(1, len(data)):
                self.assertEqual(self.run_inside(check, data[:n]), 2, n)
        finally:
            sys.argv[1:] = words

    def test_damaged_files_end(self):
        check, words, dice = load_check(), sys.argv[1:], random.Random(5)
        data, statuses = file_of(dumped_keys(KEYS[:3]), other_types(), FOREIGN), set()
        try:
            for _ in range(HOSTILE):
                damaged = bytearray(data)
                for _ in range(dice.choice((1, 1, 2, 5))):
                    damaged[dice.randrange(9, len(data))] = dice.randrange(256)
                statuses.add(self.run_inside(check, damaged))
        finally:
            sys.argv[1:] = words
        self.assertEqual(statuses, {1, 2})

    def test_huge_lengths_need_no_memory(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        huge = b"\x81" + (1 << 63).to_bytes(8, "big")
        for value in (b"\x00" + huge, b"\x07" + huge, b"\x01\x01k" + huge, b"\x02\x01k" + huge,
                      b"\x00\x01k\xc3" + huge * 2, b"\x07\xc3\x05" + huge, b"\x0f\x01k" + huge,
                      b"\x07\x01k" + identity("TopK-TYPE", 0) + b"\x05" + huge):
            _, err = self.check(self.write(file_of(value)), status=2, preexec_fn=few)
            self.assertRegex(err, r"byte \d+: .*(copy it again|damaged)")
        for value in (b"\x00\x01k\xff", b"\x63", b"\x07\x01k\xc0\x01", b"\x00\x01k\x82",
                      b"\x07\x01k" + identity("TopK-TYPE", 0) + b"\x09"):
            _, err = self.check(self.write(file_of(value)), status=2)
            self.assertRegex(err, r"byte \d+: .*damaged")
        self.check(self.write(b"*1\r\n$9999999999999\r\nx"), status=2, preexec_fn=few)
        self.check(self.write(b"*" + b"1" * 100000), status=2, preexec_fn=few)
        self.check(self.write(b"PK\x03\x04"), status=2)
        self.check(self.folder.name + "/none", status=2)

    def test_a_large_file_is_read_in_pieces(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
        path = self.write(b"REDIS0010\x00\x04long\x80" + (600 << 20).to_bytes(4, "big"))
        os.truncate(path, os.path.getsize(path) + (600 << 20))
        with open(path, "ab") as file:
            file.write(module_key(b"x" * (1 << 17), "TopK-TYPE", 0) + b"\xff" + bytes(8))
        out, err = self.check("--remove", path, status=1, preexec_fn=few)
        self.assertEqual(out, "SELECT 0\n")
        self.assertIn("has a name of more than 65536 bytes: find it by SCAN", err)
        self.assertEqual(re.findall("dump.rdb: (\\d+) MiB of 600", err), ["256", "512"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
