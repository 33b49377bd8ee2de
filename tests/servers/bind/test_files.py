# SPDX-License-Identifier: MIT
"""Images that are damaged or missing, and invalid parameters."""
import os
import pwd
import re

import lists
from dns import ask
from lists import BLOCKED, build, expect, metric, rcode, server
from served import Named, wait_until


def test_damage():
    """If the image file is damaged, named continues to answer from the set in memory."""
    with server("damage") as s:
        image, whole = s.path("list.weir"), None
        with open(image, "rb") as file:
            whole = file.read()

        def still(what, sentence):
            wait_until(what, lambda: sentence in s.text())
            expect(rcode(s, "blocked.test"), "NXDOMAIN", what)
            expect(rcode(s, "innocent.test"), "NOERROR", what)

        def put(data):
            with open(image + ".new", "wb") as file:
                file.write(data)
            os.replace(image + ".new", image)

        put(b"no image")
        still("no image", "list.weir: not a weir image")
        put(whole[:-1] + bytes([whole[-1] ^ 1]))
        still("a wrong bit", "list.weir: the bits of shard 0 sum to")
        os.truncate(image, 100)
        still("truncated", "list.weir: ends at byte 100")
        os.unlink(image)
        still("removed", "no such file")
        build("cidr.weir", ["1.2.3.0/24"], "--cidr")
        os.replace("cidr.weir", image)
        still("addresses", "its keys are addresses (--cidr), not domains")
        build("fresh.weir", ["fresh.test"], "--allow-shrink")
        os.replace("fresh.weir", image)
        wait_until("a good one", lambda: rcode(s, "fresh.test") == "NXDOMAIN")
        with open(image, "r+b") as file:  # in place: cp
            file.write(whole)
            file.truncate()
        wait_until("its line", lambda: "rndc reconfig takes over this kind" in s.text())
        expect(rcode(s, "fresh.test"), "NXDOMAIN", "a kind that cannot follow")
        os.rename(image, "aside")
        s.reload("reconfig")
        expect(rcode(s, "fresh.test"), "NXDOMAIN", "a reload that finds none")
        os.rename("aside", image)
        s.reload("reconfig")
        expect((rcode(s, "blocked.test"), rcode(s, "fresh.test")), ("NXDOMAIN", "NOERROR"),
               "overwritten in place, and reconfigured")
        s.reload()
        os.unlink(image)
        s.reload("reconfig")
        expect(rcode(s, "blocked.test"), "NXDOMAIN", "a reload without the file")


def test_on_error():
    """What on-error does if the image has never existed: pass, servfail or fail."""
    with server("pass", 'statistics-file "s.prom"; statistics-interval 1; name "l";',
                image=None) as s:
        expect(rcode(s, "blocked.test"), "NOERROR", "pass")
        assert "until its images are there, nothing is blocked" in s.text(), s.text()
        wait_until("counted", lambda: metric(s, "weir_bind_not_ready_total", 'list="l"') == 1)
        build(s.path("list.weir"), BLOCKED)
        wait_until("the first image", lambda: rcode(s, "blocked.test") == "NXDOMAIN")
    with server("servfail", 'on-error servfail; allow-file "allow.weir";',
                options="recursion yes; dnssec-validation no; servfail-ttl 30;") as s:
        a = ask(s.port, "innocent.test")
        expect((a.rcode, a.extended), ("SERVFAIL", 14), "without the allow list")
        build(s.path("allow.weir"), ["good.test"])
        wait_until("both images", lambda: "allow.weir: a set of about" in s.text())
        expect(rcode(s, "innocent.test"), "NOERROR", "what failed before")
        expect(rcode(s, "blocked.test"), "NXDOMAIN", "ready")
    with server("lacks", wait=False) as s:
        s.configure('plugin query "@plugin" { file "list.weir"; allow-file "allow.weir";\n'
                    'on-error fail; };')
        assert not s.start(), "named runs without its allow list"
        assert re.search(r"named.conf:\d+: weir-blocklist: .*allow.weir", s.text()), s.text()
        status, text = s.check()
        assert status != 0 and "allow.weir: cannot open" in text, text
    with server("refused", image=None, wait=False) as s:
        s.configure('plugin query "@plugin" { file "list.weir"; on-error fail; };')
        assert not s.start(), "named runs without its image"
        assert re.search(r"named.conf:\d+: weir-blocklist: .*list.weir", s.text()), s.text()
    with server("kept", "on-error fail;") as s:
        s.configure('plugin query "@plugin" { file "other.weir"; on-error fail; };')
        s.reload(fails=True)
        expect(rcode(s, "blocked.test"), "NXDOMAIN", "the configuration it had")


