#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays the commands that were recorded from RedisBloom 2.8.20 in Redis 7.0.15, and tells which
replies differ.

    replies.py MODULE.so [FILE...]          the files of recorded/, if none is named
    replies.py --compat MODULE.so [FILE...] loads the module with compat yes
    replies.py --record MODULE.so FILE...   writes the replies into the files

A reply may differ if recorded/differs lists its command, with the reason why RedisBloom's reply is
not wanted. A listed command whose reply no longer differs is an error too. At most MOST replies may
differ, in RESP2 and RESP3 together. A reason that begins with "compat:" is one that compat turns
off, so with compat the replies must be equal.

RedisBloom does not tell the arity of its commands (-1), nor which of them only read their key. weir
does, and test_commands.py compares what it tells. So here
- COMMAND INFO and COMMAND GETKEYSANDFLAGS are compared without arity, flags and categories;
- a command of wrong arity in MULTI may be refused at once, and EXEC then be aborted, as for Redis's
  own commands.

WEIR_REDIS_SERVER names another server than redis-server. On a later one than Redis 7.0, sentences
of the server that it words otherwise (REWORDED) are alike, and replies that recorded/differs-later
lists may differ too.

A file has, a line each:
    # ...            a remark
    case TITLE       begins a case: a server of its own for RESP2, and one for RESP3
    load WORD ...    arguments of loadmodule for this case
    conf NAME VALUE  a setting of redis-server for this case
    > COMMAND ...    a command; below it its reply, one line an element, depth first:
    2 LINE           in RESP2
    3 LINE           in RESP3
    = LINE           in both
    keep NAME I      keeps the value of line I (from 0) of the reply above
    reconnect        a new connection

