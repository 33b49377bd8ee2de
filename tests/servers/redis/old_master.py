# SPDX-License-Identifier: MIT
"""A master with RedisBloom, as a replica sees it: it sends a recorded RDB file, and then the
commands of clients as they came, which is how RedisBloom's commands are replicated."""
import socket
import threading
import time

from served import free_port


def command_of(words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                              for word in words)


class OldMaster:
    """@rdb: the file; @pause: seconds between two pieces of it."""

    ID = b"0123456789abcdef0123456789abcdef01234567"

    def __init__(self, rdb, pause=0):
        self.rdb, self.pause, self.port = rdb, pause, free_port()
        self.stream, self.acked, self.syncs, self.closed = bytearray(), 0, [], False
        self.changed, self.links = threading.Condition(), []
        self.run("SELECT", 0)
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def run(self, *words):
        """Run a client's command: it goes to the replicas."""
        with self.changed:
            self.stream += command_of(words)
            self.changed.notify_all()

    def offset(self):
        return len(self.stream)

    def drop(self):
        """Break the connections."""
        links, self.links = self.links, []
        for link in links:
            link.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.closed = True
        self.listener.close()
        self.drop()
        with self.changed:
            self.changed.notify_all()

    def accept(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.links.append(link)
            threading.Thread(target=self.answer, args=(link,), daemon=True).start()

    def answer(self, link):
        """Answer a replica until it has gone."""
        stream = link.makefile("rb")
        try:
            while line := stream.readline():
                words = []
                for _ in range(int(line[1:])):
                    words.append(stream.read(int(stream.readline()[1:]) + 2)[:-2])
                self.reply(link, words)
        except (OSError, ValueError):
            pass

    def reply(self, link, words):
        if words[0] == b"PSYNC":
            threading.Thread(target=self.send, args=(link, *words[1:]), daemon=True).start()
        elif words[:2] == [b"REPLCONF", b"ACK"]:
            self.acked = int(words[2])
        else:
            link.sendall(b"+PONG\r\n" if words[0] == b"PING" else b"+OK\r\n")

    def send(self, link, name, at):
        try:
            if name == self.ID:
                self.syncs.append("partial")
                at = int(at) - 1
                link.sendall(b"+CONTINUE\r\n")
            else:
                self.syncs.append("full")
                at = 0
                link.sendall(b"+FULLRESYNC %s 0\r\n$%d\r\n" % (self.ID, len(self.rdb)))
                for i in range(0, len(self.rdb), 1000):
                    link.sendall(self.rdb[i:i + 1000])
                    time.sleep(self.pause)
            while not self.closed:
                with self.changed:
                    while len(self.stream) == at and not self.closed:
                        self.changed.wait()
                    piece = bytes(self.stream[at:])
                link.sendall(piece)
                at += len(piece)
        except OSError:
            pass
