# SPDX-License-Identifier: MIT
"""The answers that clients of named get with the plugin."""
import os
import signal
import subprocess
import time

import lists
from dns import ask
from lists import BLOCKED, build, expect, metric, rcode, server
from served import PATIENCE, Named, wait_until


def test_names():
    """Suffixes, case, escapes, the root and the longest names, in both forms of image."""
    longest = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 48, "blocked.test"])
    many = ".".join(["a"] * 120) + ".blocked.test"
    expect(len(longest) + 2, 255, "the longest name")
    blocked = ["blocked.test", "BLOCKED.Test", "www.blocked.test", "a.b.c.ads.EXAMPLE", longest,
               "deep.under.example", "www.deep.under.example", "xn--bcher-kva.test", many,
               (b"*", b"blocked", b"test"), (b"\0\xff", b"blocked", b"test"),
               "x" * 63 + ".long", "www." + "x" * 63 + ".long"]
    innocent = [".", "test", "example", "under.example", "notblocked.test", "blocked.test.example",
                "xblocked.test", (b"not.blocked", b"test"), (b"a.blocked.test",),
                (b"www.ads", b"example"), "b.dot.test", longest.replace("blocked", "innocen")]
    escaped = [(b"a.dot", b"test"), (b"www", b"A.dot", b"test"), (b"a blank", b"test"),
               (b"www", b"@", b"$;", b"test")]
    with server("names") as s:
        for name in blocked + escaped:
            expect(rcode(s, name), "NXDOMAIN", name)
        for name in innocent + ["dot.test", "a.dot.test"]:
            expect(rcode(s, name), "NOERROR", name)
        build("steps.weir", [k for k in BLOCKED if "\\" not in k] + ["*.star.test"],
              "-k", "layered", "--lowercase", "--suffixes")
        os.replace("steps.weir", s.path("list.weir"))
        wait_until("the set with steps", lambda: rcode(s, "star.test") == "NXDOMAIN")
        for name in blocked:
            expect(rcode(s, name), "NXDOMAIN", ("steps", name))
        for name in innocent:
            expect(rcode(s, name), "NOERROR", ("steps", name))
        exact = ["www%d.host%d.fine.example" % (i, i % 50) for i in range(200)]
        with open("exact", "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in exact)
        build("exact.weir", ["blocked.test", "a.b.c.d.test", "odd"], "-k", "layered",
              "--suffixes", "-p", "50%", "--exclude", "exact")
        os.replace("exact.weir", s.path("list.weir"))
        wait_until("the set with exact innocents", lambda: rcode(s, "odd") == "NXDOMAIN")
        for name in exact:
            expect(rcode(s, name), "NOERROR", ("exact", name))


def test_nxdomain():
    """The sections of an NXDOMAIN answer for each query type, and the line in the log."""
    with server("nxdomain", "ttl 7; name \"bad\";", keys=BLOCKED + ["deep.ads.example"]) as s:
        for kind in ("A", "AAAA", "TXT", "ANY", "DS", "SOA", "NS", "HTTPS"):
            a = ask(s.port, "www.Ads.example", kind)
            expect((a.rcode, a.answer, a.aa, a.ad), ("NXDOMAIN", [], False, False), kind)
            soa, = a.authority
            expect((soa.owner, soa.type, soa.ttl, soa.data),
                   ("Ads.example", "SOA", 7, (1, 3600, 600, 86400, 7)), kind)
            expect(a.extended, 15, "the extended error of " + kind)
        expect(ask(s.port, "www.deep.ads.example").authority[0].owner, "deep.ads.example",
               "the longest suffix")
        expect(ask(s.port, "ads.example", "SOA").rcode, "NXDOMAIN", "the name itself")
        a = ask(s.port, "ads.example", edns=False)
        expect((a.rcode, a.extended), ("NXDOMAIN", None), "without EDNS")
        wait_until("the line in the log", lambda: "weir-blocklist bad: www.Ads.example/TXT is "
                   "answered with nxdomain: it has Ads.example" in s.text())


def test_refused():
    """A client that the view refuses does not learn which names are blocked."""
    with server("refuses", options="recursion no; allow-query { none; };") as s:
        for name in ("blocked.test", "innocent.test"):
            expect((rcode(s, name), ask(s.port, name).authority), ("REFUSED", []), name)


def test_answers():
    """The answers NODATA and fixed addresses, for each query type."""
    with server("nodata", "answer nodata; log no;") as s:
        for kind in ("A", "ANY", "DS"):
            a = ask(s.port, "www.blocked.test", kind)
            expect((a.rcode, a.answer, a.authority[0].owner, a.extended),
                   ("NOERROR", [], "blocked.test", 15), kind)
        assert "is answered" not in s.text(), "a line in the log"
        four, six = ("A", "192.0.2.66"), ("AAAA", "2001:db8::66")
        s.configure('plugin query "@plugin" { file "list.weir"; answer address; ttl 5m;\n'
                    '    statistics-file "s.prom"; statistics-interval 1; name "l";\n'
                    '    ipv4-address 192.0.2.66; ipv6-address 2001:db8::66; };')
        s.reload()
        for kind, want in (("A", [four]), ("AAAA", [six]), ("ANY", [four, six])):
            a = ask(s.port, "www.blocked.test", kind)
            expect((a.rcode, a.addresses(), a.authority, a.extended, a.aa),
                   ("NOERROR", want, [], 15, False), kind)
            expect((a.answer[0].owner, a.answer[0].ttl), ("www.blocked.test", 300), kind)
        for kind in ("TXT", "HTTPS", "DS"):
            a = ask(s.port, "www.blocked.test", kind)
            expect((a.rcode, a.answer, a.authority[0].type), ("NOERROR", [], "SOA"), kind)
        for answer, n in (("address", 3), ("nodata", 3), ("nxdomain", 0)):
            wait_until("counted as " + answer, lambda: metric(
                s, "weir_bind_blocked_total", 'list="l",answer="%s"' % answer) == n)
        s.configure('plugin query "@plugin" { file "list.weir"; answer address;\n'
                    '    ipv6-address 2001:db8::66; };')
        s.reload()
        expect(ask(s.port, "blocked.test", "A").answer, [], "no IPv4 address")
        expect(ask(s.port, "blocked.test", "AAAA").addresses(), [six], "IPv6 alone")


def test_allow_and_chains():
    """An allowed name overrides the block list, also for all names of its CNAME chain."""
    os.makedirs("allow")
    build("allow/allow.weir", ["good.blocked.test", "far.example"])
    with server("allow", 'allow-file "allow.weir"; statistics-file "s.prom"; name "l";') as s:
        expect(rcode(s, "blocked.test"), "NXDOMAIN", "beside the allowed one")
        expect(rcode(s, "good.blocked.test"), "NOERROR", "allowed")
        expect(rcode(s, "www.good.blocked.test"), "NOERROR", "below the allowed one")
        a = ask(s.port, "alias.example")
        expect((a.rcode, [(r.owner, r.type) for r in a.answer], a.authority[0].owner, a.extended),
               ("NXDOMAIN", [("alias.example", "CNAME")], "blocked.test", 15), "a chain")
        a = ask(s.port, "far.example")
        expect((a.rcode, [r.type for r in a.answer]), ("NOERROR", ["CNAME", "CNAME", "A"]),
               "a chain from an allowed name")
        expect(rcode(s, "near.example"), "NXDOMAIN", "the same chain from its middle")
        expect(rcode(s, "harmless.example"), "NOERROR", "a chain to nothing blocked")
        expect(rcode(s, "alias.example", "CNAME"), "NOERROR", "the alias itself")
    expect(metric(s, "weir_bind_allowed_total", 'list="l"'), 3.0, "allowed")
    for part, n in (("block", len(BLOCKED)), ("allow", 2)):
        expect(round(metric(s, "weir_keys", 'list="l",set="%s"' % part)), n, part)


def test_resolver():
    """In a validating resolver, an answer for a blocked name never has the AD bit."""
    os.makedirs("zone")
    with open("zone/signed", "w", encoding="utf-8") as file:
        file.write("$TTL 300\n@ SOA ns.signed. h.signed. 1 3600 600 86400 300\n@ NS ns.signed.\n"
                   "ns A 127.0.0.1\nwww A 192.0.2.7\nad CNAME www.blocked.test.\n"
                   "blocked A 192.0.2.8\n")
    run = dict(cwd="zone", check=True, timeout=PATIENCE, stdout=subprocess.PIPE,
               stderr=subprocess.DEVNULL, text=True)
    key = subprocess.run(["dnssec-keygen", "-q", "-a", "ECDSAP256SHA256", "-f", "KSK", "signed"],
                         **run).stdout.strip()
    subprocess.run(["dnssec-signzone", "-q", "-S", "-z", "-o", "signed", "signed"], **run)
    with open("zone/%s.key" % key, encoding="utf-8") as file:
        public = file.read().split("DNSKEY")[-1].split()
    with Named("authority", lists.plugin, zones='zone "." { type primary; file "root.db"; }; zone '
               '"signed" { type primary; file "%s"; };' % os.path.abspath("zone/signed.signed")
               ) as authority:
        options = ("recursion yes; allow-recursion { any; }; forward only; forwarders port %d "
                   "{ 127.0.0.1; }; dnssec-validation yes; validate-except { \"test\"; \"example\""
                   "; \"long\"; }; empty-zones-enable no; qname-minimization off;"
                   % authority.port)
        anchor = 'trust-anchors { signed static-key %s %s %s "%s"; };' % (
            *public[:3], "".join(public[3:]))
        with server("resolver", image="list.weir", options=options, zones=anchor,
                    keys=BLOCKED + ["blocked.signed"]) as s:
            a = ask(s.port, "www.signed", do=True)
            expect((a.rcode, a.ad, "RRSIG" in [r.type for r in a.answer]), ("NOERROR", True, True),
                   "a signed name")
            a = ask(s.port, "blocked.signed", do=True)
            expect((a.rcode, a.ad, a.extended, [r.type for r in a.authority]),
                   ("NXDOMAIN", False, 15, ["SOA"]), "a blocked one")
            for _ in range(2):  # from afar, then from the cache
                a = ask(s.port, "ad.signed", do=True)
                expect((a.rcode, a.ad, a.answer[0].type, a.authority[0].owner),
                       ("NXDOMAIN", False, "CNAME", "blocked.test"), "a signed alias")
                expect(rcode(s, "alias.example"), "NXDOMAIN", "an alias")
                expect(rcode(s, "innocent.test"), "NOERROR", "innocent")


def test_stale():
    """A stale answer, given while named still resolves the query, is counted once."""
    with Named("afar", lists.plugin) as authority:
        options = ("recursion yes; allow-recursion { any; }; forward only; forwarders port %d "
                   "{ 127.0.0.1; }; dnssec-validation no; empty-zones-enable no; "
                   "qname-minimization off; max-cache-ttl 1; stale-cache-enable yes; "
                   "stale-answer-enable yes; stale-answer-client-timeout 100; "
                   "stale-refresh-time 0;" % authority.port)
        with server("stale", 'statistics-file "s.prom"; name "l";', options=options,
                    zones="") as s:
            expect(rcode(s, "innocent.test"), "NOERROR", "from afar")
            time.sleep(2.1)
            authority.process.send_signal(signal.SIGSTOP)
            os.waitpid(authority.process.pid, os.WUNTRACED)
            a = ask(s.port, "innocent.test")
            authority.process.send_signal(signal.SIGCONT)
            expect((a.rcode, a.addresses(), a.extended), ("NOERROR", [("A", "192.0.2.1")], 3),
                   "a stale answer")
    expect(metric(s, "weir_bind_queries_total", 'list="l"'), 2.0, "counted once each")
