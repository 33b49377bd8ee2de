# SPDX-License-Identifier: MIT
"""What weir replicate status says, figure by figure, of a set whose figures a test gives (liar.py),
and how it gets to the server: users, passwords, TLS. test_status.py TOOL ALERTS"""
import json
import os
import re
import subprocess
import sys
import threading
import unittest

import alerting
import certificates
import group
import liar

TOOL, ALERTS = (os.path.abspath(a) for a in sys.argv[1:3])
NOW = 1700000061500
SUM = "0123456789abcdef" * 2
MANIFEST = ("weir-manifest 1\nset seen\nepoch {epoch}\ngeneration {generation}\nbase {base}\n"
            "lineage 00000000000000aa\nposition {position}\nentries 9\ncovered 0-0\n"
            "kind {kind}\nhashing 00000000000000bb\nimage 2500 {sum}\n"
            "chunks 3 1000 00000000000000cc\npublisher 00000000000000dd\n"
            "published {published}\n")


def manifest(generation, **other):
    said = {"epoch": "e" * 56, "base": generation - 1, "position": "%d-3" % generation,
            "kind": "classic", "sum": SUM, "published": NOW - 61500, **other}
    return MANIFEST.format(generation=generation, **said).encode()


def report(age_ms, generation=7, **other):
    said = {"host": "h", "pid": 12, "generation": generation, "checksum": SUM,
            "position": "7-3", "complete": 1, "lacking": 0, "retained": 0, "lost": 0, "refused": 0,
            "publisher": 0, "here": 0, "image": 0, **other}
    said["error"] = said.pop("error", "") # which is last
    return b"%d %s" % (NOW - age_ms, " ".join("%s %s" % of for of in said.items()).encode())


class Tool(unittest.TestCase):
    def setUp(self):
        self.server = group.Server()
        self.addCleanup(self.server.close)

    def run_tool(self, url, *options):
        return subprocess.run([TOOL, "replicate", "status", "--set=seen", "--url=" + url,
                               "--timeout=5", *options], text=True, capture_output=True,
                              timeout=60)


