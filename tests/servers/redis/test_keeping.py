# SPDX-License-Identifier: MIT
"""Keys of BF.* and CF.* stay equal in files, replicas and copies. It runs as test_keeping.py
MODULE."""
import random
import sys
import unittest

from served import Case, Server, free_port


class Keeping:
    """A subclass has change(), which changes key k by a seed and returns its DUMP."""

    def test_rdb(self):
        server = self.serve(options=["--appendonly", "no"])
        before = self.change(server.client, 1)
        server.client.save()
        server.again()
        self.assertEqual(server.client.dump("k"), before)

    def test_aof(self):
        for preamble in ("yes", "no"):
            server = self.serve(options=["--appendonly", "yes", "--appendfsync", "always",
                                         "--aof-use-rdb-preamble", preamble])
            before = self.change(server.client, 1)
            server.again()
            self.assertEqual(server.client.dump("k"), before)
            self.rewrite(server)
            server.again()
            self.assertEqual(server.client.dump("k"), before)
            before = self.change(server.client, 2)
            server.again()
            self.assertEqual(server.client.dump("k"), before)

    def test_replica(self):
        """Where items are stored depends on the bits alone, so a replica that connects late has
        equal bits too."""
        master = self.serve(port=free_port())
        early = self.replica_of(master)
        master.client.execute_command(*self.least)
        self.change(master.client, 1)
        late = self.replica_of(master)
        before = self.change(master.client, 2)
        master.client.wait(2, 0)
        self.assertEqual([r.client.dump("k") for r in (early, late)], [before] * 2)
        self.assertEqual(early.client.dump("least"), master.client.dump("least"))
        early.client.execute_command("REPLICAOF", "NO", "ONE")
        self.change(early.client, 3)

    def test_copies(self):
        server = self.serve()
        before = self.change(server.client, 1)
        server.client.restore("r", 0, before)
        server.client.copy("k", "c")
        self.assertEqual([server.client.dump(k) for k in "rc"], [before] * 2)
        info = server.client.execute_command(self.kind + ".INFO", "k")
        size = dict(zip(info[::2], info[1::2]))[b"Size"]
        self.assertGreaterEqual(server.client.memory_usage("k"), size)
        self.assertEqual(server.client.unlink("k", "r", "c"), 3)


class BF(Keeping, Case):
    kind, least = "BF", ["BF.INSERT", "least", "CAPACITY", 1, "ERROR", "1e-300", "ITEMS", "a"]

    def change(self, client, seed):
        items = [b"%d-%d" % (seed, i) for i in range(1000)]
        client.execute_command("BF.MADD", "k", *items)
        self.assertEqual(client.execute_command("BF.MEXISTS", "k", *items), [1] * 1000)
        return client.dump("k")

    def test_limit(self):
        server = self.serve(arguments=["max-bytes", "1kb"])
        run = server.client.execute_command
        self.refused(run, "BF.RESERVE", "k", "0.01", "100000", text="max-bytes is 1024")
        answers = run("BF.MADD", "k", *range(1000))
        self.assertIn("max-bytes is 1024", str(answers[-1]))
        self.assertEqual(sum(answers[:-1]), run("BF.CARD", "k"))

    def test_arguments(self):
        for words in (["max-bytes"], ["max-bytes", "4x"], ["most", "4"]):
            with self.assertRaises(AssertionError) as caught:
                Server(arguments=words)
            self.assertIn("is refused: there is max-bytes", str(caught.exception))


class CF(Keeping, Case):
    kind, least = "CF", ["CF.INSERT", "least", "CAPACITY", 4, "ITEMS", "a"]

    def change(self, client, seed, n=1500):
        """Add items at random, and remove some of the added items."""
        dice, held = random.Random(seed), []
        run = client.execute_command
        for _ in range(n // 10):
            items = [b"%d-%d" % (seed, dice.randrange(n)) for _ in range(10)]
            run("CF.INSERTNX" if dice.random() < 0.3 else "CF.INSERT", "k", "CAPACITY", 200,
                "ITEMS", *items)
            held += [items[0]] if run("CF.ADD", "k", items[0]) else []
            run("CF.ADDNX", "k", items[1])
            if len(held) > 3 and dice.random() < 0.7:
                for _ in range(3):
                    self.assertEqual(run("CF.DEL", "k", held.pop(dice.randrange(len(held)))), 1)
        self.assertEqual(run("CF.MEXISTS", "k", *held, "x")[:-1], [1] * len(held))
        return client.dump("k")

    def test_limit(self):
        server = self.serve(arguments=["max-bytes", "4kb"], port=free_port(), options=[
            "--appendonly", "yes", "--appendfsync", "always"])
        replica = self.replica_of(server, ["max-bytes", "1kb"])
        run = server.client.execute_command
        self.refused(run, "CF.RESERVE", "k", "100000", text="max-bytes is 4096")
        answers = run("CF.INSERT", "k", "CAPACITY", 500, "ITEMS", *range(5000))
        self.assertEqual(sorted(set(answers)), [-1, 1])
        self.assertEqual(answers.count(1), server.client.cf().info("k").insertedNum)
        self.refused(run, "CF.ADD", "k", "new", text="max-bytes is 4096")
        run("CF.DEL", "k", 0)
        self.assertEqual(run("CF.ADD", "k", "new"), 1)
        # A replica accepts what its master accepted, whatever the replica's own limit is.
        server.client.wait(1, 0)
        before = server.client.dump("k")
        self.assertEqual(replica.client.dump("k"), before)
        server.arguments = ["max-bytes", "1kb"] # so does whoever reads the file again
        server.again()
        self.assertEqual(server.client.dump("k"), before)

    def test_nothing_was_there_to_remove(self):
        """A removal that finds no item sends nothing to replicas."""
        server = self.serve(port=free_port())
        replica = self.replica_of(server)
        run = server.client.execute_command
        run("CF.RESERVE", "k", 100, "WEIRSEED", 7)
        run("CF.ADD", "k", "a")
        self.assertEqual([run("CF.DEL", "k", item) for item in "bab"], [0, 1, 0])
        server.client.wait(1, 0)
        self.assertEqual(replica.client.info("commandstats")["cmdstat_CF.DEL"]["calls"], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
