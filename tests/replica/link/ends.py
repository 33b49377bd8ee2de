# SPDX-License-Identifier: MIT
"""The two ends of a link: a program that calls, and a server that answers as a test tells it."""
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from redis_server import RedisServer, free_port, wait_until  # noqa: E402,F401

PROGRAM = os.path.abspath(sys.argv[1])


class Caller:
    """Runs link_call.c, which describes the lines."""

    def __init__(self, test, *options):
        self.process = subprocess.Popen([PROGRAM, *options], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        test.addCleanup(self.close)

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self):
        return self.process.stdout.readline().rstrip("\n")

    def __call__(self, line):
        self.write(line)
        return self.read()

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def close(self):
        self.process.stdin.close()
        ended = self.process.wait(60)
        self.process.stdout.close()
        assert ended == 0, ended


class Liar:
    """Accepts connections and plays one script to each. Bytes are sent after a command, a number is
    a pause in seconds, bytes in a tuple are sent without a command, and None closes."""

    def __init__(self, test, *lives, host="127.0.0.1", certificate=None):
        self.lives, self.seen, self.names = list(lives), [], []
        self.context = self.of_tls(certificate) if certificate else None
        self.listener = socket.socket()
        self.listener.bind((host, 0))
        self.listener.listen(10)
        self.port = self.listener.getsockname()[1]
        self.url = "redis%s://%s:%d" % ("s" if certificate else "", host, self.port)
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def of_tls(self, certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate + ".crt", certificate + ".key")
        context.sni_callback = lambda _, name, __: self.names.append(name)
        return context

    def serve(self):
        while self.lives:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.live, args=(s, self.lives.pop(0)),
                             daemon=True).start()

    def live(self, s, script):
        try:
            if self.context:
                s = self.context.wrap_socket(s, server_side=True)
            self.act(s, script)
        except OSError:
            pass
        s.close()

    def act(self, s, script):
        for said in script:
            if said is None:
                return
            if isinstance(said, (int, float)):
                time.sleep(said)
                continue
            if isinstance(said, tuple):
                s.sendall(said[0])
                continue
            got = s.recv(1 << 20)
            if not got:
                return
            self.seen.append(got)
            s.sendall(said)
        s.recv(1)


class Server(RedisServer):
    def __init__(self, test, *options):
        self.options = options
        super().__init__(free_port())
        test.addCleanup(self.close)

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir",
                self.folder, "--unixsocket", self.socket, "--save", "", "--logfile",
                os.path.join(self.folder, "log"), "--repl-diskless-sync-delay", "0",
                *self.options]


def names(port, host=b"127.0.0.1"):
    """A Sentinel's answer that names the master."""
    return b"*2\r\n$%d\r\n%s\r\n$%d\r\n%d\r\n" % (len(host), host, len(str(port)), port)


MASTER = b"*3\r\n$6\r\nmaster\r\n:1\r\n*0\r\n"
SLAVE = b"*3\r\n$5\r\nslave\r\n:1\r\n*0\r\n"
