# SPDX-License-Identifier: MIT
"""A server that is redis in everything but what a test says: it stands before a real one, reads
each command and its answer, and may give another. Scripts are known by their text."""
import hashlib
import re
import socket
import threading

# A word of a script that no other has -> its name.
SCRIPTS = ((b"'PUBLISH'", "publish"), (b"'XADD'", "append"), (b"'XRANGE'", "read"),
           (b"'token', ARGV[1]", "manifest"), (b"'PX', ARGV[2]", "lease"),
           (b"alive[#alive", "alive"), (b"used_memory", "status"), (b"'HDEL', nodes", "report"),
           (b"owner() == ARGV[1]", "release"))


class Error(bytes):
    """Of redis."""


class Raw(bytes):
    """To be sent as it is."""


def encode(v):
    if isinstance(v, Raw):
        return bytes(v)
    if isinstance(v, Error):
        return b"-%s\r\n" % bytes(v)
    if isinstance(v, bytes):
        return b"$%d\r\n%s\r\n" % (len(v), v)
    if isinstance(v, str):
        return b"+%s\r\n" % v.encode()
    if isinstance(v, int):
        return b":%d\r\n" % v
    if v is None:
        return b"$-1\r\n"
    return b"*%d\r\n" % len(v) + b"".join(encode(e) for e in v)


def decode(f):
    line = f.readline()
    if not line.endswith(b"\r\n"):
        raise EOFError
    kind, rest = line[:1], line[1:-2]
    if kind == b"+":
        return rest.decode()
    if kind == b"-":
        return Error(rest)
    if kind == b":":
        return int(rest)
    n = int(rest)
    if n < 0:
        return None
    if kind == b"*":
        return [decode(f) for _ in range(n)]
    data = f.read(n + 2)
    if len(data) != n + 2:
        raise EOFError
    return data[:-2]


class Liar:
    """lies: name of a script or command -> function(arguments, answer, send) that returns another
    answer, or Raw bytes. What send() is given goes out at once. refusals: name -> an answer; such a
    command does not come to the real one."""

    def __init__(self, path):
        self.path, self.lies, self.refusals, self.calls, self.names = path, {}, {}, {}, {}
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(50)
        self.port = self.listener.getsockname()[1]
        self.url = "redis://127.0.0.1:%d" % self.port
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.live, args=(s,), daemon=True).start()

    def name_of(self, args, answer):
        name = args[0].decode("latin-1").lower()
        if name == "script" and isinstance(answer, bytes):
            self.names[answer] = next((n for word, n in SCRIPTS if word in args[2]), "?")
            return "load"
        return self.names.get(args[1], "?") if name == "evalsha" else name

    def live(self, s):
        there = socket.socket(socket.AF_UNIX)
        try:
            there.connect(self.path)
            asked, answers = s.makefile("rb"), there.makefile("rb")
            while True:
                args = decode(asked)
                name = self.name_of(args, None)
                answer = self.refusals.get(name)
                if answer is None:
                    there.sendall(encode(args))
                    answer = decode(answers)
                    name = self.name_of(args, answer)
                self.calls[name] = self.calls.get(name, 0) + 1
                lie = self.lies.get(name)
                if lie:
                    given = args[8:] if args[0].lower() == b"evalsha" else args[1:]
                    answer = lie(given, answer, s.sendall)
                s.sendall(encode(answer))
        except (OSError, EOFError, ValueError):
            pass
        s.close()
        there.close()

    def close(self):
        self.listener.close()


def changed(text, name, value):
    """A manifest with another value in the line of that name."""
    return re.sub(rb"(?m)^" + name + rb" .*$", name + b" " + value, text)


def reading(added, length, entries=(), generation=b"1", stored=b"", last=b"%d-0" % 2 ** 63):
    """An answer to the script that reads the stream."""
    return [added, length, generation, list(entries), stored, last]


def looking(epoch, text, signature=None):
    """An answer to the script that looks at the manifest."""
    return [epoch, text, signature, hashlib.sha1(text or b"").hexdigest().encode()]
