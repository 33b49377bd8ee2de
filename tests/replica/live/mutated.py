# SPDX-License-Identifier: MIT
"""Answers of redis as nobody would give them by mistake alone: changed a little, of another type,
of lengths that no answer has, cut off, twice, byte by byte, with something pushed before them."""
import liar

ERRORS = [b"LOADING Redis is loading the dataset in memory", b"BUSY Redis is busy", b"READONLY x",
          b"MOVED 42 127.0.0.1:1", b"ASK 3 127.0.0.1:1", b"OOM command", b"WEIRSTALE x", b"",
          b"NOSCRIPT No matching", b"MASTERDOWN Link", b"NOAUTH Authentication", b"TRYAGAIN x",
          b"CLUSTERDOWN x", b"WRONGTYPE x", b"ERR unknown command", b"MISCONF x", b"WEIRBASE",
          b"WEIRLEASE a b c", b"WEIRCHUNK", b"WEIRFULL", b"NOREPLICAS", b"UNBLOCKED", b"NOPERM",
          b"E" * 300, b"\x00\xff\x1b[31m%s%n"]
NUMBERS = [0, -1, 1, 2 ** 31, -2 ** 31, 2 ** 32, 2 ** 63 - 1, -2 ** 63, 10 ** 15, 7]
RAW = [b"$2147483647\r\n", b"*2147483647\r\n", b"*4294967296\r\n", b"$-2\r\n", b"*-2\r\n",
       b"*-1\r\n", b":99999999999999999999\r\n", b"$9223372036854775807\r\n", b"~1\r\n+a\r\n",
       b"%1\r\n+a\r\n+b\r\n", b">2\r\n+message\r\n+b\r\n", b",1.5\r\n", b",nan\r\n",
       b"(123456789012345678901234567890\r\n", b"#t\r\n", b"_\r\n", b"=7\r\ntxt:abc\r\n",
       b"!5\r\nERR x\r\n", b"\r\n", b"\x00", b"HTTP/1.1 400 Bad\r\n\r\n", b"$0\r\n\r\n",
       b"*1\r\n" * 20 + b":1\r\n", b"*1\r\n" * 8 + b":1\r\n", b"|1\r\n+k\r\n+v\r\n:1\r\n",
       b"*0\r\n", b"*1073741824\r\n:1\r\n", b"$536870912\r\nx", b"*3\r\n$-1\r\n$-1\r\n$-1\r\n",
       b">3\r\n$10\r\ninvalidate\r\n*0\r\n:1\r\n"]
STRINGS = [b"", b"18446744073709551615", b"0-0", b"18446744073709551615-18446744073709551615",
           b"x" * 70000, b"1-1", b"-1", b"\0", b"9223372036854775807-1", b"2", b"0"]
PIECES = [b"0", b"9", b"\n", b"\0", b"18446744073709551616", b"-"]


def another(rng):
    """An answer that has nothing to do with the right one."""
    return rng.choice([
        lambda: None, lambda: rng.choice(NUMBERS), lambda: liar.Error(rng.choice(ERRORS)),
        lambda: liar.Raw(rng.choice(RAW)), lambda: rng.choice(STRINGS), lambda: [],
        lambda: [another(rng) for _ in range(rng.randrange(1, 6))],
        lambda: rng.choice(["OK", "QUEUED", "PONG", "none"])])()


def changed_list(rng, v):
    v, i, how = list(v), rng.randrange(len(v)), rng.randrange(6)
    if how == 0:
        del v[i]
    elif how == 1:
        v.insert(i, v[i])
    elif how == 2:
        rng.shuffle(v)
    elif how == 3:
        v *= 2
    else:
        v[i] = changed(rng, v[i])
    return v


def changed_bytes(rng, v):
    b = bytearray(v)
    for _ in range(rng.randrange(1, 4)):
        how, i = rng.randrange(3), rng.randrange(len(b) + 1)
        if how == 0 and i < len(b):
            b[i] = rng.randrange(256)
        elif how == 1:
            del b[i:i + rng.randrange(1, 20)]
        else:
            b[i:i] = rng.choice(PIECES)
    return type(v)(b) if isinstance(v, liar.Error) else bytes(b)


def changed(rng, v):
    if isinstance(v, list) and v and rng.random() < 0.75:
        return changed_list(rng, v)
    if isinstance(v, int) and rng.random() < 0.6:
        return rng.choice([v + 1, v - 1, -v, v * 2, *NUMBERS])
    if isinstance(v, bytes) and v and rng.random() < 0.6:
        return changed_bytes(rng, v)
    return another(rng)


def lie(rng, probability, said):
    """What stands in liar.lies. said: a list for what was said instead."""
    def of(args, answer, send):
        if rng.random() > probability:
            return answer
        right, how = liar.encode(answer), rng.randrange(12)
        if how < 7:
            out = changed(rng, answer)
        elif how == 7:
            send(right[:rng.randrange(len(right))])
            raise OSError # and the connection ends
        elif how == 8:
            out = liar.Raw(right * 2)
        elif how == 9:
            out = liar.Raw(b">2\r\n+message\r\n+b\r\n" + right)
        elif how == 10:
            for i in range(min(len(right), 400)):
                send(right[i:i + 1])
            out = liar.Raw(right[400:])
        else:
            out = another(rng)
        said.append(repr(out)[:100])
        return out
    return of
