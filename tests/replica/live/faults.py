# SPDX-License-Identifier: MIT
"""Faults of a node, of redis, and of the network between them, while nodes insert. Each function
returns the time when redis answers again. From then on all nodes must soon be well and have all
promised keys."""
import os
import random
import shutil
import signal
import time

import live

SLEEP = 0.5     # seconds without a server
PERIOD = 2.5    # most seconds of keys that redis loses with appendfsync everysec


def restart(server, meanwhile=None):
    server.kill()
    if meanwhile:
        meanwhile()
    time.sleep(SLEEP)
    server.start()
    return time.monotonic()


# ---- nodes ----

def node_killed(w):
    w.kill(random.choice(w.nodes))
    since = time.monotonic()
    w.start()
    w.work()
    return since


def node_stopped(w):
    node = random.choice(w.nodes)
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(3)
    node.process.send_signal(signal.SIGCONT)
    return time.monotonic()


# ---- redis ends and starts again with the data on its disk ----

def redis_killed(w):
    return restart(w.master)


def redis_ended(w):
    """SIGTERM: redis writes everything to its disk."""
    w.master.process.terminate()
    w.master.process.wait()
    return restart(w.master)


def cut_file(server, bytes_of):
    """Cut the append-only files to their old sizes. Skip those that a rewrite has removed."""
    for path, size in bytes_of.items():
        if os.path.exists(path):
            os.truncate(path, size)


def written(server):
    folder = os.path.join(server.folder, "appendonlydir")
    return {os.path.join(folder, name): os.path.getsize(os.path.join(folder, name))
            for name in os.listdir(folder) if name.endswith(".incr.aof")}


def power_lost(w):
    """Redis loses the keys of the last second."""
    before = written(w.master)
    time.sleep(1)
    return restart(w.master, lambda: cut_file(w.master, before))


def redis_and_node_killed(w):
    """With everysec redis also loses the end of its file, so only older keys count."""
    victim = random.choice(w.nodes)
    always = w.master.options["appendfsync"] == "always"
    promised, before = victim.count(True), None
    if not always:
        time.sleep(PERIOD)
        before = written(w.master)
        time.sleep(0.1)

    def meanwhile():
        w.kill(victim, None if always else promised)
        if before:
            cut_file(w.master, before)
    since = restart(w.master, meanwhile)
    w.start()
    w.work()
    return since


def dump_restored(w):
    """The server loses everything after its last save, also a generation."""
    dump = os.path.join(w.master.folder, "dump.rdb")
    w.master.client.save()
    shutil.copy(dump, dump + ".old")
    time.sleep(1)
    if w.nodes[0].ask("publish")["result"]:
        raise AssertionError("it does not publish")
    time.sleep(1)
    return restart(w.master, lambda: shutil.copy(dump + ".old", dump))


def reloaded(w):
    w.master.client.execute_command("DEBUG", "RELOAD")
    return time.monotonic()


# ---- another server ----

def promote(w, while_away):
    """The replica takes the master's place and address, and the master becomes its replica."""
    live.wait_until("the replica is in step", lambda: w.master.replicas() == 1)
    old, new = w.servers
    with w.proxy.cut(ends=True):
        old.kill()
        while_away()
        new.options.pop("replicaof", None)
        new.client.replicaof("NO", "ONE")
        w.servers.reverse()
        w.proxy.server = new
    since = time.monotonic()
    old.replicate(new)
    old.start()
    return since


def promoted(w):
    return promote(w, lambda: None)


def node_killed_then_promoted(w):
    def kill():
        w.kill(random.choice(w.nodes))
    since = promote(w, kill)
    w.start()
    w.work()
    return since


def failed_over(w):
    """Sentinels promote the replica."""
    w.sentinels_settle()
    old, new = w.servers
    old.kill()
    live.wait_until("another master", new.is_master, 3 * live.PATIENCE)
    since = time.monotonic()
    new.options.pop("replicaof", None)
    w.servers.reverse()
    old.replicate(new)
    old.start()
    return since


