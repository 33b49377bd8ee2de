# SPDX-License-Identifier: MIT
"""Run named for the tests, as an ordinary user, on loopback addresses and free ports."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

PATIENCE = 60
NAMED = shutil.which("named", path="/usr/sbin:/usr/local/sbin")
# If a test takes too long, SIGTERM ends the test and the programs that the test started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
APPARMOR = "/sys/module/apparmor/parameters/enabled"
ROOT_ZONE = """$TTL 300
@ SOA ns. hostmaster. 1 3600 600 86400 300
@ NS ns.
ns. A 127.0.0.1
*. A 192.0.2.1
*. TXT "there"
*.example. A 192.0.2.1
alias.example. CNAME www.blocked.test.
far.example. CNAME near.example.
near.example. CNAME www.blocked.test.
harmless.example. CNAME www.innocent.test.
"""


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.02)


def free_port():
    """Find a port that is free for UDP and TCP. Another process may take it before named."""
    while True:
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                continue
            return tcp.getsockname()[1]


def ordinary_user():
    """Return the Popen arguments that run a program as user nobody if the test runs as root."""
    if os.getuid():
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def own_named(folder):
    """Choose the named to run. Debian's AppArmor profile keeps /usr/sbin/named out of the tests'
    folders. If AppArmor may be active, the tests run a copy, to which no profile applies."""
    global NAMED
    if NAMED and os.path.exists(APPARMOR):
        NAMED = shutil.copy(NAMED, folder)


def open_to_all(folder):
    for path, _, files in os.walk(folder):
        os.chmod(path, 0o777)
        for name in files:
            os.chmod(os.path.join(path, name), 0o644)


class Named:
    """A named in its own folder below the current one. @text: text for named.conf, in which @plugin
    is replaced by the plugin's path."""

    def __init__(self, name, plugin, text=None, options="", zones=None, wait=True):
        self.folder = os.path.abspath(name)
        os.makedirs(self.folder, exist_ok=True)
        self.plugin, self.process, self.log = plugin, None, None
        self.write("root.db", ROOT_ZONE)
        self.options = options
        self.zones = 'zone "." { type primary; file "root.db"; };' if zones is None else zones
        for attempt in range(5):
            self.port, self.control = free_port(), free_port()
            self.configure(text or "")
            if not wait or self.start():
                return
        raise AssertionError("named does not start: " + self.text())

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def configure(self, text):
        with open(self.path("new.conf"), "w", encoding="utf-8") as file:
            file.write("""key k { algorithm hmac-sha256; secret "c2VjcmV0"; };
controls { inet 127.0.0.1 port %d allow { 127.0.0.1; } keys { k; }; };
options { directory "%s"; pid-file none; session-keyfile none; listen-on-v6 { none; };
	listen-on port %d { 127.0.0.1; }; managed-keys-directory "%s"; %s };
%s
%s
""" % (self.control, self.folder, self.port, self.folder,
       self.options or "recursion no; dnssec-validation no;",
       self.zones, text.replace("@plugin", self.plugin)))
        os.replace(self.path("new.conf"), self.path("named.conf"))

    def check(self):
        """Run named-checkconf. Return: its exit status and its output."""
        done = subprocess.run(["named-checkconf", self.path("named.conf")], timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def start(self):
        """Return: True if named runs; False if named has ended, and text() says why."""
        open_to_all(self.folder)
        self.log = open(self.path("log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [NAMED, "-g", "-n", "2", "-c", self.path("named.conf")],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, **ordinary_user())
        wait_until("named runs or ends", lambda: self.process.poll() is not None or
                   " running\n" in self.text())
        if self.process.poll() is None:
            return True
        self.log.close()
        return False

    def text(self):
        with open(self.path("log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def reload(self, how="SIGHUP", fails=False):
        """Reload, and wait until the log says that named uses (or refuses) the configuration."""
        words = "reloading configuration failed" if fails else \
            ("reloading configuration succeeded" if how == "SIGHUP" else "configuration succeeded")
        before = self.text().count(words)
        if how == "SIGHUP":
            self.process.send_signal(signal.SIGHUP)
        else:
            self.write("rndc.conf", 'key k { algorithm hmac-sha256; secret "c2VjcmV0"; };\n'
                       "options { default-server 127.0.0.1; default-key k; default-port %d; };\n"
                       % self.control)
            subprocess.run(["/usr/sbin/rndc", "-c", self.path("rndc.conf"), "reconfig"],
                           timeout=PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(words, lambda: self.text().count(words) > before)

    def status(self, field):
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise AssertionError("no %s in status" % field)

    def threads(self, name):
        folder, n = "/proc/%d/task" % self.process.pid, 0
        for task in os.listdir(folder):
            with open(os.path.join(folder, task, "comm"), encoding="utf-8") as file:
                n += file.read().strip() == name
        return n

    def cpu(self):
        """Return the seconds of CPU time that named has used."""
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                status = self.process.wait(PATIENCE)
            finally:
                self.process.kill()
                self.process.wait()
            self.log.close()
            assert status == 0, "exit status %d: %s" % (status, self.text())

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.end()
        elif self.process:
            self.process.kill()
            self.process.wait()
            print("\n".join(self.text().splitlines()[-60:]))
