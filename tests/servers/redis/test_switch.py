# SPDX-License-Identifier: MIT
"""The switch from RedisBloom to the module as its page describes it: the check, on a copy, by a
replica of a server with RedisBloom, and back. It runs as test_switch.py MODULE."""
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import redis

import test_takeover
from formats import ENCODING, is_raw
from old_master import OldMaster
from rdb_files import dumped_keys, file_of
from redisbloom_keys import KEYS
from served import MODULE, Case, digests, free_port, wait_until

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../../src/servers/redis/README.md")
CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../../src/servers/redis/weir-redis-check")
USUAL = test_takeover.USUAL
CHANGED = ("rb-bf-exp4", "rb-bf-default", "rb-cf-expand") # keys that clients change meanwhile
AOF = test_takeover.AOF


class Switch(Case):
    ask, scan, load = (vars(test_takeover.Takeover)[name] for name in ("ask", "scan", "load"))

    def check(self, path):
        done = subprocess.run([sys.executable, "-B", CHECK, path], capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode()

    def old_master(self, keys=(), **options):
        master = OldMaster(file_of(dumped_keys(keys)), **options)
        self.addCleanup(master.close)
        return master

    def follow(self, master, options=()):
        """Return: a server with the module, which begins to follow a master."""
        return self.serve(options=("--replicaof", "127.0.0.1 %d" % master.port, *options),
                          port=free_port())

    def linked(self, server):
        return server.client.info("replication")["master_link_status"] == "up"

    def caught_up(self, server, master):
        wait_until("the replica has all", lambda: self.linked(server) and
                   server.client.info("replication")["slave_repl_offset"] == master.offset())

    # ---- by a file ----

    def test_on_a_copy_and_back(self):
        """The check allows a file, the module loads it, and saves what RedisBloom refuses."""
        server = self.serve()
        server.kill()
        path = os.path.join(server.folder, "dump.rdb")
        with open(path, "wb") as file:
            file.write(file_of(dumped_keys(USUAL)))
        status, out = self.check(path)
        self.assertEqual((status, out.splitlines()[-1]),
                         (0, "%d keys are taken over, 0 must go first" % len(USUAL)))
        server.start()
        for key in USUAL:
            self.ask(server.client, key)
        server.client.save()
        status, out = self.check(path)
        self.assertEqual(status, 0)
        self.assertEqual({line.split()[2] for line in out.splitlines() if "encoding" in line},
                         {str(ENCODING)})
        for key in USUAL: # RedisBloom's encodings end at 4
            identity = int.from_bytes(server.client.dump(key.name)[2:10], "big")
            self.assertEqual(identity & 1023, ENCODING)

    # ---- by a replica ----

    def add_meanwhile(self, master, added, stop):
        """The clients of the old server. @added: receives the items of each key."""
        n = 0
        while not stop.is_set():
            item = b"item-%d" % n
            master.run("BF.ADD", "seen", item)
            master.run("BF.MADD", "rb-bf-exp4", item, item + b"+")
            master.run("BF.INSERT", "grown", "CAPACITY", 20, "ERROR", 0.1, "EXPANSION", 1,
                       "ITEMS", item)
            master.run("BF.ADD", "rb-bf-default", item)
            master.run("CF.ADD", "live", item)
            master.run("CF.ADDNX", "rb-cf-expand", item)
            added.append(item)
            n += 1
            time.sleep(0.002)

    def has_all(self, client, added):
        for key in ("seen", "rb-bf-exp4", "grown", "rb-bf-default"):
            self.assertEqual(client.execute_command("BF.MEXISTS", key, *added).count(0), 0, key)
        for key in ("live", "rb-cf-expand"):
            self.assertEqual(client.execute_command("CF.MEXISTS", key, *added).count(0), 0, key)
        self.assertEqual(set(client.execute_command(
            "BF.MEXISTS", "rb-bf-exp4", *(item + b"+" for item in added))), {1})

    def test_without_downtime(self):
        """Clients add items while the replica synchronises, after it, across a broken connection,
        and to the new master. None is lost."""
        master, added, stop = self.old_master(USUAL, pause=0.03), [], threading.Event()
        master.run("BF.RESERVE", "seen", 0.001, 50)
        master.run("CF.RESERVE", "live", 100000)
        clients = threading.Thread(target=self.add_meanwhile, args=(master, added, stop))
        clients.start()
        try:
            new = self.follow(master, AOF)
            wait_until("the first synchronisation", lambda: self.linked(new))
            during = len(added)
            self.assertGreater(during, 20)
            for broken in (1, 2):
                master.drop()
                wait_until("the replica comes again",
                           lambda: len(master.syncs) > broken and self.linked(new))
            last = self.follow(new) # a replica of the replica
            wait_until("it synchronises", lambda: self.linked(last))
            wait_until("items after it", lambda: len(added) > during + 200)
        finally:
            stop.set()
            clients.join()
        self.assertEqual(master.syncs, ["full", "partial", "partial"])
        self.caught_up(new, master)
        new.client.replicaof("NO", "ONE")
        self.has_all(new.client, added)
        for key in USUAL:
            if key.name not in CHANGED:
                self.ask(new.client, key)
        self.use_new_master(new, last, added)

    def use_new_master(self, new, last, added):
        names = ["seen", "grown", "live", *(key.name for key in USUAL)]
        rest = [b"rest-%d" % n for n in range(500)]
        for key in ("seen", "rb-bf-exp4", "rb-bf-default"):
            new.client.execute_command("BF.MADD", key, *rest)
        new.client.execute_command("BF.MADD", "grown", *rest)
        new.client.execute_command("BF.MADD", "rb-bf-exp4", *(item + b"+" for item in rest))
        for key in ("live", "rb-cf-expand"):
            for item in rest:
                self.assertEqual(new.client.execute_command("CF.ADD", key, item), 1)
        self.has_all(new.client, added + rest)
        self.assertEqual(new.client.wait(1, 0), 1)
        self.equal(new, [last], *names)
        before = digests(new.client, *names)
        new.options = AOF # without replicaof, which would fetch the old keys again
        new.again()
        self.assertEqual(digests(new.client, *names), before)

    def test_equal_commands_give_redisblooms_keys(self):
        """A key that the old server makes meanwhile has the bits that RedisBloom gave it, so both
        answer alike; also in the append-only file of the replica, and in one of RedisBloom."""
        keys = [key for key in KEYS if key.version == "2.8.20" and
                (key.setup.split()[0].endswith(".RESERVE") or key.name == "rb-bf-default")]
        self.assertGreater(len(keys), 10)
        master = self.old_master()
        for key in keys:
            if key.name != "rb-bf-default":
                command = key.setup.split(",")[0].split("(")[0].split()
                master.run(command[0], key.name, *command[1:])
            for item in key.deleted + key.items:
                master.run(key.kind + ".ADD", key.name, item)
            for item in key.deleted:
                master.run("CF.DEL", key.name, item)
        new = self.follow(master, (*AOF, "--aof-use-rdb-preamble", "no"))
        self.caught_up(new, master)
        wait_until("the append-only file is begun", lambda: not (
            new.client.info("persistence")["aof_rewrite_in_progress"] or
            new.client.info("persistence")["aof_rewrite_scheduled"]))
        commands = bytes(master.stream)
        for again in range(3):
            for key in keys:
                if key.items or key.kind == "BF":
                    self.assertEqual(self.scan(new.client, key), key.chunks, key)
                self.ask(new.client, key)
            new.options = [*AOF, "--aof-use-rdb-preamble", "no"]
            new.kill()
            if again:
                folder = os.path.join(new.folder, "appendonlydir")
                for name in os.listdir(folder):
                    os.unlink(os.path.join(folder, name))
                with open(os.path.join(folder, "appendonly.aof.1.incr.aof"), "wb") as file:
                    file.write(commands)
                with open(os.path.join(folder, "appendonly.aof.manifest"), "w") as file:
                    file.write("file appendonly.aof.1.incr.aof seq 1 type i\n")
            new.start()

    def test_words_that_redisbloom_ignored(self):
        """RedisBloom took these commands, so a replica takes them without compat too."""
        master = self.old_master()
        master.run("BF.RESERVE", "b", 0.01, 50, "SCALING")
        master.run("CF.RESERVE", "c", 1000, "BUCKETS", 4)
        new = self.follow(master)
        self.caught_up(new, master)
        self.assertEqual(new.client.execute_command("BF.INFO", "b", "CAPACITY"), [50])
        self.assertEqual(new.client.execute_command("CF.INFO", "c")[3], 512)
        new.client.replicaof("NO", "ONE")
        self.refused(new.client.execute_command, "BF.RESERVE", "d", 0.01, 50, "SCALING",
                     text="Unknown argument received")

    def test_a_script_of_the_master(self):
        """Redis before 7 may replicate a script instead of its commands."""
        master = self.old_master(())
        new = self.serve(port=free_port(), arguments=["max-bytes", "100"])
        new.client.replicaof("127.0.0.1", master.port)
        self.caught_up(new, master)
        master.run("EVAL", "redis.call('BF.RESERVE', 's', '0.001', '10000')", 0)
        master.run("EVAL", "redis.call('CF.ADD', 'c', 'x')", 0)
        self.caught_up(new, master)
        self.assertEqual(sorted(new.client.keys("*")), [b"c", b"s"])
        self.assertEqual(new.client.execute_command("BF.SCANDUMP", "s", 0)[1][16:20], b"\2\0\0\0")

    # ---- the page ----

    def test_the_commands_of_the_page(self):
        with open(PAGE) as page:
            section = page.read().partition("## Taking over")[2].partition("\n## ")[0]
        lines = [line.strip() for line in section.splitlines() if line.startswith(" " * 7)]
        self.assertEqual(len(lines), 9)
        master, copy = self.old_master(USUAL), tempfile.TemporaryDirectory()
        self.addCleanup(copy.cleanup)
        file = os.path.join(copy.name, "dump.rdb")
        with open(file, "wb") as rdb:
            rdb.write(master.rdb)
        new, port = self.serve(port=free_port()), free_port()
        printed = []
        for line in lines:
            for old, word in (("-h old", "-p %d" % master.port), ("-h new", "-p %d" % new.port),
                              ("REPLICAOF old 6379", "REPLICAOF 127.0.0.1 %d" % master.port),
                              ("/var/lib/redis/dump.rdb", file),
                              ("--dir copy", "--dir " + copy.name),
                              ("/path/to/weir-redis.so", MODULE), ("6380", str(port)),
                              ("weir-redis-check", "%s -B %s" % (sys.executable, CHECK))):
                line = line.replace(old, word)
            if line.startswith("redis-server"):
                self.try_copy(line.split(), port)
                continue
            done = subprocess.run(line, shell=True, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, line)
            printed.append(done.stdout)
            if line.endswith("REPLICAOF 127.0.0.1 %d" % master.port):
                self.caught_up(new, master)
        self.assertIn(b"%d keys are taken over, 0 must" % len(USUAL), printed[1])
        self.assertIn(b"slave_repl_offset:%d\r" % master.offset(), printed[-2])
        for key in USUAL:
            self.ask(new.client, key)

    def try_copy(self, words, port):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        try:
            client = redis.Redis(port=port)
            wait_until("the copy answers", lambda: self.answers(client))
            for key in USUAL:
                self.ask(client, key)
        finally:
            process.kill()
            process.wait()

    def answers(self, client):
        try:
            return client.ping()
        except redis.exceptions.RedisError:
            return False

    # ---- back ----

    def test_the_way_back(self):
        """Keys of RedisBloom's layout leave by SCANDUMP with RedisBloom's bytes; keys that clients
        made on the new master do not."""
        master = self.old_master(USUAL)
        master.run("BF.MADD", "meanwhile", *range(1000))
        new = self.follow(master)
        self.caught_up(new, master)
        with self.assertRaises(redis.exceptions.ReadOnlyError):
            new.client.execute_command("BF.ADD", "own", "x")
        new.client.replicaof("NO", "ONE")
        new.client.execute_command("BF.ADD", "own", "x")
        other = self.serve().client
        for key in USUAL:
            chunks = self.scan(new.client, key)
            self.assertEqual(chunks[1:], key.chunks[1:] if chunks else [])
            self.assertEqual(bool(chunks), bool(key.items) or key.kind == "BF")
            self.load(other, key, chunks)
        chunks = self.scan(new.client, USUAL[0], name="meanwhile")
        self.assertTrue(is_raw(chunks[0][1]))
        self.load(other, USUAL[0], chunks, name="meanwhile")
        self.assertEqual(set(other.execute_command("BF.MEXISTS", "meanwhile", *range(1000))), {1})
        self.assertFalse(is_raw(self.scan(new.client, USUAL[0], name="own")[0][1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
