# SPDX-License-Identifier: MIT
"""Nodes (node.c) with real redis-servers, a network between them that can be cut, and the list of
keys that every node must have. The test's argument is the program."""
import contextlib
import errno
import json
import mmap
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import redis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from redis_server import PATIENCE, RedisServer, free_port, wait_until  # noqa: E402,F401

PROGRAM = os.path.abspath(sys.argv[1])
SET = "{weir:seen}:2:"
CLASSIC = 1     # WEIR_CLASSIC
NO_REPLICAS = 2**32 - 1 # WEIR_REPLICAS_NONE
BATCH = 64      # keys of a confirmed insert


class Server(RedisServer):
    """A redis-server. A test can change its options, a dictionary, before a restart."""

    def __init__(self, **options):
        self.options = {"appendonly": "yes", "appendfsync": "everysec", "save": "",
                        "repl-diskless-sync-delay": "0", "repl-backlog-size": "64mb", **options}
        super().__init__(free_port())

    def command(self):
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder,
                   "unixsocket": self.socket, "logfile": os.path.join(self.folder, "log"),
                   "enable-debug-command": "yes", **self.options}
        return ["redis-server", *(word for name, value in options.items()
                                  for word in ("--" + name, *str(value).split(" ")))]

    def replicate(self, master):
        self.options["replicaof"] = "127.0.0.1 %d" % master.port

    def is_master(self):
        with contextlib.suppress(redis.exceptions.RedisError): # a promotion ends connections
            return self.client.info("replication")["role"] == "master"

    def replicas(self):
        """Return: the number of replicas that are online."""
        about = self.client.info("replication")
        return sum(about["slave%d" % i]["state"] == "online"
                   for i in range(about["connected_slaves"]))


class Sentinel(RedisServer):
    """One of three Sentinels that watch the group "weir"."""

    def __init__(self, master):
        self.master = master
        super().__init__(free_port())

    def command(self):
        path = os.path.join(self.folder, "conf")
        with open(path, "w") as conf:
            conf.write("port %d\nbind 127.0.0.1\ndir %s\nunixsocket %s\nlogfile %s/log\n"
                       "sentinel monitor weir 127.0.0.1 %d 2\n"
                       "sentinel down-after-milliseconds weir 500\n"
                       "sentinel failover-timeout weir 10000\n"
                       % (self.port, self.folder, self.socket, self.folder, self.master.port))
        return ["redis-server", path, "--sentinel"]

    def about(self, what="MASTER"):
        flat = self.client.execute_command("SENTINEL", what, "weir")
        pairs = [dict(zip(one[::2], one[1::2])) for one in (flat if what != "MASTER" else [flat])]
        return pairs if what != "MASTER" else pairs[0]

    def settled(self, master):
        """Does it know this master, the other Sentinels, and a replica that it can promote?"""
        it = self.about()
        return (it[b"flags"] == b"master" and int(it[b"port"]) == master.port and
                it[b"num-other-sentinels"] == b"2" and
                any(r[b"flags"] == b"slave" and r[b"master-link-status"] == b"ok" and
                    int(r[b"master-port"]) == master.port for r in self.about("REPLICAS")))


class Proxy:
    """The network between nodes and a server. A test may change .server while it is cut."""

    def __init__(self, server):
        self.server, self.open, self.pairs = server, threading.Event(), []
        self.slow, self.lie = 0, None # slow: seconds for each 64 KiB
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = "redis://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.join, args=(near,), daemon=True).start()

    def join(self, near):
        far = socket.socket(socket.AF_UNIX)
        try:
            self.open.wait()
            far.connect(self.server.socket)
        except OSError:
            near.close()
            far.close()
            return
        self.pairs.append((near, far))
        other = threading.Thread(target=self.pump, args=(near, far, None), daemon=True)
        other.start()
        self.pump(far, near, True)
        other.join()
        near.close()
        far.close()

    def pump(self, source, sink, answers):
        """@answers: True if @source is the server, so that lie() may send other data."""
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.open.wait()
                if self.slow:
                    time.sleep(self.slow * len(data) / 65536)
                if answers and self.lie:
                    self.lie(sink, data)
                else:
                    sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def break_all(self):
        for pair in self.pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()

    @contextlib.contextmanager
    def cut(self, ends=False):
        """Hold all data back. After the cut the data arrives, or all connections end (@ends)."""
        self.open.clear()
        try:
            yield
        finally:
            if ends:
                self.break_all()
            self.open.set()

    def close(self):
        self.listener.close()
        self.open.set()
        self.break_all()


