# SPDX-License-Identifier: MIT
"""Each figure that weir replicate status prints for data that a test puts into redis, and the
options for its connection. test_status.py WEIR ALERTS"""
import os
import re
import sys
import time
import unittest

import alerting
import tool
from redis_server import free_port

ALERTS = os.path.abspath(sys.argv[2])
MANIFEST = """weir-generation 2
set seen
version {version}
id 00000000000000{id}
position {position} 00000000000000aa
parent none
source {source}
image {image} 2500 1
kind classic
hashing 00000000000000bb
steps 0
publisher 00000000000000dd
signed {signed}
expires {expires}
"""


def name(node):
    return "%016x" % node


class Figures(tool.Tool):
    def setUp(self):
        super().setUp()
        self.now = int(time.time() * 1000)
        self.client.hset(tool.SET + "head", mapping={
            "run": "a" * 40, "mark": name(9), "prev": name(0), "base": "0-0", "lost": "0-0",
            "last": "7-9", "tag": name(10), "replicas": 0})
        for n in range(5, 10):
            self.client.xadd(tool.SET + "log", {"t": name(n), "a": name(n - 1), "p": "0-0"},
                             id="7-%d" % n)
        self.current("3.14", "signature")
        self.keep("2.5")

    def manifest(self, version, **other):
        said = {"id": "%02d" % float(version), "position": "7-3", "source": "set",
                "image": "%064d" % float(version), "signed": self.now - 61500, "expires": 0,
                **other}
        return MANIFEST.format(version=version, **said)

    def keep(self, version, signature="", **other):
        """Keep a generation whose image has one piece."""
        text = self.manifest(version, **other)
        self.client.hset(tool.SET + "kept", version, signature + "\n" + text)
        self.client.set(tool.SET + "img:%064d:0" % float(version), "x" * 2500)
        return text

    def current(self, version, signature="", **other):
        self.client.hset(tool.SET + "head", mapping={
            "version": version, "generation": name(3), "signature": signature,
            "manifest": self.keep(version, signature, **other)})

    def node(self, number, age=0.5, error=None, **words):
        said = {"host": "h", "pid": 12, "state": 2, "position": "7-7", "joined": "3.14",
                "complete": 1, **words}
        text = " ".join("%s %s" % of for of in said.items() if of[1] != 0)
        if error is not None:
            text += " error " + error
        self.client.hset(tool.SET + "nodes", name(number),
                         "%d %s" % (time.time() * 1000 - 1000 * age, text))

    def alerts(self):
        return self.status(status=None)["alerts"]

    def metrics(self):
        return self.replicate("status", "--prometheus", status=None)

    def test_generations(self):
        said = self.status()
        age = said["current"].pop("age")
        self.assertTrue(61 < age < 70, age)
        self.assertEqual(said["current"], {
            "version": "3.14", "parent": "0.0", "id": name(3), "kind": "classic", "source": "set",
            "image": "%064d" % 3, "image_bytes": 2500, "chunks_absent": 0, "position": "7-3",
            "publisher": name(0xdd), "signed_ms": self.now - 61500, "expires_ms": 0,
            "expires_in": None, "is_signed": True, "trusted": None, "damaged": False})
        self.assertEqual([(g["version"], g["is_signed"]) for g in said["kept"]],
                         [("3.14", True), ("2.5", False)])
        for k, v in {"set": "seen", "lease": None, "log_length": 5, "log_last": "7-9",
                     "replicas": 0, "maxmemory": 0, "policy": "noeviction", "nodes": [],
                     "alerts": []}.items():
            self.assertEqual(said[k], v, k)
        text = self.replicate("status")
        self.assertRegex(text, r"^set seen, log_length 5, log_last 7-9, used_memory \d+, policy "
                         r"noeviction\ncurrent version 3.14, kind classic, source set, "
                         r"image_bytes 2500, position 7-3, publisher 0{14}dd, age 6\d\.\d, "
                         r"is_signed\nkept version 3.14, .*\nkept version 2.5, .*\n$")
        self.assertEqual(self.replicate("status", "-q"), "")
        self.assertEqual(self.status("--max-age=100")["alerts"], [])
        self.assertRegex(self.status("--max-age=60", status=1)["alerts"][0],
                         r"generation 3.14 is \d+ s old, the limit is 60")
        self.client.set(tool.SET + "lease", name(3))
        self.assertEqual(self.status()["lease"], name(3))

    def test_a_signature(self):
        """A signature that is missing, expires soon, or has expired."""
        def expires(seconds, life):
            self.current("3.14", "signature", expires=self.now + 1000 * seconds,
                         signed=self.now + 1000 * (seconds - life))
            return self.alerts()
        self.assertEqual(expires(900, 1000), [])
        self.assertNotIn("WeirReplicaExpires", alerting.firing(ALERTS, self.metrics()))
        self.assertEqual(expires(260, 1000), [])
        self.assertIn("expires_in 2", self.replicate("status"))
        self.assertRegex(expires(200, 1000)[0], r"3.14 expires in (200|19\d) s, and has not been "
                         "signed again: does a node with the secret key run")
        self.assertIn("WeirReplicaExpires", alerting.firing(ALERTS, self.metrics()))
        self.assertRegex(expires(-200, 1000)[0], r"3.14 expired 20\d s ago: no node can join")
        self.keep("2.5", "signature")
        self.current("3.14")
        self.assertRegex(self.alerts()[0], "3.14 is not signed, and of those that are kept some")

    def test_nodes(self):
        self.client.xdel(tool.SET + "log", "7-5")
        self.node(1, 2.5, position="7-1", complete=0, lacking=29960, pending=80, here=5, image=17,
                  state=1, owes=1, given_up=2, joined="2.5")
        self.node(2, 1.2, host="other", pid=99, publisher=1, keys=10, capacity=100, position="7-9")
        self.node(3, 12, position="6-900")
        nodes = self.status()["nodes"]
        self.assertEqual([n["node"] for n in nodes], [name(2), name(1), name(3)])
        age = nodes[1].pop("age")
        self.assertTrue(2.5 <= age < 5, age)
        self.assertEqual(nodes[1], {
            "node": name(1), "host": "h", "pid": 12, "late": False, "state": "catching up",
            "joined": "2.5", "refused": "0.0", "position": "7-1", "behind": 8, "complete": False,
            "lacking": 29.96, "owes": True, "publisher": False, "pending_bytes": 80, "given_up": 2,
            "image_here": 5, "image_bytes": 17, "keys": 0, "capacity": 0, "saturated": False,
            "nearly_full": False, "error": ""})
        self.assertEqual([(n["behind"], n["late"]) for n in nodes],
                         [(0, False), (8, False), (4, True)])
        text = self.replicate("status")
        self.assertRegex(text, r"\nnode 0{15}2, host other, pid 99, age 1\.\d, state following, "
                         r"joined 3\.14, position 7-9, complete, publisher, keys about 10, "
                         r"capacity 100\n")
        self.assertIn("behind 8, lacking 30.0, owes, pending_bytes 80, given_up 2, image_here 5, "
                      "image_bytes 17\n", text)
        self.assertIn(", late, ", text)

    def test_what_is_not_well(self):
        for sentence, fires, words in (
                ("node %s (h) has not reported for 3", "", {"age": 31}),
                ("publisher %s (h) has not reported for 6", "PublisherDead",
                 {"age": 61, "publisher": 1}),
                ("node %s (h) has not reported for 6", "NodeDead", {"age": 61}),
                ("node %s (h) has lacked inserts of others, or an image, for 30 s", "Incomplete",
                 {"lacking": 30001, "complete": 0}),
                ("node %s (h) refuses generation 4.1: set seen: no", "Refused Failing",
                 {"refused": "4.1", "error": "set seen: no"}),
                ("node %s (h): set seen: no refused 5.1", "Failing",
                 {"error": "set seen: no refused 5.1"}),
                ("node %s (h) has about 1200 keys in a filter for 1000, which answers yes more "
                 "often", "Full", {"keys": 1200, "capacity": 1000, "saturated": 1}),
                ("node %s (h) has about 900 keys in a filter for 1000, which will refuse keys",
                 "Full", {"keys": 900, "capacity": 1000, "nearly_full": 1}),
                (None, "Behind", {"joined": "2.20"}), (None, "Behind", {"joined": "3.13"}),
                (None, "Owes", {"owes": 1}), (None, "GaveUp", {"given_up": 1}),
                (None, "Pending", {"pending": 2 ** 28}), (None, "", {"lacking": 30000})):
            with self.subTest(sentence=sentence, words=words):
                self.node(1, **words)
                said, firing = self.alerts(), alerting.firing(ALERTS, self.metrics())
                self.assertEqual(len(said), sentence is not None, said)
                if sentence:
                    self.assertIn(sentence % name(1), said[0])
                    self.assertIn("\nnot well\n  " + said[0], self.replicate("status", status=1))
                    self.assertEqual(self.replicate("status", "-q", status=1),
                                     "not well\n  " + self.alerts()[0] + "\n")
                self.assertEqual(firing, {"WeirReplica" + w for w in fires.split() +
                                          (["NotWell"] if sentence else [])})

    def test_reports_that_are_not_shown(self):
        with self.client.pipeline() as p:
            for i in range(1, 10011):
                p.hset(tool.SET + "nodes", name(i), "%d host h complete 1" % (self.now - i))
            p.execute()
        said = self.status(status=1)
        self.assertEqual(([n["node"] for n in said["nodes"][::5000]], len(said["nodes"])),
                         ([name(1), name(5001)], 10000))
        self.assertEqual(said["nodes_left_out"], 10)
        self.assertEqual(said["alerts"], [
            "reports of 10 more nodes are not shown: the next generation removes reports older "
            "than ten minutes; redis-cli DEL '{weir:seen}:2:nodes' removes all"])

    def test_a_full_server_and_no_reports(self):
        self.client.config_set("maxmemory", self.client.info("memory")["used_memory"] // 2)
        self.assertIn("no node reports: redis is full, and takes no reports", self.alerts()[1])
        self.client.config_set("maxmemory", 0)
        self.node(1)
        self.client.config_set("maxmemory", self.client.info("memory")["used_memory"] // 2)
        self.assertEqual(len(self.alerts()), 1)

    def test_what_is_wrong_with_redis(self):
        used = self.client.info("memory")["used_memory"]
        self.client.config_set("maxmemory-policy", "allkeys-lru")
        self.assertEqual(self.alerts(), []) # without a limit redis evicts nothing
        self.client.config_set("maxmemory", 2 * used)
        self.assertEqual(self.alerts(), ["maxmemory-policy is allkeys-lru: redis may remove the "
                                         "set's keys: set it to noeviction"])
        self.client.config_set("maxmemory-policy", "noeviction")
        self.assertEqual(self.alerts(), [])
        self.client.config_set("maxmemory", used // 2)
        self.assertRegex(self.alerts()[0], r"redis uses \d+ of %d bytes: there is no room for "
                         "another image" % (used // 2))
        self.client.config_set("maxmemory", 0)
        self.client.delete(tool.SET + "img:%064d:0" % 3)
        alert, = self.alerts()
        self.assertIn("1 of the pieces of generation 3.14's image gone", alert)
        self.assertEqual([g["chunks_absent"] for g in self.status(status=1)["kept"]], [1, 0])
        self.current("3.14")
        self.client.hset(tool.SET + "head", "manifest", "rubbish")
        self.assertEqual(self.alerts(), ["the newest generation's manifest cannot be read"])
        self.client.delete(tool.SET + "head", tool.SET + "kept")
        soon = (": nodes that run publish one within seconds (of a signed set: one that has the "
                "secret key)")
        self.assertEqual(self.alerts(), [
            "redis has no generation of this set yet, or any more" + soon]) # the log has entries
        self.client.delete(tool.SET + "log")
        self.assertEqual(self.alerts(), ["redis has no generation of this set, and no node has "
                                         "reported: is this its name?" + soon])
        self.assertLessEqual({"WeirReplicaNoGeneration"}, alerting.firing(ALERTS, self.metrics()))
        self.node(1, joined="0.0")
        self.assertEqual(self.alerts(), [
            "redis has no generation of this set yet, or any more" + soon])

    def test_metrics(self):
        """alerts.yml names only existing metrics. Without an answer of redis there are none."""
        self.node(1, error="no", refused="4.1", given_up=3, lacking=1750, complete=0)
        text = self.metrics()
        for figure, value in (("era", 3), ("generation", 14), ("generation_image_bytes", 2500),
                              ("log_length", 5), ("alerts", 1), ("generation_is_signed", 1)):
            self.assertIn('weir_replica_%s{set="seen"} %s\n' % (figure, value), text)
        for figure, value in (("era", 3), ("generation", 14), ("refused_era", 4),
                              ("refused_generation", 1), ("complete", 0),
                              ("lacking_seconds", 1.75), ("failing", 1), ("behind", 2),
                              ("given_up_total", 3), ("publisher", 0), ("state", 2)):
            self.assertIn('weir_replica_node_%s{set="seen",node="%s"} %s\n'
                          % (figure, name(1), value), text)
        self.assertIn("# TYPE weir_replica_node_given_up_total counter\n", text)
        there = set(re.findall(r"(?m)^(weir_replica_\w+)\{", text))
        named = set(re.findall(r"weir_replica_\w+", " ".join(alerting.rules(ALERTS).values())))
        self.assertEqual(named - there, {"weir_replica_generation_expires_ms"} - there)
        self.assertGreater(len(named), 15)
        self.server.kill()
        self.assertRegex(self.replicate("status", "--prometheus", status=2),
                         r"^weir replicate status: [^\n]*no server listens there\n$")
        self.assertEqual(alerting.firing(ALERTS, ""), {"WeirReplicaUnknown"})

    def test_whatever_stands_there(self):
        """Status prints no control sequence that a terminal obeys, and JSON stays JSON."""
        self.node(1, host="\x1b[31m", error="\x1b[32m\x9b2J\"\\ ", position="\x1b[7m")
        self.client.hset(tool.SET + "nodes", mapping={
            "x": "", name(7): "rubbish", name(8): "1 host \x1b generation x error ",
            name(6): b"%d host \xff\xfe pid 5 keys 99999999999999999999 error \xff" % self.now})
        self.client.hset(tool.SET + "kept", mapping={"9.9": "\x1b", "x": "", "1.1": "\n\n"})
        self.client.hset(tool.SET + "head", mapping={"last": "\x1b[5m"})
        for options in ([], ["--json"], ["--prometheus"], ["-q"]):
            text = self.replicate("status", *options, status=None)
            self.assertNotRegex(text + self.aside, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertIn(name(1), [n["node"] for n in self.status(status=None)["nodes"]])

    def test_the_clock_was_set_back(self):
        """A time in the future counts like a time equally far in the past."""
        self.node(1, -3600)
        self.assertRegex(self.alerts()[0], "has not reported for 36")
        self.current("3.14", signed=self.now + 3600000)
        self.assertRegex(self.replicate("status", "--max-age=60", status=1),
                         r"3.14 is 3\d+ s ahead of redis's clock, the limit is 60")

    def test_status_changes_nothing(self):
        before = self.client.info()
        self.status()
        self.assertEqual(self.client.info()["rdb_changes_since_last_save"],
                         before["rdb_changes_since_last_save"])


class Connections(tool.Tool):
    def test_users(self):
        """The set was never published: exit status 1."""
        server, path = tool.Server(free_port()), self.path("password")
        self.addCleanup(server.close)
        server.client.execute_command("ACL", "SETUSER", "weir", "on", ">pw", "~{weir:seen}:*",
                                      "+@all")
        server.client.execute_command("CONFIG", "SET", "requirepass", "main")
        at = "127.0.0.1:%d" % server.port
        for password, user in (("pw", "weir"), ("main", "default")):
            with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as f:
                f.write(password + "\n")
            for url, *more in (("%s:wrong@%s" % (user, at),),
                               ("nobody:wrong@" + at, "--user=" + user)):
                self.replicate("status", "--url=redis://" + url, "--password-file=" + path, *more,
                               status=1)
                self.assertEqual(self.aside, "")
        self.assertIn("AUTH", self.replicate("status", "--url=redis://" + at, status=2))
        self.assertIn("AUTH is refused", self.replicate(
            "status", "--url=redis://nobody:main@" + at, status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
