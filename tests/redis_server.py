# SPDX-License-Identifier: MIT
"""A private redis-server for tests, on a Unix socket in a temporary folder, and helpers for these
tests."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import redis

# the program that understands Redis's protocol: redis-server unless a test runs on another
PROGRAM = os.environ.get("WEIR_REDIS_SERVER", "redis-server")
PATIENCE = float(os.environ.get("WEIR_TEST_PATIENCE", "60"))
# meson ends a test that takes too long by SIGTERM; the test then ends its own processes
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def wait_until(what, condition, patience=PATIENCE):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %.0f s: %s" % (patience, what))
        time.sleep(0.02)


def free_port():
    """Return a free port so low that the port 10,000 above it, which a Cluster also needs, is no
    other server's and no ephemeral port."""
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(10000, 20000)))
            except OSError:
                continue
            return s.getsockname()[1]


class RedisServer:
    """A server; a subclass defines command(), which starts it. @port: 0 for the socket alone."""

    def __init__(self, port):
        self.port = port
        self.folder = tempfile.mkdtemp(prefix="weir-redis-")
        self.socket = os.path.join(self.folder, "s")
        self.process = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=self.socket)
        wait_until("redis-server answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("redis-server ended: %s" % self.log()[-2000:])
        try:
            return self.client.ping()
        except redis.exceptions.AuthenticationError:
            return True # the server has a password
        except redis.exceptions.RedisError:
            return False

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def again(self):
        self.kill()
        self.start()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
