# SPDX-License-Identifier: MIT
"""Runs the weir command with a private redis. The test's first argument is the command."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from redis_server import RedisServer, wait_until  # noqa: E402

WEIR = os.path.abspath(sys.argv[1])
SET = "{weir:seen}:2:"


class Server(RedisServer):
    """A redis-server that syncs its append-only file always, so no answered write is lost."""

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
                "--unixsocket", self.socket, "--dir", self.folder, "--save", "",
                "--appendonly", "yes", "--appendfsync", "always",
                "--logfile", os.path.join(self.folder, "log")]


class Tool(unittest.TestCase):
    def setUp(self):
        self.server = Server(0)
        self.addCleanup(self.server.close)
        self.folder, self.client = self.server.folder, self.server.client
        self.url = "unix://" + self.server.socket
        self.environment = {**os.environ, "WEIR_REDIS_URL": self.url}

    def weir(self, *command, status=0):
        """Return: standard output, and after it standard error if @status is an error. self.aside
        has standard error too. @status: None: any."""
        done = subprocess.run([WEIR, *command], text=True, capture_output=True, cwd=self.folder,
                              env=self.environment, timeout=120)
        self.aside = done.stderr
        if status is None:
            return done.stdout
        self.assertEqual(done.returncode, status, (command, done.stdout, done.stderr))
        return done.stdout if status == 0 else done.stdout + done.stderr

    def replicate(self, verb, *options, status=0):
        return self.weir("replicate", verb, "--set=seen", *options, status=status)

    def status(self, *options, status=0):
        return json.loads(self.replicate("status", "--json", *options, status=status))

    def version(self):
        return self.status(status=None)["current"]["version"]

    def kept(self):
        return [g["version"] for g in self.status(status=None)["kept"]]

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, name, first, last, *options):
        with open(self.path("keys"), "w") as f:
            f.write("".join("%d\n" % i for i in range(first, last)))
        self.weir("build", "-q", *options, "-o", name, "keys")

    def has(self, image, key, *options):
        """Does the image have the key? A missing image has none."""
        done = subprocess.run([WEIR, "query", "-q", *options, image, "-"], input="%d\n" % key,
                              text=True, capture_output=True, cwd=self.folder)
        return done.returncode == 0

    def follow(self, name, *options):
        """Start weir replicate follow. Return: the process, and the path of its file."""
        process = subprocess.Popen([WEIR, "replicate", "follow", "--set=seen", "-q", "-o", name,
                                    *options], cwd=self.folder, env=self.environment,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, self.path(name)

    def follows(self, name, *options):
        """Start weir replicate follow, and wait until the file exists."""
        process, path = self.follow(name, *options)
        wait_until("the file", lambda: os.path.exists(path) or process.poll() is not None)
        self.assertTrue(os.path.exists(path), process.poll())
        return process, path

    def ends(self, process):
        process.terminate()
        self.assertEqual(process.wait(60), 0)

    def served(self, key, *options):
        """Does a node that starts now have the key?"""
        process, path = self.follows("served", *options)
        has = self.has(path, key)
        self.ends(process)
        os.unlink(path)
        return has

    def keys(self, name="secret", public="public"):
        """Make a pair of keys. Return: the options to sign with it and to trust it."""
        self.weir("replicate", "key", name, public)
        return "--secret=" + self.path(name), "--trusted=" + self.path(public)
