# SPDX-License-Identifier: MIT
"""A redis-server of the tests' own: on a Unix socket in a folder of mktemp, with the module."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import redis

PATIENCE = 60
MODULE = os.path.abspath(sys.argv[1])
# A test that takes too long is ended by this: what it started ends with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.02)


class Server:
    """@arguments: the module's; @options: of redis-server; @port: 0: the socket alone."""

    def __init__(self, arguments=(), options=(), port=0):
        self.folder = tempfile.mkdtemp(prefix="weir-redis-")
        self.socket = os.path.join(self.folder, "s")
        self.command = ["redis-server", "--port", str(port), "--unixsocket", self.socket,
                        "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                        "--logfile", os.path.join(self.folder, "log"), *options,
                        "--loadmodule", MODULE, *arguments]
        self.process = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=self.socket)
        wait_until("the server answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("redis-server ended: %s" % self.log()[-2000:])
        try:
            return self.client.ping()
        except redis.exceptions.RedisError:
            return False

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        self.kill()
        self.start()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder)
