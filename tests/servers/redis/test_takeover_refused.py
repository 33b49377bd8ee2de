# SPDX-License-Identifier: MIT
"""Values, headers and chunks in RedisBloom's formats that are refused, mostly because RedisBloom
refuses them too. It runs as test_takeover_refused.py MODULE."""
import math
import struct
import sys
import unittest

import redis

from formats import UNSIGNED, Value, old_values, raw_bf, raw_link
from hostile import crc64
from redisbloom_keys import KEYS
from served import Case


class Refused(Case):
    def test_other_versions_are_refused(self):
        """The digit of the version is at the end of the module's identifier."""
        client = self.serve().client
        for key in KEYS:
            for version in (0, 5 if key.kind == "BF" else 2, 63):
                damaged = bytearray(key.dump[:-8])
                damaged[9] = damaged[9] & 0xC0 | version
                self.refused(client.restore, "k", 0, bytes(damaged) + crc64(damaged),
                             text="Bad data format")

    def test_a_file_has_no_option_of_ours(self):
        """REDISBLOOM_SERVER_HASH, 16, is only in headers of this module."""
        client = self.serve(options=["--rdbcompression", "no"]).client
        client.execute_command("BF.LOADCHUNK", "k", 1, raw_bf(raw_link(10, 0.01)))
        value = Value.of(old_values(client.dump("k"), raw_bf(raw_link(10, 0.01)), [bytes(16)])[0])
        for options in (5, 5 | 16):
            value.fields[2] = (UNSIGNED, options)
            if options == 5:
                client.restore("l", 0, value.payload())
            else:
                self.refused(client.restore, "m", 0, value.payload(), text="Bad data format")

    def test_headers_that_redisbloom_refuses_are_refused(self):
        """A change of a good header: offset, format and value of a field."""
        client = self.serve().client
        bloom = struct.pack("<Q3I3Q2dIQB", 0, 1, 13, 2, 512, 4096, 0, 0.2,
                            -math.log(0.2) / 0.480453013918201, 3, 1000, 0)
        cuckoo = struct.pack("<4Q3H", 5, 64, 0, 1, 2, 20, 1)
        good = (("BF", bloom, ((0, "B", 0), (72, "B", 11), (8, "I", 1))), # 2^11 of the bits
                ("CF", cuckoo, ((36, "H", 0), (0, "Q", 1 << 60))))
        bad = (("BF", bloom, ((0, "Q", 5), (8, "I", 0), (8, "I", 2), (12, "I", 45),
                              (28, "Q", 4095), (28, "Q", 0), (44, "d", 0.0), (44, "d", 1.0),
                              (44, "d", math.nan), (60, "I", 4), (60, "I", 0), (64, "Q", 0),
                              (72, "B", 13), (72, "B", 200), (36, "Q", 1 << 60))),
               ("CF", cuckoo, ((8, "Q", 63), (8, "Q", 0), (24, "Q", 0), (32, "H", 0),
                               (32, "H", 256), (34, "H", 0), (36, "H", 3), (24, "Q", 65536),
                               (24, "Q", 65537), (16, "Q", 1 << 63))))
        for cases, refused in ((good, False), (bad, True)):
            for kind, header, changes in cases:
                for at, form, value in changes:
                    changed = bytearray(header)
                    struct.pack_into("<" + form, changed, at, value)
                    command = (kind + ".LOADCHUNK", "k", 1, bytes(changed))
                    if refused:
                        with self.assertRaises(redis.exceptions.ResponseError, msg=(at, value)):
                            client.execute_command(*command)
                    else:
                        self.assertTrue(client.execute_command(*command))
                    client.delete("k")
        for kind, header, text in (("BF", bloom, "bad data"), ("CF", cuckoo, "Invalid header")):
            for damaged in (header[:-1], header + b"\0", header[:16], b""):
                self.refused(client.execute_command, kind + ".LOADCHUNK", "k", 1, damaged,
                             text=text)

    def test_chunks_that_do_not_fit_are_refused(self):
        client = self.serve().client
        for kind, header, size in (("BF", KEYS[0].chunks[0][1], 16),
                                   ("CF", struct.pack("<4Q3H", 5, 64, 0, 1, 2, 20, 1), 128)):
            client.execute_command(kind + ".LOADCHUNK", kind, 1, header)
            before = client.dump(kind)
            for at, length, text in (
                    (size + 2, size + 1, "Too big"), (size + 8, 10, "Too big"),
                    (size + 20, 1, "invalid offset"), (5, 8, "bad data"),
                    (-3, 4, "invalid offset"), ((1 << 63) - 1, 100, "invalid offset")):
                self.refused(client.execute_command, kind + ".LOADCHUNK", kind, at, b"x" * length,
                             text=text if kind == "BF" else "Couldn't load chunk!")
            self.assertEqual(client.dump(kind), before)
            self.assertTrue(client.execute_command(kind + ".LOADCHUNK", kind, 2, b"x"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0, warnings="ignore")
