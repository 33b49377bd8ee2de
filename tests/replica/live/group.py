# SPDX-License-Identifier: MIT
"""Redis servers of the tests' own, in folders of mktemp: a master, replicas, Sentinels."""
import os
import sys

import redis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from redis_server import PATIENCE, RedisServer, free_port, wait_until  # noqa: E402


class Server(RedisServer):
    """Its append-only file is synced always, so that a restart loses nothing that it has
    answered."""

    def __init__(self, options=()):
        self.options = options
        super().__init__(free_port())

    def command(self):
        """By a file, in which Sentinel writes who is whose replica."""
        path = os.path.join(self.folder, "redis.conf")
        options = ["port", str(self.port), "bind", "127.0.0.1", "dir", self.folder,
                   "unixsocket", self.socket, "save", "", "appendonly", "yes",
                   "appendfsync", "always", "repl-diskless-sync-delay", "0",
                   "repl-backlog-size", "64mb", "logfile", os.path.join(self.folder, "log"),
                   *self.options]
        if not os.path.exists(path):
            with open(path, "w") as conf:
                for name, value in zip(options[::2], options[1::2]):
                    conf.write("%s %s\n" % (name.removeprefix("--"), value or '""'))
        return ["redis-server", path]


class Sentinel(RedisServer):
    """One of three that watch the group "weir"."""

    def __init__(self, master_port):
        self.master_port = master_port
        super().__init__(free_port())

    def command(self):
        path = os.path.join(self.folder, "sentinel.conf")
        if not os.path.exists(path):
            with open(path, "w") as conf:
                conf.write("port %d\nbind 127.0.0.1\ndir %s\nunixsocket %s\nlogfile %s/log\n"
                           "sentinel monitor weir 127.0.0.1 %d 2\n"
                           "sentinel down-after-milliseconds weir 500\n"
                           "sentinel failover-timeout weir 10000\n"
                           % (self.port, self.folder, self.socket, self.folder,
                              self.master_port))
        return ["redis-server", path, "--sentinel"]


class Group:
    """A master with a replica and three Sentinels."""

    def __init__(self, options=()):
        self.servers, self.sentinels = [], []
        try:
            self.servers.append(Server(options))
            self.servers.append(Server(
                (*options, "--replicaof", "127.0.0.1 %d" % self.servers[0].port)))
            self.sentinels = [Sentinel(self.servers[0].port) for _ in range(3)]
            wait_until("the replica follows", lambda: self.in_step(self.servers[0]))
            wait_until("Sentinels know each other", self.sentinels_ready)
        except BaseException:
            self.close()
            raise

    def sentinels_ready(self):
        for s in self.sentinels:
            about = s.client.execute_command("SENTINEL", "MASTER", "weir")
            pairs = dict(zip(about[::2], about[1::2]))
            if pairs[b"num-other-sentinels"] != b"2" or pairs[b"num-slaves"] == b"0":
                return False
        return True

    @staticmethod
    def in_step(server):
        about = server.client.info("replication")
        return (about.get("connected_slaves", 0) > 0 and
                about.get("slave0", {}).get("state") == "online")

    def url(self):
        return "redis+sentinel://%s/weir" % ",".join(
            "127.0.0.1:%d" % s.port for s in self.sentinels)

    def master(self):
        """The one that Sentinels name, if it answers as one."""
        for s in self.sentinels:
            try:
                _, port = s.client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME",
                                                   "weir")
            except redis.exceptions.RedisError:
                continue
            for server in self.servers:
                try:
                    if (server.port == int(port) and
                            server.client.info("replication")["role"] == "master"):
                        return server
                except redis.exceptions.RedisError:
                    pass
        return None

    @staticmethod
    def settled(sentinel, master):
        """Does this Sentinel know that master, with a replica that could take its place?"""
        def pairs(flat):
            return dict(zip(flat[::2], flat[1::2]))
        about = pairs(sentinel.client.execute_command("SENTINEL", "MASTER", "weir"))
        replicas = [pairs(r) for r in
                    sentinel.client.execute_command("SENTINEL", "REPLICAS", "weir")]
        return (about[b"flags"] == b"master" and int(about[b"port"]) == master.port and
                any(r[b"flags"] == b"slave" and r[b"master-link-status"] == b"ok" and
                    int(r[b"master-port"]) == master.port for r in replicas))

    def whole(self):
        master = self.master()
        try:
            return (master is not None and self.in_step(master) and
                    all(self.settled(s, master) for s in self.sentinels))
        except redis.exceptions.RedisError:
            return False

    def fail_over(self):
        """Kill the master; another takes its place; the old one comes back as a replica."""
        wait_until("two in step", self.whole, 3 * PATIENCE)
        old = self.master()
        old.kill()
        wait_until("another master", lambda: self.master() not in (None, old), 3 * PATIENCE)
        old.start()
        wait_until("two in step", self.whole, 3 * PATIENCE)

    def close(self):
        for s in self.sentinels + self.servers:
            s.close()