def make_key(s, name):
    """Write a key. If the test runs as root, root owns it and the group of nobody can read it."""
    with open(s.path(name), "wb") as file:
        os.fchmod(file.fileno(), 0o640)
        file.write(os.urandom(16))
    if not os.getuid():
        os.chown(s.path(name), 0, pwd.getpwnam("nobody").pw_gid)


def test_keyed():
    """Each keyed image has its own key. A reload with another key loads the image of that key."""
    with server("keyed", keys=["other.test"]) as s:
        for name in ("block.key", "allow.key", "next.key"):
            make_key(s, name)

        def put(image, key, *names):
            build("made.weir", names, "-k", "layered", "--keyed-by", s.path(key))
            os.replace("made.weir", s.path(image))

        put("list.weir", "block.key", "blocked.test", "good.test")
        wait_until("refused without a key",
                   lambda: "list.weir: is keyed: give the key" in s.text())
        expect(rcode(s, "other.test"), "NXDOMAIN", "the set without a key")
        put("allow.weir", "allow.key", "good.test")
        text = ('plugin query "@plugin" { file "list.weir"; keyed-by "%s";'
                ' allow-file "allow.weir"; allow-keyed-by "allow.key"; };')
        s.configure(text % "block.key")
        s.reload("reconfig")
        wait_until("keyed", lambda: rcode(s, "blocked.test") == "NXDOMAIN")
        expect(rcode(s, "good.test"), "NOERROR", "allowed by the other key")
        expect(rcode(s, "other.test"), "NOERROR", "of the set before")
        put("list.weir", "block.key", "blocked.test", "fresh.test")
        wait_until("replaced", lambda: rcode(s, "fresh.test") == "NXDOMAIN")
        put("list.weir", "next.key", "next.test", "fresh.test")
        wait_until("another key", lambda: "list.weir: is keyed by another key" in s.text())
        expect(rcode(s, "blocked.test"), "NXDOMAIN", "the set of the key it has")
        s.configure(text % "next.key")
        s.reload("reconfig")
        wait_until("the next key", lambda: rcode(s, "next.test") == "NXDOMAIN")
        expect(rcode(s, "blocked.test"), "NOERROR", "of the key before")


def test_max_size():
    """An image above max-size is refused. A reload with a larger max-size loads the image."""
    with server("size", "max-size 1k;", keys=["large%d.test" % i for i in range(5000)]) as s:
        assert "max_bytes" in s.text(), s.text()
        expect(rcode(s, "large1.test"), "NOERROR", "1k")
        s.configure('plugin query "@plugin" { file "list.weir"; max-size 1m; };')
        s.reload("reconfig")
        expect(rcode(s, "large1.test"), "NXDOMAIN", "1m")
        s.configure('plugin query "@plugin" { file "list.weir"; max-size 2K; };')
        s.reload("reconfig")
        expect(rcode(s, "large1.test"), "NOERROR", "2K")


def test_another_branch():
    """named refuses a plugin that was built for another branch of BIND."""
    if not lists.other:
        print("another branch: no such plugin")
        return
    s = Named("branch", lists.other, wait=False)
    build("branch/list.weir", BLOCKED)
    s.configure('plugin query "@plugin" { file "list.weir"; };')
    assert not s.start(), "named runs with it"
    assert re.search(r"built for BIND 9\.17\.1, and this is 9\.1[89]\.\d+: build it again",
                     s.text()), s.text()


