# SPDX-License-Identifier: MIT
"""A web server of files that sends some of them as slowly as a test says."""
import os
import socket
import threading
import time


class Listening:
    """Each connection is answer()ed by a thread of its own. asked: how often."""

    def __init__(self):
        self.asked = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(link,), daemon=True).start()


class Web(Listening):
    """rate: bytes a second from now on; None: at once. Whatever is on its way obeys. taken: name ->
    how many bytes were sent of it; ended: names of which a client has left before the end."""

    def __init__(self, folder):
        self.folder, self.rate, self.taken, self.ended = folder, None, {}, []
        super().__init__()

    def answer(self, link):
        with link:
            request = b""
            while not request.endswith(b"\r\n\r\n"):
                piece = link.recv(4096)
                if not piece:
                    return
                request += piece
            self.asked += 1
            name = request.split(b" ")[1].decode().lstrip("/")
            try:
                with open(os.path.join(self.folder, name), "rb") as f:
                    body = f.read()
            except OSError:
                link.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n"
                             b"Connection: close\r\n\r\n")
                return
            try:
                link.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"%s\"\r\n"
                             b"Content-Length: %d\r\n\r\n" % (name.encode(), len(body)))
                self.send(link, name, body)
            except OSError:
                self.ended.append(name)

    def send(self, link, name, body):
        at = 0
        while at < len(body):
            rate = self.rate
            piece = len(body) - at if rate is None else max(1, rate // 20)
            link.sendall(body[at:at + piece])
            at += piece
            self.taken[name] = at
            if rate is not None:
                time.sleep(0.05)

    def close(self):
        self.listener.close()
