# SPDX-License-Identifier: MIT
"""The two ends of a connection: a program that calls, and one that answers whatever a test says."""
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import certificates  # noqa: E402,F401
import group  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])


class Caller:
    def __init__(self, test, *options):
        self.process = subprocess.Popen([PROGRAM, *options], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        test.addCleanup(self.close)

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Liar:
    """Accepts connections; each gets what is said for it: bytes are sent after a command has come,
    numbers are seconds of silence, None closes."""

    def __init__(self, test, *lives, host="127.0.0.1"):
        self.lives, self.seen = list(lives), []
        self.listener = socket.socket()
        self.listener.bind((host, 0))
        self.listener.listen(10)
        self.port = self.listener.getsockname()[1]
        self.url = "redis://%s:%d" % (host, self.port)
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.serve, daemon=True).start()

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
            for said in script:
                if said is None:
                    break
                if isinstance(said, (int, float)):
                    time.sleep(said)
                    continue
                if isinstance(said, tuple): # go on without a command
                    s.sendall(said[0])
                    continue
                got = s.recv(1 << 20)
                if not got:
                    break
                self.seen.append(got)
                s.sendall(said)
            else:
                s.recv(1)
        except OSError:
            pass
        s.close()