def test_apparmor():
    """Debian's AppArmor profile lets named use the folders that the plugin's README names."""
    profile = "/etc/apparmor.d/usr.sbin.named"
    if not os.path.exists(profile):
        print("apparmor: no profile here")
        return
    with open(profile, encoding="utf-8") as file:
        rules = [line.strip() for line in file]
    for rule in ("/etc/bind/** r,", "/var/lib/bind/** rw,", "/var/cache/bind/** lrw,",
                 "#include <abstractions/base>"):
        assert rule in rules, "%s lacks: %s" % (profile, rule)


WRONG = [
    ("", "'file' is missing"),
    ('file "";', "'file' is empty"),
    ('file "%s";' % ("x" * 5000), "at most 4095 are allowed"),
    ('file "l.weir"; colour red;', "unknown option 'colour'"),
    ('file "l.weir"; file "m.weir";', "'file' redefined"),
    ('file "l.weir" answer nodata;', "missing ';'"),
    ('file "l.weir"; answer drop;', "'drop' unexpected"),
    ('file "l.weir"; answer address;', "'answer address' needs 'ipv4-address'"),
    ('file "l.weir"; ipv4-address 192.0.2.1;', "an address needs 'answer address', the answer is "
     "'nxdomain'"),
    ('file "l.weir"; answer address; ipv4-address ::1;', "expected IPv4 address"),
    ('file "l.weir"; answer address; ipv6-address 1.2.3.4;', "expected IPv6 address"),
    ('file "l.weir"; ttl 86401;', "'ttl' is 86401 seconds, not 0 to 86400"),
    ('file "l.weir"; ttl soon;', "expected ISO 8601 duration or TTL value near 'soon'"),
    ('file "l.weir"; on-error panic;', "'panic' unexpected"),
    ('file "l.weir"; log perhaps;', "boolean expected near 'perhaps'"),
    ('file "l.weir"; max-size 12x;', "'max-size' is '12x', not a number of bytes"),
    ('file "l.weir"; max-size 0;', "'max-size' is '0'"),
    ('file "l.weir"; max-size 99999999999g;', "'max-size' is '99999999999g'"),
    ('file "l.weir"; name "a b";', "'name' is 'a b', not 1 to 64 letters"),
    ('file "l.weir"; name "%s";' % ("n" * 65), "not 1 to 64 letters"),
    ('file "l.weir"; statistics-interval 5;', "'statistics-interval' needs 'statistics-file'"),
    ('file "l.weir"; statistics-file "s"; statistics-interval 0;', "is 0 seconds, not 1 to 86400"),
    ('file "l.weir"; statistics-file "l.weir";', "'statistics-file' is an image"),
    ('file "l.weir"; on-error fail;', "cannot open"),
    ('file "l.weir"; keyed-by "none.key";', "'keyed-by': "),
    ('file "l.weir"; keyed-by "root.db";', "root.db: its mode is 0644"),
    ('file "l.weir"; allow-keyed-by "a.key";', "'allow-keyed-by' needs 'allow-file'"),
]


def test_parameters():
    """Each invalid parameter is refused with a message that names the file and line."""
    s = Named("wrong", lists.plugin, wait=False)
    for parameters, sentence in WRONG:
        s.configure('plugin query "@plugin" {\n%s\n};' % parameters)
        status, text = s.check()
        assert status != 0, "named-checkconf takes " + parameters
        assert sentence in text, "%s: %r, not %r" % (parameters, text, sentence)
        with open(s.path("named.conf"), encoding="utf-8") as file:
            line = file.read().split("plugin query")[0].count("\n") + 1
        # named's own parser reports the line at which the parameters begin.
        assert re.search("named.conf:(%d|%d): (weir-blocklist: .*)?" % (line, line + 1) +
                         re.escape(sentence), text), text
    build("wrong/list.weir", BLOCKED)
    s.configure('plugin query "@plugin" { file "list.weir"; allow-file "none.weir";\n'
                'on-error servfail; max-size 16m; ttl 1h; statistics-file "s"; };')
    status, text = s.check()
    expect(status, 0, text)
    assert "none.weir" in text, "no warning of a missing image: " + text