class Node:
    """@name: a number. The node's keys begin at first() and first(confirmed=True)."""

    def __init__(self, name, folder, *options, environment=None):
        self.name, self.buffer = name, b""
        self.path = os.path.join(folder, "counts%d" % name)
        with open(self.path, "wb") as f:
            f.write(bytes(32))
        with open(self.path, "rb") as f:
            self.counts = mmap.mmap(f.fileno(), 32, prot=mmap.PROT_READ)
        self.said = os.path.join(folder, "said%d" % name)
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(
                [PROGRAM, self.path, "plain=%d" % self.first(), "confirmed=%d" % self.first(True),
                 *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                env={**os.environ, **(environment or {})})
        try:
            self.opened = self.answer()
        except BaseException:
            self.close()
            raise

    def first(self, confirmed=False):
        return 2 * self.name + 1 + confirmed << 40

    def count(self, confirmed=False):
        """Return: the number of keys that the node accepted in the background."""
        return struct.unpack_from("Q", self.counts, 8 * confirmed)[0]

    def refused(self, confirmed=False):
        return struct.unpack_from("Q", self.counts, 16 + 8 * confirmed)[0]

    def answer(self, patience=2 * PATIENCE):
        end = time.monotonic() + patience
        while b"\n" not in self.buffer:
            ready = select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))[0]
            data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                raise AssertionError("node %d %s: %s" % (
                    self.name, "ended: %s" % self.process.wait() if ready else
                    "does not answer", self.reports()[-1000:]))
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, *words, patience=2 * PATIENCE):
        self.tell(*words)
        return self.answer(patience)

    def stats(self):
        return self.ask("stats")

    def insert(self, first, end, wait="soon", threads=1, batch=1):
        return self.ask("insert", first, end, wait, threads, batch, patience=600)

    def missing(self, first, end):
        return self.ask("contains", first, end)["result"]

    def well(self):
        s = self.stats()
        return s["state"] == "following" and s["complete"] and not s["owes"]

    def reports(self):
        with open(self.said, errors="replace") as f:
            return f.read()

    def megabytes(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(dict(line.split(":", 1) for line in f)["VmRSS"].split()[0]) >> 10

    def quit(self, patience=2 * PATIENCE):
        answer = self.ask("quit", patience=patience)
        ended = self.process.wait(PATIENCE)
        if ended:
            raise AssertionError("node %d ends with %d: %s" % (self.name, ended, self.reports()))
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()


class World:
    """Servers (the first is the master), a proxy before the master, nodes, and the promised keys.
    close() ends all of them."""

    def __init__(self, replicas=0, sentinels=0, options=(), **server):
        self.stack = contextlib.ExitStack()
        self.folder = tempfile.mkdtemp(prefix="weir-live-")
        self.stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.nodes, self.promises, self.names = [], [], 0
        try:
            self.servers = [self.own(Server(**server))]
            for _ in range(replicas):
                self.servers.append(self.own(Server(
                    **server, replicaof="127.0.0.1 %d" % self.master.port)))
            wait_until("replicas are in step", lambda: self.master.replicas() == replicas)
            self.sentinels = [self.own(Sentinel(self.master)) for _ in range(sentinels)]
            self.proxy = self.own(Proxy(self.master))
            self.url = self.proxy.url
            if sentinels:
                self.url = "redis+sentinel://%s/weir" % ",".join(
                    "127.0.0.1:%d" % s.port for s in self.sentinels)
                self.sentinels_settle()
            self.options = ("set=seen", "kind=%d" % CLASSIC, "capacity=2000000", *options)
        except BaseException:
            self.close()
            raise

    def own(self, thing):
        self.stack.callback(thing.close)
        return thing

    def close(self):
        self.stack.close()

    @property
    def master(self):
        return self.servers[0]

    def sentinels_settle(self):
        def settled():
            with contextlib.suppress(redis.exceptions.RedisError, KeyError):
                return self.master.replicas() and all(s.settled(self.master)
                                                      for s in self.sentinels)
        wait_until("Sentinels know the master", settled, 3 * PATIENCE)

    def start(self, *options, opens=0, **more):
        """@opens: the expected result of weir_replica_open(). A node that times out on a busy
        machine opens again, as an application would."""
        end = time.monotonic() + PATIENCE
        while True:
            node = Node(self.names, self.folder, "url=" + self.url, *self.options, *options, **more)
            self.names += 1
            self.stack.callback(node.close)
            if opens or node.opened["result"] != -errno.ETIMEDOUT or time.monotonic() > end:
                break
            node.close()
        if node.opened["result"] != opens:
            raise AssertionError("a node opens with %s" % node.opened)
        if not opens:
            self.nodes.append(node)
        return node

    def signed(self, state, signs=False, key="one"):
        """Return: options of a node that trusts @key, with the state file @state."""
        files = [os.path.join(self.folder, name) for name in (key + ".secret", key + ".public",
                                                              state)]
        if not os.path.exists(files[0]):
            subprocess.run([PROGRAM, "key", *files[:2]], check=True)
        return ["trusted_keys=" + files[1], "state_file=" + files[2],
                *["secret_key=" + files[0]] * signs]

    def kill(self, node, confirmed=None):
        """@confirmed: how many keys count as promised; None: all that are confirmed."""
        node.process.kill()
        node.process.wait()
        self.promise(node, True, node.count(True) if confirmed is None else confirmed)
        self.nodes.remove(node)

    def promise(self, node, confirmed, n):
        self.promises.append((node.first(confirmed), node.first(confirmed) + n))

    def promised(self):
        return self.promises + [(n.first(c), n.first(c) + n.count(c))
                                for n in self.nodes for c in (False, True)]

    def confirmed(self):
        """Return: the number of confirmed keys, with those of ended nodes."""
        return (sum(end - first for first, end in self.promises) +
                sum(n.count(True) for n in self.nodes))

    def work(self, plain=2000, batch=BATCH, pause=5):
        for node in self.nodes:
            node.ask("work", plain, batch, pause)

    def healed(self, since):
        """Return: the seconds from @since until all nodes are well and confirm new inserts."""
        before = {n: n.count(True) for n in self.nodes}
        wait_until("nodes are well: %s" % [n.stats()["error"] for n in self.nodes], lambda: all(
            n.count(True) >= before[n] + 2 * BATCH and n.well() for n in self.nodes))
        return time.monotonic() - since

    def settle(self):
        """Stop the inserts. Return: (node, first key, number of missing keys) for all lost
        keys."""
        self.work(0, 0, 0)
        for node in self.nodes:
            wait_until("a flush", lambda: node.ask("flush", 5000)["result"] == 0)
        wait_until("nodes are well", lambda: all(n.well() for n in self.nodes))
        end = time.monotonic() + PATIENCE / 3
        while (lost := self.lost()) and time.monotonic() < end:
            time.sleep(0.1)
        return lost

    def lost(self):
        return [(n.name, first, missing) for first, end in self.promised() for n in self.nodes
                if (missing := n.missing(first, end))]