def two_masters(w):
    """One node stays with the old master until this master becomes a replica of the new master."""
    live.wait_until("the replica is in step", lambda: w.master.replicas() == 1)
    old, new = w.servers
    new.options.pop("replicaof", None)
    new.client.replicaof("NO", "ONE")
    for way in w.ways[1:]:
        with way.cut(ends=True):
            way.server = new
    time.sleep(3)
    with w.ways[0].cut(ends=True):
        w.ways[0].server = new
    since = time.monotonic()
    old.replicate(new)
    old.client.replicaof("127.0.0.1", new.port)
    w.servers.reverse()
    w.proxy.server = new
    return since


# ---- the network ----

def cut(seconds, ends=False):
    def fault(w):
        with w.proxy.cut(ends):
            time.sleep(seconds)
        return time.monotonic()
    return fault


def one_node_cut(w):
    """Cut one node off from redis."""
    with random.choice(w.ways).cut():
        time.sleep(3)
    return time.monotonic()


def connections_killed(w):
    w.master.client.client_kill_filter(_type="normal", skipme=True)
    return time.monotonic()


# ---- the data in redis ----

def command(*words):
    def fault(w):
        w.master.client.execute_command(*words)
        return time.monotonic()
    return fault


def entries_deleted(w):
    """Delete half of the last entries. Some nodes have not read them yet."""
    ids = [i for i, _ in w.master.client.xrevrange(live.SET + "log", count=200)]
    w.master.client.xdel(live.SET + "log", *random.sample(ids, (len(ids) + 1) // 2))
    return time.monotonic()


def image_deleted(w):
    w.master.client.delete("", *w.master.client.keys(live.SET + "img:*"))
    return time.monotonic()


def put_back(w):
    """Put all keys back by RESTORE while the server runs."""
    client = w.master.client
    names = client.keys("{weir:seen}:*")
    with client.pipeline(transaction=True) as p:
        for name in names:
            p.dump(name)
        dumps = dict(zip(names, p.execute()))
    time.sleep(1.5)
    with client.pipeline(transaction=True) as p:
        p.delete(*client.keys("{weir:seen}:*"))
        for name, dump in dumps.items():
            if dump:
                p.restore(name, 0, dump, replace=True)
        p.execute()
    return time.monotonic()


def until(node, *words):
    """Repeat a call that fails because another node publishes or the set begins again."""
    live.wait_until(words[0], lambda: node.ask(*words)["result"] == 0)
    return time.monotonic()


def record_published(w):
    """Publish a record of all promised keys. Keys 0 to 999 are not promised and must go."""
    node = w.nodes[0]
    node.insert(0, 1000, "confirmed", 1, 1000)
    words = [word for n in w.nodes for confirmed in (False, True)
             for word in (n.first(confirmed), n.path)]
    since = until(node, "record", *words, *(word for gone in w.promises for word in gone))
    live.wait_until("they are gone", lambda: all(n.missing(0, 1000) > 990 for n in w.nodes))
    return since


def rolled_back(w):
    node = w.nodes[0]
    until(node, "publish")
    version = node.stats()["joined"]
    time.sleep(SLEEP)
    until(node, "publish")
    return until(node, "rollback", *version)


def ids_moved(w):
    last = w.master.client.xinfo_stream(live.SET + "log")["last-generated-id"]
    epoch, n = map(int, last.split(b"-"))
    w.master.client.execute_command("XSETID", live.SET + "log", "%d-%d" % (epoch, n + 1000))
    return time.monotonic()


def memory_full(w):
    client = w.master.client
    client.config_set("maxmemory", client.info("memory")["used_memory"] + (1 << 20))
    time.sleep(2)
    client.config_set("maxmemory", 0)
    return time.monotonic()


def mixed(w):
    """A random fault by which redis does not lose confirmed keys."""
    return random.choice((node_killed, node_stopped, redis_killed, redis_ended, reloaded, cut(2),
                          connections_killed, command("FLUSHALL"), entries_deleted, put_back,
                          command("DEL", live.SET + "head"), command("DEL", live.SET + "log"),
                          command("XTRIM", live.SET + "log", "MAXLEN", 0), image_deleted,
                          memory_full, redis_and_node_killed))(w)


class Fault:
    """@signed: the first two nodes sign, and all nodes trust only their key. @ways: each node has
    its own network."""

    def __init__(self, act, options=(), signed=False, ways=False, **world):
        self.act, self.options, self.world = act, options, world
        self.signed, self.ways = signed, ways

    def begin(self):
        """Start three nodes."""
        w = live.World(options=self.options, **self.world)
        w.ways = [w.own(live.Proxy(w.master)) for _ in range(3)]
        try:
            for i in range(3):
                w.start(*["url=" + w.ways[i].url] * self.ways,
                        *w.signed("state%d" % i, i < 2) if self.signed else ())
        except BaseException:
            w.close()
            raise
        return w

    def round(self, w):
        """Return: the seconds until all nodes are well, and the lost keys."""
        w.work()
        time.sleep(random.uniform(0.3, 1.2))
        seconds = w.healed(self.act(w))
        return seconds, w.settle()


ALWAYS, REPLICATED = {"appendfsync": "always"}, {"replicas": 1}
PUBLISHES, SMALL = ("publish_seconds=2",), ("max_pending_bytes=65536",)
NOBODY_WAITS = ("confirm_replicas=%d" % live.NO_REPLICAS,)
FAULTS = {
    "a node is killed": Fault(node_killed),
    "a node is killed, generations come": Fault(node_killed, PUBLISHES),
    "a node is stopped for 3 s": Fault(node_stopped),
    "redis is killed, everysec": Fault(redis_killed),
    "redis is killed, always": Fault(redis_killed, **ALWAYS),
    "redis ends": Fault(redis_ended),
    "redis begins empty": Fault(redis_killed, appendonly="no"),
    "redis begins empty, a small ring": Fault(redis_killed, SMALL, appendonly="no"),
    "its machine loses power, everysec": Fault(power_lost),
    "redis and a node die, everysec": Fault(redis_and_node_killed),
    "redis and a node die, always": Fault(redis_and_node_killed, **ALWAYS),
    "a replica is promoted": Fault(promoted, **REPLICATED),
    "a node dies, a replica is promoted": Fault(node_killed_then_promoted, **REPLICATED),
    "Sentinels promote a replica": Fault(failed_over, sentinels=3, **REPLICATED),
    "there are two masters for 3 s": Fault(two_masters, NOBODY_WAITS, ways=True, **REPLICATED),
    "the network is cut for 2 s": Fault(cut(2)),
    "the network is cut for 10 s": Fault(cut(10)),
    "the network is cut, connections end": Fault(cut(3, True)),
    "the network of one node is cut": Fault(one_node_cut, ways=True),
    "connections are killed": Fault(connections_killed),
    "FLUSHALL": Fault(command("FLUSHALL")),
    "FLUSHALL, generations come": Fault(command("FLUSHALL"), PUBLISHES),
    "FLUSHALL, a small ring": Fault(command("FLUSHALL"), SMALL),
    "an old dump is restored": Fault(dump_restored, appendonly="no"),
    "an old dump, generations come": Fault(dump_restored, PUBLISHES, appendonly="no"),
    "an old dump of a signed set": Fault(dump_restored, PUBLISHES, True, appendonly="no"),
    "FLUSHALL of a signed set": Fault(command("FLUSHALL"), (), True),
    "DEBUG RELOAD": Fault(reloaded),
    "keys are put back": Fault(put_back),
    "keys are put back, generations come": Fault(put_back, PUBLISHES),
    "XTRIM": Fault(command("XTRIM", live.SET + "log", "MAXLEN", 0)),
    "XDEL": Fault(entries_deleted),
    "a record is published": Fault(record_published),
    "a record, generations come": Fault(record_published, PUBLISHES),
    "a generation of before is published": Fault(rolled_back),
    "DEL log": Fault(command("DEL", live.SET + "log")),
    "DEL head": Fault(command("DEL", live.SET + "head")),
    "DEL kept": Fault(command("DEL", live.SET + "kept"), PUBLISHES),
    "DEL nodes": Fault(command("DEL", live.SET + "nodes")),
    "DEL of an image": Fault(image_deleted, PUBLISHES),
    "ids of the log are moved": Fault(ids_moved),
    "another replication id": Fault(command("DEBUG", "CHANGE-REPL-ID")),
    "redis is full for 2 s": Fault(memory_full),
    "one after the other": Fault(mixed, **ALWAYS),
}
