#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time, memory and false positives of a module's filters, beside native commands of Redis.

    redis.py [-n RUNS] [-k PATTERN] LABEL=MODULE.so ...

For example: redis.py weir=build/src/servers/redis/weir-redis.so RedisBloom=/path/to/redisbloom.so

-n: rounds (3). Each round measures every module in turn. -k: measure only the CPU times whose name
matches, and no memory.

Each measurement has a server of its own, with the module loaded for the native commands too. Its
CPU time is what INFO cpu says (user and sys), so the client's time does not count. A ratio is the
median of the rounds' ratios, with the least and the most in brackets."""
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BATCH = 1000


def encode(*args):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
    return b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(p), p) for p in parts)


class Server:
    def __init__(self, module, *options):
        self.dir = tempfile.mkdtemp(prefix='rb')
        self.words = [os.environ.get('WEIR_REDIS_SERVER', 'redis-server'), '--port', '0',
                      '--unixsocket', self.dir + '/s', '--dir', self.dir, '--save', '',
                      '--enable-debug-command', 'yes', *options,
                      '--loadmodule', os.path.abspath(module)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.s = socket.socket(socket.AF_UNIX)
                self.s.connect(self.dir + '/s')
                return
            except OSError:
                self.s.close()
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
        raise SystemExit('the server did not start')

    def stop(self):
        self.s.close()
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def lines(self, n):
        """n lines of replies, none of which may be an error."""
        data = b''
        while n > 0:
            got = self.s.recv(1 << 20)
            if not got:
                raise SystemExit('the server has gone')
            n -= got.count(b'\n')
            data += got
        if data.startswith(b'-') or b'\r\n-' in data.replace(b'\r\n-1\r', b''):
            at = re.search(rb'(?:^|\n)(-[^\r]*)', data)
            raise RuntimeError(at[1].decode())
        return data

    def send(self, commands, each=1):
        """Many commands, BATCH at a time; each answers so many lines."""
        batch, out = [], []
        for c in commands:
            batch.append(c)
            if len(batch) * each >= BATCH:
                self.s.sendall(b''.join(batch))
                out.append(self.lines(len(batch) * each))
                batch = []
        if batch:
            self.s.sendall(b''.join(batch))
            out.append(self.lines(len(batch) * each))
        return out

    def call(self, *args):
        return self.send([encode(*args)])[0]

    def info(self, section):
        self.s.sendall(encode('INFO', section))
        data = self.s.recv(64)
        size = int(data[1:data.index(b'\r')])
        while len(data) < size + data.index(b'\n') + 3:
            data += self.s.recv(1 << 16)
        return dict(line.split(':', 1) for line in data.decode().split('\r\n') if ':' in line)

    def cpu(self):
        i = self.info('cpu')
        return float(i['used_cpu_user']) + float(i['used_cpu_sys'])

    def memory(self):
        return int(self.info('memory')['used_memory'])

    def timed(self, commands, each=1):
        commands = list(commands)
        before = self.cpu()
        self.send(commands, each)
        return self.cpu() - before

    def field(self, key, kind, title):
        """One number of BF.INFO or CF.INFO."""
        self.s.sendall(encode(kind + '.INFO', key))
        data = self.lines(11 if kind == 'BF' else 17)
        return int(re.search(title.encode() + rb'\r\n:(\d+)', data)[1])


N, M = 100000, 1000000


def new_keys(server):
    return (encode('BF.ADD', 'key:%d' % i, 'x') for i in range(N))


def new_strings(server):
    return (encode('SETBIT', 'key:%d' % i, 1151, 1) for i in range(N))


def reserved_keys(server):
    return (encode('BF.RESERVE', 'key:%d' % i, '0.01', 1000) for i in range(N))


def reserved_strings(server):
    return (encode('SETBIT', 'key:%d' % i, 11999, 1) for i in range(N))


def saved(make):
    def measure(server):
        server.send(make(server))
        return [encode('SAVE')]
    return measure


def reloaded(make):
    def measure(server):
        server.send(make(server))
        return [encode('DEBUG', 'RELOAD')]
    return measure


def bf_one(server):
    server.call('BF.RESERVE', 'k', '0.01', M)
    return (encode('BF.ADD', 'k', 'item:%d' % i) for i in range(M))


def cf_one(server):
    server.call('CF.RESERVE', 'k', M)
    return (encode('CF.ADD', 'k', 'item:%d' % i) for i in range(M))


def sadd_one(server):
    return (encode('SADD', 'k', 'item:%d' % i) for i in range(M))


def grown(server):
    """A filter of 14 links; how many items it took."""
    n = 0
    while server.field('k', 'BF', 'Number of filters') < 14 if n else True:
        server.send(encode('BF.ADD', 'k', 'item:%d' % i) for i in range(n, n + 20000))
        n += 20000
    return n


def absent(command):
    return [encode(command, 'k', *('absent:%d' % i for i in range(j, j + 1000)))
            for j in range(0, 200000, 1000)]


def mexists(server):
    grown(server)
    return absent('BF.MEXISTS')


def smismember(server):
    server.send(encode('SADD', 'k', 'item:%d' % i) for i in range(820000))
    return absent('SMISMEMBER')


PAIRS = [
    ('100,000 new keys by BF.ADD', new_keys, 'SETBIT, 144 bytes', new_strings, 1),
    ('100,000 BF.RESERVE 0.01 1000', reserved_keys, 'SETBIT, 1,500 bytes', reserved_strings, 1),
    ('SAVE of 100,000 keys of BF.ADD', saved(new_keys), 'of 144-byte strings',
     saved(new_strings), 1),
    ('DEBUG RELOAD of 100,000 keys of BF.ADD', reloaded(new_keys), 'of 144-byte strings',
     reloaded(new_strings), 1),
    ('SAVE of 100,000 keys of BF.RESERVE 0.01 1000', saved(reserved_keys),
     'of 1,500-byte strings', saved(reserved_strings), 1),
    ('DEBUG RELOAD of 100,000 keys of BF.RESERVE 0.01 1000', reloaded(reserved_keys),
     'of 1,500-byte strings', reloaded(reserved_strings), 1),
    ('1,000,000 BF.ADD to one key reserved for them', bf_one, 'SADD', sadd_one, 1),
    ('200 BF.MEXISTS of 1,000 absent items, 14 links', mexists, 'SMISMEMBER', smismember, 1001),
    ('1,000,000 CF.ADD to one key reserved for them', cf_one, 'SADD', sadd_one, 1),
]


def ratios(module):
    out = []
    for _, ours, _, native, each in PAIRS:
        times = []
        for make in (ours, native):
            with Server(module) as server:
                times.append(server.timed(make(server), each))
        out.append(tuple(times))
    return out


def rate(server, key, kind, probes):
    hits = 0
    for j in range(0, probes, 1000):
        data = server.send([encode(kind + '.MEXISTS', key,
                                   *('other:%d' % i for i in range(j, j + 1000)))], 1001)[0]
        hits += data.count(b':1\r\n')
    return hits / probes


def key_bytes(module, make, keys):
    """The bytes that a key takes, and what MEMORY USAGE says of one."""
    with Server(module) as server:
        server.call('SET', 'warm', 'x')
        before = server.memory()
        server.send(make(server, keys))
        said = int(server.call('MEMORY', 'USAGE', 'k:1')[1:])
        return '%.0f (MEMORY USAGE: %d)' % ((server.memory() - before) / keys, said)


def memory(module):
    """(what, value as text) of sizes and rates."""
    out = []

    def add(what, value):
        out.append((what, value))

    add('bytes a key: default BF with one item', key_bytes(
        module, lambda s, n: (encode('BF.ADD', 'k:%d' % i, 'x') for i in range(n)), 10000))
    add('bytes a key: BF.RESERVE 0.01 1000', key_bytes(
        module, lambda s, n: (encode('BF.RESERVE', 'k:%d' % i, '0.01', 1000)
                              for i in range(n)), 10000))
    add('bytes a key: CF.RESERVE 1024, empty', key_bytes(
        module, lambda s, n: (encode('CF.RESERVE', 'k:%d' % i, 1024) for i in range(n)), 10000))
    for what, kind, n, reserve, items, fill in (
            ('default BF with 100 items', 'BF', 5000, None, 100, 'BF.MADD'),
            ('BF.RESERVE 0.01 1000 with 1,000 items', 'BF', 5000, ('BF.RESERVE', '0.01', 1000),
             1000, 'BF.MADD'),
            ('default CF with its 1,024 items', 'CF', 5000, None, 1024, 'CF.INSERT')):
        with Server(module) as server:
            server.call('SET', 'warm', 'x')
            before = server.memory()
            for k in range(n):
                if reserve:
                    server.call(reserve[0], 'k:%d' % k, *reserve[1:])
                words = (['ITEMS'] if fill == 'CF.INSERT' else []) + \
                    ['item:%d:%d' % (k, i) for i in range(items)]
                server.send([encode(fill, 'k:%d' % k, *words)], items + 1)
            add('bytes a key: ' + what, '%.0f' % ((server.memory() - before) / n))
            links = statistics.mean(server.field('k:%d' % k, kind, 'Number of filters')
                                    for k in range(n))
            add('links a key', '%.2f' % links)
            add('false positives', '%.4f %%' % (100 * statistics.mean(
                rate(server, 'k:%d' % k, kind, 2000) for k in range(n))))
    for what, kind, reserve in (
            ('BF.RESERVE 0.01 100, grown to 1,000,000 items', 'BF', ('BF.RESERVE', '0.01', 100)),
            ('BF.RESERVE 0.01 1000000 with 1,000,000 items', 'BF', ('BF.RESERVE', '0.01', M)),
            ('CF.RESERVE 1024 EXPANSION 2, grown to 1,000,000 items', 'CF',
             ('CF.RESERVE', 1024, 'EXPANSION', 2)),
            ('CF.RESERVE 1000000 with 1,000,000 items', 'CF', ('CF.RESERVE', M))):
        with Server(module) as server:
            server.call('SET', 'warm', 'x')
            before = server.memory()
            server.call(reserve[0], 'k', *reserve[1:])
            try:
                server.send(encode(kind + '.ADD', 'k', 'item:%d' % i) for i in range(M))
                note = ''
            except RuntimeError as e:
                note = ' (%s)' % e
            add('bytes: ' + what, '%d%s' % (server.memory() - before, note))
            add('links', '%d' % server.field('k', kind, 'Number of filters'))
            add('items inserted, as INFO says',
                '%d' % server.field('k', kind, 'Number of items inserted'))
            add('false positives', '%.4f %%' % (100 * rate(server, 'k', kind, 500000)))
    return out


def main(words):
    runs, chosen = 3, None
    if words[:1] == ['-n']:
        runs, words = int(words[1]), words[2:]
    if words[:1] == ['-k']:
        chosen, words = words[1], words[2:]
        PAIRS[:] = [p for p in PAIRS if re.search(chosen, p[0])]
    if not words:
        raise SystemExit(__doc__)
    modules = [w.partition('=')[::2] for w in words]
    seen = {label: [] for label, _ in modules}
    for r in range(runs):
        for label, path in modules:
            seen[label].append(ratios(path))
            print('run %d of %s' % (r + 1, label), file=sys.stderr, flush=True)
    print('## Server CPU\n')
    print('Seconds of the server\'s CPU, medians of %d rounds.\n' % runs)
    print('| what | against |' + ''.join(' %s s | native s | ratio (least-most) |' % label
                                          for label, _ in modules))
    print('|---|---|' + '---|---|---|' * len(modules))
    for i, (what, _, native, _, _) in enumerate(PAIRS):
        row = '| %s | %s |' % (what, native)
        for label, _ in modules:
            a = [r[i][0] for r in seen[label]]
            b = [r[i][1] for r in seen[label]]
            q = [x / y for x, y in zip(a, b)]
            row += ' %.3f | %.3f | %.2f (%.2f-%.2f) |' % (
                statistics.median(a), statistics.median(b), statistics.median(q), min(q), max(q))
        print(row)
    if chosen:
        return
    print('\n## Memory and false positives\n')
    tables = [memory(path) for _, path in modules]
    print('used_memory (INFO memory) over what was before; rates of items that were never added.\n')
    print('| what |' + ''.join(' %s |' % label for label, _ in modules))
    print('|---|' + '---|' * len(modules))
    for rows in zip(*tables):
        print('| %s |' % rows[0][0] + ''.join(' %s |' % value for _, value in rows))


if __name__ == '__main__':
    main(sys.argv[1:])