class Figures(Tool):
    def setUp(self):
        super().setUp()
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        self.said = [b"e" * 56, NOW, manifest(7), b"sig", b"%016x" % 3, 1500, 20, 5, b"7-4", 600,
                     0, b"noeviction", [], [b"6", b"\n" + manifest(6), b"7",
                                            b"sig\n" + manifest(7), b"5", b"\nrubbish"],
                     0, [0, 0, 0], b""]
        self.liar.lies["status"] = lambda args, answer, send: self.said

    def ask(self, *options, status=0):
        done = self.run_tool(self.liar.url, *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def json(self, *options, status=0):
        return json.loads(self.ask("--json", *options, status=status))

    def nodes(self, *reports):
        self.said[12] = [of for i, r in enumerate(reports) for of in (b"%016x" % (i + 1), r)]

    def alerts(self, *reports):
        self.nodes(*reports)
        return self.json(status=1)["alerts"]

    def test_a_generation(self):
        said = self.json()
        self.assertEqual(said["current"], {
            "generation": 7, "base": 6, "kind": "classic", "image_bytes": 2500,
            "age_seconds": 61.5, "checksum": SUM, "position": "7-3", "stream": "hashes",
            "signed": True, "damaged": False, "chunks_absent": 0})
        self.assertEqual([(g["generation"], g["base"], g["position"], g["signed"], g["damaged"])
                          for g in said["kept"]],
                         [(7, 6, "7-3", True, False), (6, 5, "6-3", False, False),
                          (0, 0, "", False, True)])
        self.assertIsNone(said["kept"][2]["kind"])
        self.assertIn("7-3, checksum 01234567, signed\n  6: classic", self.ask())
        self.assertIn("\n  cannot be read\n", self.ask())
        self.assertEqual(self.ask("-q"), "")
        self.said[2] = self.said[2].replace(b"\nimage ", b"\nstream keys\nimage ")
        self.assertEqual(self.json()["current"]["stream"], "keys")
        self.assertNotIn("which is not kept", self.ask())
        self.said[13] = self.said[13][:2]
        self.assertIn("seen\nthe generation there is, which is not kept\n  7: ", self.ask())

    def test_a_signature_that_was_taken_away(self):
        self.said[3] = b""
        said = self.json(status=1)
        self.assertFalse(said["current"]["signed"])
        self.assertEqual([a[:64] for a in said["alerts"]], [
            "generation 7 is not signed, and of those that are kept some are:"])
        self.said[13] = [b"6", b"\n" + manifest(6)] # nor is any other
        self.assertEqual(self.json()["alerts"], [])
        self.said[13] = [b"6", b"sig\n" + manifest(6)]
        self.said[2] = None # nor is there a generation
        self.assertEqual(len(self.json(status=1)["alerts"]), 1)

    def test_the_stream_and_the_lease(self):
        said = self.json()
        self.assertEqual({k: said[k] for k in ("set", "epoch", "stream_length", "stream_added",
                                               "stream_last", "lease_owner", "used_memory",
                                               "maxmemory", "no_writes", "alerts")},
                         {"set": "seen", "epoch": "e" * 56, "stream_length": 5,
                          "stream_added": 20, "stream_last": "7-4",
                          "lease_owner": "%016x" % 3, "used_memory": 600, "maxmemory": 0,
                          "no_writes": "", "alerts": []})
        self.assertIn("%016x, another 1.5 s" % 3, self.ask())
        self.assertIn("5 batches, 20 ever, the last 7-4", self.ask())
        self.said[4] = None
        self.assertIsNone(self.json()["lease_owner"])
        self.said[4], self.said[5] = b"nobody", 50000
        self.assertIsNone(self.json()["lease_owner"])
        self.said[6] += 3 << 40 # somebody has deleted it three times
        self.assertEqual(self.json()["stream_added"], 20)

    def test_a_node(self):
        self.nodes(report(2500, 6, position="6-1", complete=0, lacking=29960, retained=80,
                          here=5, image=17),
                   report(1250, host="other", pid=99, publisher=1))
        of = self.json()["nodes"]
        self.assertEqual([n["node"] for n in of], ["%016x" % 2, "%016x" % 1])
        self.assertEqual(of[0], {
            "node": "%016x" % 2, "host": "other", "pid": 99, "age_seconds": 1.25,
            "generation": 7, "checksum": SUM, "position": "7-3", "complete": True,
            "lacking_seconds": 0,
            "publisher": True, "passing": False, "retained_bytes": 0,
            "not_replicated": 0, "refused": 0,
            "image_here": 0, "image_bytes": 0, "keys": 0, "capacity": 0, "saturated": False,
            "nearly_full": False, "error": ""})
        self.assertEqual({k: of[1][k] for k in ("age_seconds", "generation", "position",
                                                "complete", "lacking_seconds", "publisher",
                                                "retained_bytes",
                                                "image_here", "image_bytes")},
                         {"age_seconds": 2.5, "generation": 6, "position": "6-1",
                          "complete": False, "lacking_seconds": 29.96, "publisher": False,
                          "retained_bytes": 80,
                          "image_here": 5, "image_bytes": 17})
        self.assertIn("position 6-1, lacking for 30.0 s, 80 bytes kept, 2.5 s ago, 5 of 17 bytes "
                      "of an image are here\n", self.ask())
        self.assertIn("position 7-3, complete, 0 bytes kept, 1.2 s ago, publisher\n",
                      self.ask())

    def test_how_full_it_is(self):
        fill = {"keys": 1200, "capacity": 1000, "saturated": 1, "nearly_full": 0}
        self.nodes(report(0, **fill))
        of = self.json(status=1)
        self.assertEqual({k: of["nodes"][0][k] for k in fill}, {**fill, "saturated": True,
                                                               "nearly_full": False})
        self.assertEqual(of["alerts"], [
            "node %016x (h) has 1200 keys in a filter for 1000, which answers yes more often: "
            "replace the set by a larger one" % 1])
        self.assertIn(", 1200 keys of 1000\n", self.ask(status=1))
        for name in ("keys 1200", "capacity 1000", "saturated 1", "nearly_full 0"):
            name, value = name.split()
            self.assertIn('weir_replica_node_%s{set="seen",node="%016x"} %s\n'
                          % (name, 1, value), self.ask("--prometheus", status=1))
        self.assertEqual(self.alerts(report(0, keys=900, capacity=1000, nearly_full=1)), [
            "node %016x (h) has 900 keys in a filter for 1000, which will refuse keys: replace "
            "the set by a larger one" % 1])
        self.nodes(report(0, keys=900, capacity=1000))
        self.assertEqual(self.json()["alerts"], [])
        self.nodes(report(0, keys=0, capacity=1000))
        self.assertIn(", 0 keys of 1000\n", self.ask())
        self.nodes(report(0, keys=2 ** 64 - 1))
        self.assertEqual(self.json()["nodes"][0]["keys"], 2 ** 63 - 1) # the most of JSON here

    def test_an_answer_that_is_too_long(self):
        self.liar.lies["status"] = lambda args, answer, send: liar.Raw(b"*1048577\r\n")
        done = self.run_tool(self.liar.url)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("more than 1048576 elements: if somebody makes up what nodes report, "
                      "redis-cli DEL '{weir:seen}:nodes' helps", done.stderr)

    def test_a_long_error(self):
        error = "set seen: " + "long " * 97 + "end"
        self.nodes(report(0, error=error))
        self.assertEqual(self.json(status=1)["nodes"][0]["error"], error)
        self.assertIn(error + "\n", self.ask(status=1))

    def test_a_word_within_an_error(self):
        """What follows error is the sentence, whatever stands in it."""
        self.nodes(b"%d host h generation 7 error no refused 5 error x" % NOW)
        of = self.json(status=1)["nodes"][0]
        self.assertEqual((of["refused"], of["error"]), (0, "no refused 5 error x"))
        self.assertIn("ago: no refused 5 error x\n", self.ask(status=1))

    def test_metrics(self):
        self.nodes(report(1500, 6, complete=0, lacking=1750, retained=80, lost=5, refused=7,
                          publisher=1, here=5, image=17, error="no"))
        text = self.ask("--prometheus", status=1)
        for name, value in (("generation", 7), ("generation_age_seconds", 61.5),
                            ("image_bytes", 2500), ("stream_length", 5), ("alerts", 3)):
            self.assertIn('weir_replica_%s{set="seen"} %s\n' % (name, value), text)
        for name, value in (("age_seconds", 1.5), ("generation", 6), ("complete", 0),
                            ("lacking_seconds", 1.75),
                            ("image_here_bytes", 5), ("image_bytes", 17),
                            ("failing", 1), ("retained_bytes", 80), ("not_replicated", 5),
                            ("publisher", 1), ("refused", 7)):
            self.assertIn('weir_replica_node_%s{set="seen",node="%016x"} %s\n'
                          % (name, 1, value), text)

    def test_the_rules_for_metrics(self):
        """alerts.yml names what is there."""
        self.nodes(report(0))
        there = set(re.findall(r"(?m)^(weir_replica_\w+)\{", self.ask("--prometheus")))
        with open(ALERTS) as f:
            rules = re.findall(r"expr: (.*(?:\n {10}.*)*)", f.read())
            named = re.findall(r"weir_replica_\w+", " ".join(rules))
        self.assertEqual(set(named) - there, set())
        self.assertGreaterEqual(set(named), {"weir_replica_" + name for name in (
            "generation_age_seconds", "node_complete", "node_publisher", "node_not_replicated",
            "node_retained_bytes", "node_saturated")})

    def test_a_command_has_gone(self):
        """Who killed it knows; and of one that failed its caller has heard."""
        self.nodes(report(29999, passing=1, complete=0),
                   report(30001, passing=1, error="set seen: no"))
        said = self.json()
        self.assertEqual([(n["node"], n["passing"]) for n in said["nodes"]],
                         [("%016x" % 1, True)])
        self.assertEqual(said["alerts"], [])
        self.assertEqual(len(self.alerts(report(0, passing=1, error="set seen: no"),
                                         report(0, passing=1, complete=0, lacking=30001))), 2)

    def test_another_name_of_a_node(self):
        """Files of redis came back that had the one before: the last report is of now."""
        self.nodes(report(99000, opened="%016x" % 1), report(2500, opened="%016x" % 2),
                   report(1000, opened="%016x" % 1), report(3000), report(2000), # before opened
                   report(50000, opened="%016x" % 1))
        said = self.json()
        self.assertEqual([int(n["node"], 16) for n in said["nodes"]], [3, 5, 2, 4])
        self.assertEqual(said["alerts"], [])
        self.nodes(report(40000), report(50000)) # of those nobody knows whose names they were
        self.assertEqual(len(self.json(status=1)["nodes"]), 2)

    def test_a_name_of_a_node_that_lives(self):
        """Whoever writes there hides nothing of it that way."""
        one = "%016x" % 1
        self.nodes(report(30000, opened=one, error="set seen: no"), report(0, opened=one))
        said = self.json(status=1)
        self.assertEqual([int(n["node"], 16) for n in said["nodes"]], [2, 1])
        self.assertEqual(said["alerts"], ["node %s (h): set seen: no" % one])

    def test_a_name_that_is_there_twice(self):
        self.nodes(report(500), report(1000))
        self.said[12] += 2 * [b"%016x" % 10, report(2000), b"%016x" % 10, report(1500)]
        of = self.json()["nodes"]
        self.assertEqual([(int(n["node"], 16), n["age_seconds"]) for n in of],
                         [(1, 0.5), (2, 1.0), (10, 1.5)])

    def test_the_clock_was_set_back(self):
        """What is of a time to come is as old as what is of that long ago."""
        one = "%016x" % 1
        self.nodes(report(-30001, publisher=1), report(-3600000, 9, opened=one),
                   report(-3600000, passing=1), report(-30000, passing=1))
        said = self.json(status=1)
        self.assertEqual([(int(n["node"], 16), n["age_seconds"]) for n in said["nodes"]],
                         [(4, 30.0), (1, 30.001)])
        self.assertEqual(said["alerts"], ["publisher %s (h) has not reported for 30 s" % one])
        self.assertIn('weir_replica_node_age_seconds{set="seen",node="%s"} 30.001\n' % one,
                      self.ask("--prometheus", status=1))
        self.nodes()
        self.said[2] = manifest(7, published=NOW + 61500)
        self.assertEqual(self.json("--max-age=62")["current"]["age_seconds"], 61.5)
        self.assertEqual(self.json("--max-age=61", status=1)["alerts"], [
            "generation 7 is 62 s ahead of redis's clock, the limit is 61"])
        self.assertIn('weir_replica_generation_age_seconds{set="seen"} 61.5\n',
                      self.ask("--prometheus"))

    def test_an_old_generation(self):
        self.assertEqual(self.json("--max-age=62")["alerts"], [])
        self.assertEqual(self.json("--max-age=61", status=1)["alerts"],
                         ["generation 7 is 62 s old, the limit is 61"])

    def test_a_dead_publisher(self):
        self.assertEqual(self.alerts(report(30500, publisher=1, host="one"), report(30000),
                                     report(31000)),
                         ["publisher %016x (one) has not reported for 30 s" % 1,
                          "node %016x (h) has not reported for 31 s" % 3])
        self.assertEqual(len(self.alerts(report(31000, refused=8, error="set seen: no"))), 1)
        self.assertEqual(len(self.alerts(*[report(31000)] * 1001)), 1000) # no more is said

    def test_a_lease_of_nobody(self):
        self.said[5] = 30001
        self.assertEqual(self.json(status=1)["alerts"], [
            "the lease to publish is that of %016x, which does not report, for another 30 s: "
            "whose duty it is to publish does not before; weir replicate publish takes it" % 3])
        self.said[5] = 30000
        self.assertEqual(self.json()["alerts"], [])
        self.said[5] = 99999
        self.nodes(report(0), report(0), report(0))
        self.assertEqual(self.json()["alerts"], [])

    def test_what_a_node_reports(self):
        self.assertEqual(self.alerts(
            report(0, 6, refused=7), report(1, lost=5), report(2, error="set seen: no"),
            report(3, checksum="f" * 32), report(4, 6, checksum="f" * 32),
            report(5, complete=0, lacking=30001), report(6, complete=0, lacking=30000),
            report(7, lacking=99000)),
            ["node %016x (h) refuses generation 7" % 1,
             "node %016x (h) keeps 5 inserts to itself: it had no room for them: publish its set, "
             "from it" % 2,
             "node %016x (h): set seen: no" % 3,
             "node %016x (h) has another image of generation 7" % 4,
             "node %016x (h) has lacked inserts of others, or an image, for 30 s" % 6])

    def test_what_is_wrong_with_the_set(self):
        self.said[10], self.said[11] = 3100, b"allkeys-lru"
        self.assertIn("maxmemory-policy is allkeys-lru", self.json(status=1)["alerts"][0])
        self.said[11] = b"noeviction"
        self.assertEqual(self.json()["alerts"], [])
        self.said[10] = 3099
        self.assertIn("600 of 3099 bytes", self.json(status=1)["alerts"][0])
        for most, said in ((600, "another image"), (599, "what is said of them is of before")):
            self.said[10] = most
            self.assertTrue(self.json(status=1)["alerts"][0].endswith(said))
        self.said[10], self.said[11] = 0, b"allkeys-lru" # which removes nothing then
        self.assertEqual(self.json()["alerts"], [])
        self.nodes(report(0, 0, checksum="0" * 32)) # it has no image, so it has no other
        self.said[14] = 2
        self.assertIn("2 pieces of the image have gone", self.json(status=1)["alerts"][0])
        self.assertEqual(self.json(status=1)["current"]["chunks_absent"], 2)
        self.said[14] = 0
        self.said[2] = b"rubbish"
        self.assertEqual(self.json(status=1)["alerts"], ["the manifest cannot be read"])
        self.said[2] = None
        self.assertEqual(self.json(status=1)["alerts"],
                         ["redis has no generation of this set (any more)"])
        self.said[10], self.said[11] = 599, b"noeviction" # without an image
        self.assertIn("there is no room", self.json(status=1)["alerts"][1])
        self.said[10] = 600
        self.assertEqual(len(self.json(status=1)["alerts"]), 1)
        self.nodes()
        self.assertEqual(self.json(status=1)["alerts"], [
            "redis has no generation of this set, and no node has it: is this its name?"])

    def test_kept_images_that_have_gone(self):
        self.said[14:16] = 2, [3, 2, 5] # of 6, 7, and of what is no manifest
        said = self.json(status=1)
        self.assertEqual([g["chunks_absent"] for g in said["kept"]], [2, 3, 0])
        self.assertEqual([a.partition(":")[0] for a in said["alerts"]], [
            "2 pieces of the image have gone from redis",
            "3 pieces of the image of generation 6, which is kept, have gone from redis"])
        self.assertIn(", signed, 2 of its pieces not there\n  6: ", self.ask(status=1))
        self.assertIn('weir_replica_pieces_absent{set="seen"} 5\n',
                      self.ask("--prometheus", status=1))
        for fewer in [], [3]:
            self.said[15] = fewer
            self.assertEqual(self.json(status=1)["kept"][0]["chunks_absent"], 0)
        self.said[13:16] = [b"1", b"nobody's", *self.said[13]], 0, [9, 3, 0, 0]
        said = self.json(status=1)
        self.assertEqual([g["chunks_absent"] for g in said["kept"]], [0, 3, 0])
        self.assertEqual(len(said["alerts"]), 1)
        self.said[2], self.said[14:16] = b"rubbish", [3, []]
        self.assertEqual(self.json(status=1)["alerts"], ["the manifest cannot be read"])
        self.said[2], self.said[14:16] = None, [0, [0, 3, 0, 0]]
        self.assertEqual([a.partition(",")[0] for a in self.json(status=1)["alerts"]], [
            "redis has no generation of this set",
            "3 pieces of the image of generation 6"])

    def test_no_writes_are_taken(self):
        self.assertIn('weir_replica_takes_writes{set="seen"} 1\n', self.ask("--prometheus"))
        self.assertNotIn("WeirReplicaNoWrites", alerting.firing(ALERTS, self.ask("--prometheus")))
        for more in 389, 390:
            self.said[16] = b"NOREPLICAS " + b"x" * more
            self.assertEqual(self.json(status=1)["no_writes"], "NOREPLICAS " + "x" * 389)
        self.said[16] = b"NOREPLICAS Not enough"
        said = self.json(status=1)
        self.assertEqual(said["no_writes"], "NOREPLICAS Not enough")
        self.assertEqual(said["alerts"], ["redis takes no writes, and so no inserts, nor what "
                                          "nodes report: NOREPLICAS Not enough"])
        text = self.ask("--prometheus", status=1)
        self.assertIn('weir_replica_takes_writes{set="seen"} 0\n', text)
        self.assertIn("WeirReplicaNoWrites", alerting.firing(ALERTS, text))

    def test_answers_of_another_shape(self):
        whole = list(self.said)
        for i, bad in ((0, 5), (1, b"x"), (5, b"x"), (6, b"x"), (7, b"x"), (8, 5), (9, b"x"),
                       (10, None), (11, 5), (12, b"x"), (13, 5), (14, b"x"), (15, 5),
                       (16, 0)):
            with self.subTest(i=i):
                self.said = [*whole[:i], bad, *whole[i + 1:]]
                self.assertEqual(self.run_tool(self.liar.url).returncode, 2)
        self.said = whole[:-1]
        self.assertEqual(self.run_tool(self.liar.url).returncode, 2)


class Connections(Tool):
    """The options that lead there. Nobody has published the set, which is status 1."""

    def setUp(self):
        super().setUp()
        self.folder = self.server.folder

    def arrives(self, url, *options):
        done = self.run_tool(url, *options)
        self.assertEqual((done.returncode, done.stderr), (1, ""), options)

    def fails(self, url, *options, word=""):
        done = self.run_tool(url, *options)
        self.assertEqual(done.returncode, 2, options)
        self.assertRegex(done.stderr, word)

    def test_tls(self):
        at, port = self.folder, group.free_port()
        certificates.make(at)
        server = group.Server(certificates.of_server(at, port))
        self.addCleanup(server.close)
        url = "rediss://127.0.0.1:%d" % port
        ca, own = "--ca-file=%s/ca.crt" % at, ["--cert-file=%s/client.crt" % at,
                                               "--key-file=%s/client.key" % at]
        self.arrives(url, ca, *own)
        self.fails(url, *own, word="certificate is refused.*--ca-file")
        self.fails(url, ca, word="TLS|closed")
        self.arrives("rediss://localhost:%d" % port, ca, "--server-name=redis.example", *own)
        self.fails("rediss://localhost:%d" % port, ca, *own, word="certificate is refused")
        self.fails(url, ca, "--server-name=other.example", *own,
                   word="certificate is refused.*--server-name")
        self.arrives(url, "--insecure", *own)
        for bad in ([own[0]], [own[1]], ["--cert-file=/nowhere", own[1]],
                    [own[0], "--key-file=%s/ca.key" % at], ["--ca-file=/nowhere"]):
            self.fails(url, *bad, word="TLS")
        self.fails(url, "--ca-file=/nowhere", word="ca-file.* /nowhere: no such file")
        self.fails("redis://127.0.0.1:%d" % port, ca, word="ca-file.*rediss")

    def test_a_sentinel_where_a_redis_should_be(self):
        sentinel = group.Sentinel(self.server.port)
        self.addCleanup(sentinel.close)
        self.fails("redis://127.0.0.1:%d" % sentinel.port, word=r"a Sentinel\?.*redis\+sentinel")
        self.arrives("redis+sentinel://127.0.0.1:%d/weir" % sentinel.port)

    def test_a_redis_where_a_sentinel_should_be(self):
        self.fails("redis+sentinel://127.0.0.1:%d/weir" % self.server.port,
                   word="no Sentinel.*redis://HOST")

    def test_who_is_there(self):
        self.server.client.execute_command(
            "ACL", "SETUSER", "weir", "on", ">pw", "~{weir:seen}:*", "+@all")
        self.server.client.execute_command("CONFIG", "SET", "requirepass", "main")
        at, path = "127.0.0.1:%d" % self.server.port, os.path.join(self.folder, "password")
        for password, name in (("pw", "weir"), ("main", "default")):
            with open(path, "w") as f:
                f.write(password + "\n")
            self.arrives("redis://%s:wrong@%s" % (name, at), "--password-file=" + path)
            self.arrives("redis://nobody:wrong@" + at, "--user=" + name,
                         "--password-file=" + path)
        self.fails("redis://" + at, word="NOAUTH|AUTH")
        self.fails("redis://" + at, "--user=weir", word="no password.*--password-file")
        self.fails("redis://nobody:main@" + at, word="AUTH is refused")


if __name__ == "__main__":
    threading.excepthook = lambda *_: None
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
