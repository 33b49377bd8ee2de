# SPDX-License-Identifier: MIT
"""Reloads of the configuration, swaps of the image, and the statistics file."""
import os
import re
import shutil
import subprocess
import time

import lists
from lists import BLOCKED, build, expect, metric, rcode, server
from served import PATIENCE, Named, wait_until


def test_reloads():
    """A reload keeps the counters, does not read the set again, and leaks no resources."""
    many = ["many%d.test" % i for i in range(400000)]
    os.makedirs("reloads")
    build("reloads/allow.weir", ["good.test"])
    with server("reloads", 'allow-file "allow.weir"; statistics-file "s.prom";\n'
                'statistics-interval 1; name "l";',
                keys=BLOCKED + many) as s:
        def settled():
            return (s.threads("weir-follow"), s.threads("weir-statistics"),
                    len(os.listdir("/proc/%d/fd" % s.process.pid)))
        for _ in range(3):
            rcode(s, "blocked.test")
        for _ in range(10):  # named's own memory settles
            s.reload()
        before, rss = settled(), s.status("VmRSS")
        for i in range(20):
            s.reload("SIGHUP" if i % 2 else "reconfig")
            expect(rcode(s, "blocked.test"), "NXDOMAIN", "reload %d" % i)
        wait_until("threads and descriptors as before", lambda: settled() == before)
        expect(before[:2], (2, 1), "threads")
        wait_until("all queries counted", lambda: metric(
            s, "weir_bind_blocked_total", 'list="l",answer="nxdomain"') == 23)
        expect(metric(s, "weir_swaps_total", 'list="l",set="block"'), 1.0, "images read")
        s.configure('plugin query "@plugin" { file "other.weir"; statistics-file "s.prom";\n'
                    'statistics-interval 1; name "l"; };')
        build(s.path("other.weir"), ["other.test", *many])
        s.reload()
        expect(rcode(s, "other.test"), "NXDOMAIN", "another file")
        expect(rcode(s, "blocked.test"), "NOERROR", "another file")
        wait_until("counted on", lambda: metric(
            s, "weir_bind_queries_total", 'list="l"') == 25)
        for i in range(20):  # a set of 2 MiB comes and goes
            s.configure('plugin query "@plugin" { file "%s.weir"; };' % ("list", "other")[i % 2])
            s.reload()
        assert s.status("VmRSS") < rss + 16384, "%d KiB, then %d" % (rss, s.status("VmRSS"))
        s.configure("")
        s.reload()
        expect(rcode(s, "other.test"), "NOERROR", "without the plugin")
        wait_until("its threads are gone", lambda: settled()[:2] == (0, 0))
    assert not os.path.exists(s.path("s.prom.tmp")), "a file beside the statistics"


def test_statistics():
    """The statistics file is always complete, views share a set, and write errors are logged."""
    os.makedirs("statistics")
    build("statistics/list.weir", BLOCKED)
    build("statistics/two.weir", ["two.test"])
    two = "".join('plugin query "@plugin" { file "%s"; statistics-file "s.prom";\n'
                    'statistics-interval 1; name "%s"; answer %s; };\n' % what for what in (
                        ("list.weir", "one", "nxdomain"), ("two.weir", "two", "nodata"),
                        ("list.weir", "one", "nodata")))
    with open("statistics/s.prom.tmp", "w", encoding="utf-8"):
        pass  # of a named that was killed
    with Named("statistics", lists.plugin, two) as s:
        expect((rcode(s, "blocked.test"), rcode(s, "two.test")), ("NXDOMAIN", "NOERROR"), "lists")
        wait_until("both", lambda: metric(s, "weir_bind_blocked_total",
                                          'list="two",answer="nodata"') == 1)
        expect(metric(s, "weir_swaps_total", 'list="one",set="block"'), 1.0, "swaps")
        expect(s.threads("weir-follow"), 2, "threads for two files and three lists")
        expect(metric(s, "weir_bind_queries_total", 'list="two"'), 1.0, "what one left")
        with open(s.path("s.prom"), encoding="utf-8") as file:
            text = file.read()
            rcode(s, "two.test")
            wait_until("written again", lambda: metric(s, "weir_bind_queries_total",
                                                       'list="two"') == 2)
            file.seek(0)
            expect(file.read(), text, "the file that was opened before")
        heads = re.findall(r"^# TYPE (\S+)", text, re.M)
        expect(len(heads), len(set(heads)), "metrics that begin twice")
        lines = re.findall(r"^\w+\{.*\}", text, re.M)
        expect(len(lines), len(set(lines)), "lines of a name that two lists have")
        assert text.endswith("\n"), "no whole line at the end"
        for line in text.splitlines():
            assert re.match(r'# (HELP|TYPE) \w+ .|\w+\{\w+="[^"]*"(,\w+="[^"]*")*\} \S+$',
                            line), line
        expect(os.stat(s.path("s.prom")).st_mode & 0o777, 0o644, "who may read it")
        os.unlink(s.path("s.prom"))
        os.mkdir(s.path("s.prom"))
        wait_until("its line", lambda: "s.prom: the statistics cannot be written: Is a dir"
                   in s.text())
        # The temporary file exists only for a moment, so at least one of five checks misses it.
        assert not all(os.path.exists(s.path("s.prom.tmp")) and time.sleep(0.1) is None
                       for _ in range(5)), "a file beside the statistics"
        os.rmdir(s.path("s.prom"))
        wait_until("the next line", lambda: "s.prom: the statistics are written again" in s.text())
        expect(s.text().count("cannot be written"), 1, "lines for one fault")


