# SPDX-License-Identifier: MIT
"""The weir command beside nodes, at a redis of the test's own. The first two arguments of the test
are the nodes' program and the command."""
import json
import os
import subprocess
import sys
import unittest

import group
import nodes

PROGRAM, WEIR = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


class Tool(unittest.TestCase):
    SERVER = () # options of redis

    def setUp(self):
        self.errors = open(os.devnull, "w")
        self.addCleanup(self.errors.close)
        self.server = group.Server(self.SERVER)
        self.addCleanup(self.server.close)
        self.folder = self.server.folder
        self.options = ["set=seen", "url=unix://" + self.server.socket, "poll=20", "idle=300",
                        "record=%s/record" % self.folder]
        self.environment = {**os.environ, "WEIR_REDIS_URL": "unix://" + self.server.socket}

    def nodes(self, *options):
        ledger = nodes.Ledger(PROGRAM, *self.options, *options, errors=self.errors)
        self.addCleanup(ledger.close)
        return ledger

    def weir(self, *command, status=0):
        done = subprocess.run([WEIR, *command], text=True, capture_output=True, cwd=self.folder,
                              env=self.environment, timeout=120)
        self.aside = done.stderr
        if status is None: # as it is
            return done.stdout
        self.assertEqual(done.returncode, status, (command, done.stdout, done.stderr))
        return done.stdout if status == 0 else done.stdout + done.stderr

    def replicate(self, verb, *options, status=0):
        return self.weir("replicate", verb, "--set=seen", *options, status=status)

    def status(self, *options, status=0):
        return json.loads(self.replicate("status", "--json", *options, status=status))

    def build(self, name, first, last, *options):
        with open(os.path.join(self.folder, "keys"), "w") as f:
            f.write("".join("%d\n" % i for i in range(first, last)))
        self.weir("build", "-q", *options, "-o", name, "keys")

    def query(self, image, key, *options):
        done = subprocess.run([WEIR, "query", *options, image, "-"], input="%d\n" % key, text=True,
                              capture_output=True, cwd=self.folder)
        return done.stdout != ""

    def has(self, image, node, n):
        """Of a node's keys, that of this number. An image that is not there has none."""
        if not os.path.exists(image):
            return False
        done = subprocess.run([WEIR, "query", "-q", "--as-is", image, "-"], cwd=self.folder,
                              input=nodes.key_of(node.name, n) + b"\n", capture_output=True)
        return done.returncode == 0

    def follow(self, name, *options):
        path = os.path.join(self.folder, name)
        process = subprocess.Popen([WEIR, "replicate", "follow", "--set=seen", "-q", "-o", path,
                                    *options], env=self.environment, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, path

    def end(self, ledger, follower):
        """All that they had to send is sent, and they end well."""
        for node in ledger.nodes:
            self.assertEqual(node.quit(), "0 ")
        ledger.nodes.clear()
        follower.terminate()
        self.assertEqual(follower.wait(60), 0)
