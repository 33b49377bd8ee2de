# SPDX-License-Identifier: MIT
"""A small DNS client: the tests send one query with it and read the answer."""
import random
import socket
import struct
from collections import namedtuple

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "TXT": 16, "AAAA": 28, "DS": 43, "RRSIG": 46,
         "HTTPS": 65, "ANY": 255, "OPT": 41}
NAMES = {number: name for name, number in TYPES.items()}
RCODES = {0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN", 5: "REFUSED"}
Record = namedtuple("Record", "owner type ttl data")


def labels(name):
    """Split a name into labels as bytes. A tuple of bytes is returned unchanged."""
    if isinstance(name, tuple):
        return name
    return tuple(label.encode() for label in name.split(".") if label)


def wire(name):
    return b"".join(bytes([len(label)]) + label for label in labels(name)) + b"\0"


def read_name(message, at):
    """Return the name and the offset behind it. Pointers must point backwards, so reading ends."""
    parts, end = [], None
    while message[at]:
        if message[at] >= 192:
            to = (message[at] & 63) << 8 | message[at + 1]
            end = at + 2 if end is None else end
            assert to < at, "a pointer forward"
            at = to
            continue
        parts.append(message[at + 1:at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    return ".".join(parts) or ".", at + 1 if end is None else end


def read_record(message, at):
    owner, at = read_name(message, at)
    number, _, ttl, bytes_ = struct.unpack_from(">HHIH", message, at)
    at += 10
    data = message[at:at + bytes_]
    kind = NAMES.get(number, number)
    if kind == "A":
        data = socket.inet_ntop(socket.AF_INET, data)
    elif kind == "AAAA":
        data = socket.inet_ntop(socket.AF_INET6, data)
    elif kind in ("CNAME", "NS"):
        data = read_name(message, at)[0]
    elif kind == "SOA":
        _, end = read_name(message, at)
        _, end = read_name(message, end)
        data = struct.unpack_from(">5I", message, end)
    return Record(owner, kind, ttl, data), at + bytes_


class Answer:
    def __init__(self, message):
        _, flags, questions, *counts = struct.unpack_from(">6H", message)
        self.rcode = RCODES.get(flags & 15, flags & 15)
        self.aa, self.ad = bool(flags & 0x400), bool(flags & 0x20)
        at = 12
        for _ in range(questions):
            at = read_name(message, at)[1] + 4
        self.sections = []
        for count in counts:
            section = []
            for _ in range(count):
                record, at = read_record(message, at)
                section.append(record)
            self.sections.append(section)
        self.answer, self.authority, additional = self.sections
        self.extended = None
        for record in additional:
            data = record.data if record.type == "OPT" else b""
            while data:
                code, bytes_ = struct.unpack_from(">HH", data)
                if code == 15:
                    self.extended = struct.unpack_from(">H", data, 4)[0]
                data = data[4 + bytes_:]

    def addresses(self):
        return [(record.type, record.data) for record in self.answer
                if record.type in ("A", "AAAA")]


def ask(port, name, kind="A", edns=True, do=False, patience=60):
    """Send the query again until an answer arrives, so that a lost datagram fails no test."""
    ident = random.randrange(65536)
    message = struct.pack(">6H", ident, 0x100, 1, 0, 0, int(edns)) + wire(name)
    message += struct.pack(">HH", TYPES[kind], 1)
    if edns:
        message += b"\0" + struct.pack(">HHIH", 41, 4096, 0x8000 if do else 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", port))
        s.settimeout(5)
        for _ in range(patience // 5):
            s.send(message)
            try:
                answer = s.recv(65536)
            except (TimeoutError, ConnectionRefusedError):
                continue
            if answer[:2] == message[:2]:
                return Answer(answer)
    raise AssertionError("no answer to %r within %d s" % (name, patience))