def test_interval():
    """If a reload keeps the statistics file, the file is written at the new interval."""
    with server("interval", 'statistics-file "s.prom"; statistics-interval 1h; name "l";') as s:
        s.configure('plugin query "@plugin" { file "list.weir"; statistics-file "s.prom";\n'
                    'statistics-interval 1; name "l"; };')
        s.reload()
        for n in range(1, 4):
            rcode(s, "blocked.test")
            begun = time.monotonic()
            wait_until("counted", lambda: metric(s, "weir_bind_queries_total", 'list="l"') == n)
        assert time.monotonic() - begun < 8, "not written each second"


def dnsperf(s, queries, passes, rate):
    """Start dnsperf with @passes over the queries. Its output has lost queries and answer codes."""
    return subprocess.Popen(
        ["dnsperf", "-s", "127.0.0.1", "-p", str(s.port), "-d", queries, "-n", str(passes),
         "-Q", str(rate), "-q", "100", "-t", "30"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)


def test_swaps():
    """No query is lost or answered wrongly during swaps and reloads under load."""
    if not shutil.which("dnsperf"):
        print("swaps: without dnsperf")
        return
    innocent = ["innocent%d.test" % i for i in range(1000)]
    blocked = ["blocked%d.ads.example" % i for i in range(1000)]
    with open("queries", "w", encoding="utf-8") as file:
        for pair in zip(innocent, blocked):
            file.writelines(name + " A\n" for name in pair)
    with open("excluded", "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in innocent + ["test", "example"])

    def swap(s, i):
        build(s.path("list.weir"), BLOCKED + ["more%d.test" % j for j in range(1000 + i)],
              "-k", "layered", "--exclude=excluded")
    with server("swaps", 'log no; statistics-file "s.prom"; statistics-interval 1; name "l";',
                image=None) as s:
        swap(s, 0)
        wait_until("the first", lambda: rcode(s, "ads.example") == "NXDOMAIN")
        load, passes, begun = None, 20, time.monotonic()
        load = dnsperf(s, "queries", passes, 5000)
        try:
            for i in range(1, 21):
                swap(s, i)
                new = "more%d.test" % (999 + i)
                wait_until("swap %d" % i, lambda: rcode(s, new) == "NXDOMAIN")
                if i % 5 == 0:
                    s.reload("SIGHUP" if i % 2 else "reconfig")
            running = load.poll() is None
            text = load.communicate(timeout=PATIENCE)[0]
        finally:
            load.kill()
        print("swaps: 20 and 4 reloads, load %s to the end" % ("ran" if running else "did not run"))
        assert re.search(r"Queries lost: +0 ", text), text
        # The number of log lines is limited, however often the file is replaced.
        most = 10 + (time.monotonic() - begun) / 5 + 1
        assert 10 <= s.text().count("a set of about") <= most, s.text()
        codes = dict(re.findall(r"(NOERROR|NXDOMAIN|SERVFAIL|REFUSED) (\d+)", text))
        expect(codes, {"NOERROR": str(1000 * passes), "NXDOMAIN": str(1000 * passes)}, text)
    expect(metric(s, "weir_bind_blocked_total", 'list="l",answer="nxdomain"'),
           1000.0 * passes + 21, "counted by the threads")
