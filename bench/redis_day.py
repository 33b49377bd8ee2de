#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A day's worth of small keys: made, saved, loaded by a restart, and synced to a replica while
clients go on adding. Beside native keys of as many bytes, in the same run.

    redis_day.py [-n KEYS] LABEL=MODULE.so ...

For example: redis_day.py weir=weir-redis.so RedisBloom=/path/to/redisbloom.so

-n: keys (1,000,000). Each key gets one item by BF.ADD; the native one is a string of 144 bytes by
SETBIT. Every answer is checked on the master, after the restart and on the replica: a wrong one
ends the run with exit status 1. Times are seconds of the clock; CPU is the server's, as INFO cpu
says. WEIR_REDIS_SERVER names another server than redis-server."""
import os
import random
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from redis import Server, encode  # noqa: E402  redis.py of this folder

PATIENCE = 600  # seconds for a load or a sync
MOST_FALSE = 0.02 # of absent items


class Filters:
    name = 'BF.ADD'

    def add(self, i):
        return encode('BF.ADD', 'user:%d' % i, 'item:%d' % i)

    def has(self, i):
        return encode('BF.EXISTS', 'user:%d' % i, 'item:%d' % i)

    def absent(self, i):
        return encode('BF.EXISTS', 'user:%d' % i, 'absent:%d' % i)


class Strings:
    name = 'SETBIT'

    def add(self, i):
        return encode('SETBIT', 'user:%d' % i, 1151, 1)

    def has(self, i):
        return encode('GETBIT', 'user:%d' % i, 1151)

    def absent(self, i):
        return encode('GETBIT', 'user:%d' % i, 7)


def ones(server, commands):
    return sum(data.count(b':1\r\n') for data in server.send(commands))


def check(server, where, kind, keys):
    """Every item is found in its key, and few absent ones are."""
    found = ones(server, map(kind.has, range(keys)))
    if found != keys:
        raise SystemExit('%s, %s: %d of %d items are missing' % (where, kind.name, keys - found,
                                                                 keys))
    false = ones(server, map(kind.absent, range(keys)))
    if false > keys * MOST_FALSE:
        raise SystemExit('%s, %s: %d of %d absent items are found' % (where, kind.name, false,
                                                                      keys))


def wait_until(server, what, is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end or server.process.poll() is not None:
            raise SystemExit('not within %d s: %s' % (PATIENCE, what))
        time.sleep(0.005)


def free_port():
    while True:
        with socket.socket() as s:
            try:
                s.bind(('127.0.0.1', random.randrange(10000, 20000)))
            except OSError:
                continue
            return s.getsockname()[1]


def sync(master, module, port, kind, keys):
    """Sync a replica while the master takes more keys. Return: how many keys there are then, the
    seconds until the replica follows, and its memory."""
    with Server(module, '--replicaof', '127.0.0.1 %d' % port) as replica:
        begin = time.monotonic()
        while replica.info('replication').get('master_link_status') != 'up':
            master.send(map(kind.add, range(keys, keys + 100)))
            keys += 100
            if time.monotonic() - begin > PATIENCE:
                raise SystemExit('the replica does not follow')
        seconds = time.monotonic() - begin
        if master.call('WAIT', 1, PATIENCE * 1000) != b':1\r\n':
            raise SystemExit('the replica lags')
        check(replica, 'on the replica', kind, keys)
        if int(master.info('stats')['sync_full']) != 1:
            raise SystemExit('it was no single full sync')
        return keys, seconds, replica.memory()


def day(module, kind, keys):
    """Return: (what, figure) of each step."""
    port, out = free_port(), []
    with Server(module, '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0',
                '--port', str(port)) as server:
        empty = server.memory()
        begin = time.monotonic()
        cpu = server.timed(map(kind.add, range(keys)))
        out.append(('made, s', time.monotonic() - begin))
        out.append(('made, CPU s', cpu))
        out.append(('bytes a key', (server.memory() - empty) / keys))
        check(server, 'on the master', kind, keys)
        begin = time.monotonic()
        server.call('SAVE')
        out.append(('SAVE, s', time.monotonic() - begin))
        out.append(('bytes a key in the file', os.path.getsize(server.dir + '/dump.rdb') / keys))
        server.stop()
        begin = time.monotonic()
        server.start()
        wait_until(server, 'the file is loaded',
                   lambda: server.info('persistence')['loading'] == '0')
        out.append(('restart, s', time.monotonic() - begin))
        check(server, 'after the restart', kind, keys)
        out.append(('bytes a key then', (server.memory() - empty) / keys))
        more, seconds, memory = sync(server, module, port, kind, keys)
        out.append(('full sync, s', seconds))
        out.append(('keys added meanwhile', more - keys))
        out.append(('bytes a key on the replica', (memory - empty) / more))
    return out


def main(words):
    keys = 1000000
    if words[:1] == ['-n']:
        keys, words = int(words[1]), words[2:]
    modules = [w.partition('=')[::2] for w in words]
    if not modules or not all(path for _, path in modules):
        raise SystemExit(__doc__)
    titles = ['SETBIT, 144 bytes'] + ['%s, BF.ADD' % label for label, _ in modules]
    tables = [day(modules[0][1], Strings(), keys)]
    tables += [day(path, Filters(), keys) for _, path in modules]
    print('%d keys\n\n| what | %s |' % (keys, ' | '.join(titles)))
    print('|---|' + '---|' * len(titles))
    for rows in zip(*tables):
        print('| %s |' % rows[0][0] + ''.join(
            ' %.2f |' % value if ', ' in rows[0][0] else ' %.0f |' % value for _, value in rows))


if __name__ == '__main__':
    main(sys.argv[1:])