A LINE is what Redis sends: +text  -error  :integer  *length  %pairs  ~members  _  #t  #f  ,double
and $"bytes" (with \\xNN, \\", \\\\, \\n, \\r, \\t; above 1,000 bytes $<N bytes>), $nil, *nil.
Behind it there may be a mark:
    ~size   depends on the layout in memory: of an integer, only whether it is 0 is compared,
            of a text everything but its numbers
    ~hash   depends on hashing: integers may differ by 2 or 5 %, #t and #f are alike,
            texts need the same length only
    ~dump   the module's own bytes or iterator: only whether it is empty or 0 is compared
A line ~size, ~hash or ~dump on its own, below a command, marks all of its reply when it is
recorded.

Arguments are words or "bytes" as above, or
    @rep(N,TEXT)          TEXT N times
    @seq(PREFIX,FROM,TO)  many arguments, PREFIX and a number each
    @var(NAME)            what was kept
    @cut(NAME,FROM,TO)    a part of it, as Python slices
    @flip(NAME,AT)        with the byte AT inverted
    @cat(NAME,TEXT)       with TEXT behind it
Before a command there may be
    @sort    the members of the reply sorted
    @tally   instead of members, how many there are of each: (N) LINE
    @info FIELD SECTION   one field of INFO, as +text
    @copy BF SRC DST      all of SRC by BF.SCANDUMP into DST by BF.LOADCHUNK: the last reply of
                          SCANDUMP behind +loaded, or the first LOADCHUNK that is not +OK
"""
import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MOST = 60
COMPAT = ['compat', 'yes']
PROGRAM = os.environ.get('WEIR_REDIS_SERVER', 'redis-server')
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recorded')
# (what a later server says, what Redis 7.0 says)
REWORDED = ((r'\$"User \S+ has no permissions', '$"This user has no permissions'),
            (r'-ERR Invalid (number of )?arguments specified for command',
             "-ERR wrong number of arguments for 'command|getkeys' command"))

TOKEN = re.compile(rb'"((?:\\.|[^"\\])*)"|(@[a-z]+\([^)]*\))|(\S+)')
ESCAPES = {b'n': b'\n', b'r': b'\r', b't': b'\t', b'\\': b'\\', b'"': b'"'}


def unescape(text):
    return re.sub(rb'\\(x[0-9a-fA-F]{2}|.)', lambda m: bytes([int(m[1][1:], 16)])
                  if len(m[1]) == 3 else ESCAPES.get(m[1], m[1]), text, flags=re.S)


def escape(data):
    out = []
    for b in data:
        c = chr(b)
        out.append({'"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t'}.get(c) or
                   (c if 32 <= b < 127 else '\\x%02x' % b))
    return ''.join(out)


class Connection:
    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(60)
        self.s.connect(path)
        self.f = self.s.makefile('rb')

    def send(self, args):
        self.s.sendall(b'*%d\r\n' % len(args) + b''.join(b'$%d\r\n%s\r\n' % (len(a), a)
                                                        for a in args))

    def read(self):
        """Return one reply: (line, value) depth first, a value for those without members."""
        line = self.f.readline()
        if not line:
            raise EOFError
        line = line[:-2]
        kind, rest = line[:1], line[1:]
        if kind in b'$=!' and rest != b'-1':
            data = self.f.read(int(rest) + 2)[:-2]
            return [(kind.decode() + ('"%s"' % escape(data) if len(data) <= 1000 else
                                      '<%d bytes>' % len(data)), data)]
        if line in (b'$-1', b'*-1'):
            return [(kind.decode() + 'nil', None)]
        if kind in b'*%~>' and kind:
            out = [(line.decode(), None)]
            for _ in range(int(rest) * (2 if kind == b'%' else 1)):
                out += self.read()
            return out
        return [(line.decode('latin1'), rest)]

    def call(self, *args):
        self.send(args)
        return self.read()

    def close(self):
        self.f.close()
        self.s.close()


class Server:
    def __init__(self, module, load, conf):
        self.dir = tempfile.mkdtemp(prefix='rb')
        self.path = os.path.join(self.dir, 's')
        words = [PROGRAM, '--port', '0', '--unixsocket', self.path, '--dir', self.dir,
                 '--save', '', '--enable-debug-command', 'yes', '--logfile', self.dir + '/log']
        for name, value in conf:
            words += ['--' + name, value]
        words += ['--loadmodule', os.path.abspath(module)] + load
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(500):
            if self.process.poll() is not None:
                break
            try:
                c = Connection(self.path)
            except OSError:
                time.sleep(0.01)
                continue
            if not c.call(b'PING')[0][0].startswith('-LOADING'):
                c.close()
                return
            c.close()
            time.sleep(0.01)
        self.stop()
        raise OSError('the server did not start')

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


# ---- files ----

class Command:
    def __init__(self, line):
        self.line, self.keep, self.mark = line, [], None
        self.reply = {2: [], 3: []}
        self.reconnect, self.remarks = False, []


class Case:
    def __init__(self, title):
        self.title, self.load, self.conf, self.commands, self.remarks = title, [], [], [], []


def read_file(name):
    cases, remarks = [], []
    for number, line in enumerate(open(name, encoding='latin1'), 1):
        line = line.rstrip('\n')
        word, _, rest = line.partition(' ')
        last = cases[-1].commands[-1] if cases and cases[-1].commands else None
        if not line:
            continue
        if word.startswith('#'):
            remarks.append(line)
        elif word == 'case':
            cases.append(Case(rest))
            cases[-1].remarks, remarks = remarks, []
        elif word == 'load':
            cases[-1].load += rest.split()
        elif word == 'conf':
            cases[-1].conf.append(rest.split(' ', 1))
        elif word == '>':
            cases[-1].commands.append(Command(rest))
            cases[-1].commands[-1].remarks, remarks = remarks, []
        elif word in ('2', '3', '='):
            for p in (2, 3):
                if word in ('=', str(p)):
                    last.reply[p].append(rest)
        elif word == 'keep':
            last.keep.append((rest.split()[0], int(rest.split()[1])))
        elif word == 'reconnect':
            last.reconnect = True
        elif word in ('~size', '~hash', '~dump'):
            last.mark = word
        else:
            sys.exit('%s:%d: %s' % (name, number, line))
    return cases


def write_file(name, cases):
    with open(name, 'w', encoding='latin1') as f:
        for i, case in enumerate(cases):
            if i:
                f.write('\n')
            for line in case.remarks:
                f.write(line + '\n')
            f.write('case ' + case.title + '\n')
            if case.load:
                f.write('load ' + ' '.join(case.load) + '\n')
            for pair in case.conf:
                f.write('conf ' + ' '.join(pair) + '\n')
            for c in case.commands:
                f.writelines(x + '\n' for x in c.remarks)
                f.write('> ' + c.line + '\n')
                if c.reply[2] == c.reply[3]:
                    f.writelines('= %s\n' % x for x in c.reply[2])
                else:
                    f.writelines('2 %s\n' % x for x in c.reply[2])
                    f.writelines('3 %s\n' % x for x in c.reply[3])
                f.writelines('keep %s %d\n' % k for k in c.keep)
                if c.reconnect:
                    f.write('reconnect\n')


# ---- commands ----

def function(text, kept):
    name, _, inside = text[1:-1].partition(b'(')
    parts = inside.split(b',')
    if name == b'rep':
        return [unescape(parts[1]) * int(parts[0])]
    if name == b'seq':
        return [parts[0] + b'%d' % i for i in range(int(parts[1]), int(parts[2]) + 1)]
    value = kept.get(parts[0].decode(), b'')
    if name == b'var':
        return [value]
    if name == b'cut':
        return [value[int(parts[1] or 0):int(parts[2]) if parts[2] else None]]
    if name == b'flip':
        value = bytearray(value)
        value[int(parts[1])] ^= 255
        return [bytes(value)]
    if name == b'cat':
        return [value + unescape(parts[1])]
    raise ValueError(text)


def arguments(line, kept):
    out = []
    for m in TOKEN.finditer(line.encode('latin1')):
        if m[1] is not None:
            out.append(unescape(m[1]))
        elif m[2]:
            out += function(m[2], kept)
        else:
            out.append(m[3])
    return out


def copy(connection, kind, source, target):
    at = b'0'
    for _ in range(100000):
        reply = connection.call(kind + b'.SCANDUMP', source, at)
        if len(reply) != 3 or reply[1][1] == b'0':
            return [('+loaded', None)] + reply
        at = reply[1][1]
        loaded = connection.call(kind + b'.LOADCHUNK', target, at, reply[2][1])
        if loaded[0][0] != '+OK':
            return loaded
    return [('-no end', None)]


def run(connection, args):
    if args[0] == b'@copy':
        return copy(connection, *args[1:])
    if args[0] == b'@info':
        text = connection.call(b'INFO', args[2])[0][1]
        m = re.search(rb'(?m)^' + re.escape(args[1]) + rb':(.*?)\r?$', text)
        return [('+' + (m[1].decode() if m else 'none'), None)]
    if args[0] not in (b'@sort', b'@tally'):
        return connection.call(*args)
    reply = connection.call(*args[1:])
    lines = [line for line, _ in reply[1:]]
    if reply[0][0][0] not in '*~':
        return reply
    if args[0] == b'@sort':
        return reply[:1] + [(line, None) for line in sorted(lines)]
    return [('(%d) %s' % (lines.count(line), line), None) for line in sorted(set(lines))]


SIZES = ('+Size', '$"Size"')
COUNTS = ('+Capacity', '+Number of filters', '+Number of items inserted',
          '+Number of items deleted')


def marked(args, lines, mark):
    """What is recorded of a reply: its lines, with marks."""
    out = []
    command = args[0].upper()
    if command in (b'BF.SCANDUMP', b'CF.SCANDUMP', b'DUMP') and not mark:
        mark = '~dump'
    if command == b'MEMORY' or (command == b'BF.INFO' and args[2:] and args[2].upper() == b'SIZE'):
        mark = '~size'
    for i, (line, value) in enumerate(lines):
        this = mark
        if i and lines[i - 1][0] in SIZES:
            this = '~size'
        elif mark == '~hash' and command[3:] == b'INFO' and i and \
                lines[0][0] in ('*10', '%5', '*16', '%8') and lines[i - 1][0] not in COUNTS:
            this = None
        if this == '~dump' and line[0] == '$' and value:
            line = '$<%d bytes>' % len(value)
        elif this == '~dump' and line in (':0', '$""', '$nil', '_'):
            this = None
        if this and line[0] in ':$#(,' and line not in ('$nil',):
            line += ' ' + this
        elif this and line[0] == '+' and re.search(r'\d', line):
            line += ' ' + this
        out.append(line)
    return out


def number(line):
    m = re.match(r'[:(](-?\d+)', line)
    return int(m[1]) if m else None


def alike(recorded, got):
    m = re.fullmatch(r'(.*) ~(size|hash|dump)', recorded, flags=re.S)
    if not m:
        return recorded == got
    line, mark = m[1], m[2]
    if not got or line[0] != got[0]:
        return False
    a, b = number(line), number(got)
    if mark == 'dump' or (mark == 'size' and a is not None and line[0] == ':'):
        return (line in (':0', '$""')) == (got in (':0', '$""'))
    if mark == 'size':
        return re.sub(r'-?\d+(\.\d+)?', 'N', line) == re.sub(r'-?\d+(\.\d+)?', 'N', got)
    if a is not None:
        return (abs(a - b) <= max(2, abs(a) // 20) and
                line.partition(' ')[2] == got.partition(' ')[2])
    return line[0] == '#' or len(line) == len(got)


def same(recorded, got):
    if recorded and recorded[0].startswith('(') and any(x.endswith(' ~hash') for x in recorded):
        few = lambda lines: {re.sub(r'^\(\d+\) | ~hash$', '', x): number(x) for x in lines}
        a, b = few(recorded), few(got)
        most = max(2, sum(v or 0 for v in a.values()) // 20)
        return all(abs((a.get(k) or 0) - (b.get(k) or 0)) <= most for k in set(a) | set(b))
    return len(recorded) == len(got) and all(map(alike, recorded, got))


# ---- cases ----

def play(module, case, protocol, done, load=()):
    """done(command, args, reply) of each; a reply of None: the server had gone."""
    kept = {}
    try:
        server = Server(module, [*case.load, *load], case.conf)
    except OSError:
        for c in case.commands:
            done(c, [b''], None)
        return
    try:
        connection = Connection(server.path)
        hello = lambda: connection.call(b'HELLO', b'%d' % protocol)
        hello()
        for c in case.commands:
            args = arguments(c.line, kept)
            try:
                reply = run(connection, args)
            except (EOFError, OSError):
                reply = None
            for name, index in c.keep:
                kept[name] = reply[index][1] or b'' if reply and index < len(reply) else b''
            done(c, args, reply)
            if c.reconnect:
                connection.close()
                connection = Connection(server.path)
                hello()
        connection.close()
    except (EOFError, OSError):
        pass
    finally:
        server.stop()


def short(lines):
    text = ' '.join(lines)
    return text if len(text) <= 300 else text[:300] + ' ...'


@functools.cache
def is_later():
    """Whether the server is a later one than Redis 7.0."""
    about = subprocess.run([PROGRAM, '--version'], check=True, text=True, capture_output=True)
    return 'v=7.0.' not in about.stdout


def read_differs(name):
    """The commands of recorded/NAME, as {(file, case, command): reason}."""
    differs, place, reason = {}, (), ''
    for line in open(os.path.join(FOLDER, name), encoding='latin1'):
        line = line.rstrip('\n')
        if line.startswith('case '):
            place = tuple(line[5:].split(': ', 1))
        elif line.startswith('> '):
            differs[place + (line[2:],)] = reason
        elif line:
            reason = line
    return differs


def untold(lines):
    """The lines but for the arity (the first number), the flags and the categories (+text), and how
    many there are of them."""
    number = next((i for i, x in enumerate(lines) if x.startswith(':')), None)
    return [x[0] if x[0] in '*~%' else x for i, x in enumerate(lines)
            if i != number and not x.startswith('+')]


def difference(c, reply, protocol):
    """None; or what was recorded, and what came."""
    got = [x for x, _ in reply] if reply else ['the server has gone']
    if is_later():
        for later, earlier in REWORDED:
            got = [re.sub('^' + later, lambda _: earlier, x) for x in got]
    wanted = c.reply[protocol]
    if any(x.endswith(' ~dump') for x in wanted):
        got = ['$<%d bytes>' % len(v) if x[0] == '$' and v else x
               for x, v in reply or [('the server has gone', None)]]
    if [x.upper() for x in c.line.split()[:2]] in (['COMMAND', 'INFO'],
                                                   ['COMMAND', 'GETKEYSANDFLAGS']):
        return None if untold(wanted) == untold(got) else (wanted, got)
    arity = '-ERR wrong number of arguments for '
    if wanted == ['+QUEUED'] and got[0].startswith(arity):
        return None
    if c.line == 'EXEC' and any(x.startswith(arity) for x in wanted) and \
            got[0].startswith('-EXECABORT'):
        return None
    return None if same(wanted, got) else (wanted, got)


def compare(module, base, case, protocol, allowed, load):
    """Plays a case: how many replies are equal, listed and wrong, which are listed, and a text of
    each wrong one.

    A case with a mark ~hash is played up to three times until no reply is wrong: each key has a
    seed of its own, and a false positive may change the reply of any command on such a key."""
    by_hash = any(x.endswith(' ~hash') for c in case.commands for x in c.reply[protocol])
    for _ in range(3 if by_hash else 1):
        counts, listed, wrong = {'equal': 0, 'listed': 0, 'wrong': 0}, set(), []

        def done(c, args, reply):
            differs = difference(c, reply, protocol)
            key = (base, case.title, c.line)
            counts['listed' if differs and key in allowed else
                   'wrong' if differs else 'equal'] += 1
            if differs and key in allowed:
                listed.add(key)
            elif differs:
                wrong.append('%s: %s: RESP%d: > %s\n    recorded %s\n    got      %s' % (
                    base, case.title, protocol, c.line[:200],
                    short(differs[0]), short(differs[1])))
        play(module, case, protocol, done, load)
        if not wrong:
            break
    return counts, listed, wrong


def check(module, names, load=()):
    whole = not names
    names = names or sorted(os.path.join(FOLDER, f) for f in os.listdir(FOLDER)
                            if f.endswith('.txt'))
    differs, seen = read_differs('differs'), set()
    if load:
        differs = {key: why for key, why in differs.items() if not why.startswith('compat:')}
    allowed = {**differs, **(read_differs('differs-later') if is_later() else {})}
    most = MOST + 2 * (len(allowed) - len(differs))
    count = {'equal': 0, 'listed': 0, 'wrong': 0}
    for name in names:
        base = os.path.basename(name)[:-4]
        for case in read_file(name):
            for protocol in (2, 3):
                counts, listed, wrong = compare(module, base, case, protocol, allowed, load)
                seen |= listed
                for word in count:
                    count[word] += counts[word]
                for line in wrong:
                    print(line)
    stale = [key for key in differs if whole and key not in seen]
    for key in stale:
        print('recorded/differs has a command whose reply is equal: %s: %s: > %s' % key)
    print('%(equal)d equal, %(listed)d differ as listed, %(wrong)d differ' % count)
    return 1 if count['wrong'] or stale or count['listed'] > most else 0


def mark_of(c):
    """The mark that was asked for when the reply was recorded."""
    marks = {(m[0], x[0]) for p in (2, 3) for x in c.reply[p]
             for m in [re.search('~(hash|size|dump)$', x)] if m}
    if any(m == '~hash' for m, _ in marks):
        return '~hash'
    if ('~size', '$') in marks:
        return '~size'
    return '~dump' if 'EVAL' in c.line and marks else None


def record(module, names):
    for name in names:
        cases = read_file(name)
        for case in cases:
            for c in case.commands:
                c.mark = c.mark or mark_of(c)
                c.reply = {2: [], 3: []}
            for protocol in (2, 3):
                def done(c, args, reply):
                    c.reply[protocol] = marked(args, reply, c.mark) if reply else \
                        ['the server has gone']
                play(module, case, protocol, done)
        write_file(name, cases)
    return 0


if __name__ == '__main__':
    words = sys.argv[1:]
    act = check
    if words[:1] == ['--record']:
        act, words = record, words[1:]
    elif words[:1] == ['--compat']:
        act, words = (lambda module, names: check(module, names, COMPAT)), words[1:]
    if not words or (act is record and len(words) < 2):
        sys.exit(__doc__)
    sys.exit(act(words[0], words[1:]))
