#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests with a server find bugs? Plants each of live/planted.py, of the parts of src/replica
that speak to redis and of what shows it, into a copy of the file, builds what a test runs with it
and runs that test: each bug must be found, and nothing without one.

usage: mutants_live.py BUILD [--jobs=N] [--table] [NAME...]

BUILD is a build folder of meson with the tests; it stays as it is."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE / "live"))
from planted import MUTANTS  # noqa: E402

LIBRARY, ARCHIVE = "src/replica/libweir-redis.so", "src/replica/libweir-redis.a"
PROGRAMS = {"node": "tests/replica/live/replica_node", "weir": "src/tool/weir",
            "wire_call": "tests/replica/wire/wire_call",
            "coming_thread": "tests/replica/redis/test_replica_coming_thread",
            "image": "tests/replica/redis/test_replica_image",
            "seen": "tests/replica/service/test_replica_seen",
            "gone": "tests/replica/service/test_replica_gone",
            "ask": "tests/replica/service/test_replica_ask",
            "round": "tests/replica/service/test_replica_round",
            "publish": "tests/replica/redis/test_replica_publish",
            "link": "tests/replica/wire/test_replica_link"}
# The script, and the programs that are its arguments.
SCRIPTS = {"asked": ("live/test_asked.py", ["node"]),
           "away": ("live/test_away.py", ["node", "weir"]),
           "backups": ("live/test_backups.py", ["node", "weir"]),
           "begins": ("live/test_begins.py", ["node"]),
           "deleted": ("live/test_deleted.py", ["node", "weir"]),
           "due": ("live/test_due.py", ["node"]),
           "closed": ("live/test_closed.py", ["node"]),
           "epochs": ("live/test_epochs.py", ["node"]),
           "losses": ("live/test_losses.py", ["node", "weir"]),
           "details": ("live/test_details.py", ["node", "weir"]),
           "one_fails": ("live/test_one_fails.py", ["node"]),
           "coming": ("live/test_coming.py", ["node"]),
           "coming_replicas": ("live/test_coming_replicas.py", ["node"]),
           "flap": ("live/test_flap.py", ["node"]),
           "faults": ("live/test_faults.py", ["node"]),
           "lineages": ("live/test_lineages.py", ["node"]),
           "live": ("live/test_live.py", ["node"]),
           "meddled": ("live/test_meddled.py", ["node"]),
           "mutated": ("live/test_mutated.py", ["node"]),
           "restarts": ("live/test_restarts.py", ["node"]),
           "keys_changed": ("live/test_keys_changed.py", ["node", "weir"]),
           "fields": ("live/test_fields.py", ["node"]),
           "full": ("live/test_full.py", ["node"]),
           "crowd": ("live/test_crowd.py", ["node", "weir"]),
           "follow_rivals": ("live/test_follow_rivals.py", ["node", "weir"]),
           "image_enemy": ("live/test_image_enemy.py", ["node", "weir"]),
           "shell": ("live/test_shell.py", ["node", "weir"]),
           "mutated_tool": ("live/test_mutated_tool.py", ["node", "weir"]),
           "promises": ("live/test_promises.py", ["node"]),
           "reports": ("live/test_reports.py", ["node"]),
           "scripts": ("live/test_scripts.py", ["node"]),
           "status": ("live/test_status.py", ["weir", ROOT / "src/packaging/alerts.yml"]),
           "liar": ("live/test_liar.py", ["node", "weir"]),
           "disk": ("live/test_disk.py", ["node", "weir"]),
           "refusals": ("live/test_refusals.py", ["node", "weir"]),
           "troubles": ("live/test_troubles.py",
                        ["node", "weir", ROOT / "src/packaging/alerts.yml"]),
           "follow": ("live/test_follow.py", ["node", "weir"]),
           "follow_files": ("live/test_follow_files.py", ["node", "weir"]),
           "follow_moments": ("live/test_follow_moments.py", ["node", "weir"]),
           "room": ("live/test_room.py", ["node", "weir"]),
           "operate": ("live/test_operate.py", ["node", "weir", ROOT]),
           "replicate": ("live/test_replicate.py", ["node", "weir", ROOT, LIBRARY, LIBRARY]),
           "weeks": ("live/test_weeks.py", ["node", "weir"]),
           "configured": ("live/test_configured.py", ["node", "weir"]),
           "secret": ("live/test_secret.py", ["node", "weir"]),
           "failover_hours": ("live/test_failover_hours.py", ["node", "weir"]),
           "follow_devices": ("live/test_follow_devices.py", ["node", "weir"]),
           "said": ("live/test_said.py", ["node", "weir"]),
           "set_back": ("live/test_set_back.py", ["node"]),
           "replayed": ("live/test_replayed.py", ["node", "weir"]),
           "years": ("live/test_years.py", ["node", "weir"]),
           "user_forgotten": ("live/test_user_forgotten.py", ["node", "weir"]),
           "shell_meanwhile": ("live/test_shell_meanwhile.py", ["node", "weir"]),
           "begun_again": ("live/test_begun_again.py", ["node", "weir"]),
           "in_the_way": ("live/test_in_the_way.py", ["node", "weir"]),
           "large_entries": ("live/test_large_entries.py", ["node"]),
           "xsetid": ("live/test_xsetid.py", ["node"]),
           "one_lie": ("live/test_one_lie.py", ["node"]),
           "drips": ("live/test_drips.py", ["node"]),
           "close_after_restart": ("live/test_close_after_restart.py", ["node"]),
           "never_sent": ("live/test_never_sent.py", ["node", "weir"]),
           "signed_clocks": ("live/test_signed_clocks.py", ["node", "weir"]),
           "a_fortnight": ("live/test_a_fortnight.py", ["node", "weir"]),
           "junk_keys": ("live/test_junk_keys.py", ["node", "weir"]),
           "wire": ("wire/test_wire.py", ["wire_call"]),
           "hostile": ("wire/test_hostile.py", ["wire_call"])}
PATIENCE = 150


class Build:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.library = next(p for p in (self.folder / "src/replica").iterdir() if re.fullmatch(
            r"libweir-redis\.so\.\d+\.\d+\.\d+", p.name)).relative_to(self.folder)
        self.compile = json.loads((self.folder / "compile_commands.json").read_text())

    def command_of(self, target):
        said = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", str(target)],
                              check=True, capture_output=True, text=True).stdout
        return said.rstrip().splitlines()[-1]

    def run(self, command):
        done = subprocess.run(command, shell=isinstance(command, str), cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")

    def outputs_of(self, file):
        """Also of a test that compiles it once more, beside what it calls."""
        own = os.path.relpath(ROOT / file, self.folder)
        return [entry["output"] for entry in self.compile if entry["file"] == own]

    def object_of(self, file, mutated, out):
        """Compile the mutated file as the build would the file. Return: (the build's, ours)."""
        own = os.path.relpath(ROOT / file, self.folder)
        for entry in self.compile:
            if entry["file"] == own and "libtest" not in entry["output"]:
                break
        else:
            raise SystemExit(f"{file}: no target of {self.folder} has it")
        ours = out / os.path.basename(entry["output"])
        folder = shlex.quote(str((ROOT / file).parent))
        command = entry["command"].replace(entry["output"], str(ours))
        command = command.replace(own, f"-w -iquote {folder} {mutated}")
        self.run(command)
        return entry["output"], ours

    def link(self, target, output, replaced):
        command = self.command_of(target)
        for old, new in replaced.items():
            command = command.replace(f" {old} ", f" {new} ")
        self.run(command.replace(f"-o {target} ", f"-o {output} "))


def programs_of(test):
    return [p for p in SCRIPTS[test][1] if p in PROGRAMS] if test in SCRIPTS else [test]


def arguments(build, test, programs):
    if test not in SCRIPTS:
        return [programs[test]]
    script, of = SCRIPTS[test]
    return ["/usr/bin/python3", "-B", "-W", "ignore", HERE / script,
            *(programs.get(a, a if isinstance(a, Path) else build.folder / a) for a in of),
            "--failfast"]


def run(build, test, programs, library):
    """Return: why it failed; None: it passed."""
    name, *only = test.split(" ")
    own = {**{n: build.folder / PROGRAMS[n] for n in programs_of(name)}, **programs}
    path = [library] if library else []
    path += [build.folder / "src", build.folder / "src/replica"] # a program of ours is elsewhere
    process = subprocess.Popen(
        arguments(build, name, own) + only, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env={**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, path)),
                        "WEIR_TEST_PATIENCE": "30"})
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate() # a script ends what it has started then (group.py)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return "it does not end"
    if process.returncode == 0:
        return None
    why = re.findall(r"^(?:FAIL|ERROR): (test_\w+)|^\[  FAILED  \] (test_\w+)", said, re.M)
    return " ".join(sorted({a or b for a, b in why})) or "it ended"


def plant(build, mutant, work):
    """Return: why the test failed; None: the bug was missed."""
    name, file, old, new, test = mutant
    out = work / name
    out.mkdir()
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{name}: this stands in {file} {text.count(old)} times, not once: adapt "
                         f"live/planted.py\n{old}")
    mutated = out / os.path.basename(file)
    mutated.write_text(text.replace(old, new))
    theirs, ours = build.object_of(file, mutated, out)
    programs, library = {}, None
    if file.startswith("src/tool/"):
        programs["weir"] = out / "weir"
        build.link(PROGRAMS["weir"], programs["weir"], {theirs: ours})
    elif {"node", "weir"} & set(programs_of(test.split(" ")[0])):
        library = out
        soname = ".".join(build.library.name.split(".")[:-1])
        build.link(build.library, out / soname, {theirs: ours})
    else:
        archive = out / "replica.a"
        shutil.copy(build.folder / ARCHIVE, archive)
        build.run(["ar", "r", str(archive), str(ours)])
        for program in programs_of(test.split(" ")[0]):
            programs[program] = out / program
            build.link(PROGRAMS[program], programs[program],
                       {ARCHIVE: archive, **dict.fromkeys(build.outputs_of(file), ours)})
    return run(build, test, programs, library)


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    folder, *names = [a for a in sys.argv[1:] if not a.startswith("--")]
    jobs = int(next((o[7:] for o in options if o.startswith("--jobs=")), 2))
    build = Build(folder)
    chosen = [m for m in MUTANTS if not names or m[0] in names]
    build.run(["ninja", str(build.library), ARCHIVE, *PROGRAMS.values()])
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(jobs) as pool:
        tests = sorted({m[4] for m in chosen})
        for test, why in zip(tests, pool.map(lambda t: run(build, t, {}, None), tests)):
            if why:
                raise SystemExit(f"without any bug: {test}: {why}")

        def one(mutant):
            begun = time.monotonic()
            return mutant, plant(build, mutant, Path(work)), time.monotonic() - begun
        missed = 0
        for (name, file, *_), why, seconds in pool.map(one, chosen):
            missed += why is None
            row = (name, file.replace("src/replica/", ""), why or "MISSED", "%.1f" % seconds)
            print("| %s | %s | %s | %s |" % row if "--table" in options else
                  "%-28s %-22s %-60s %s s" % row, flush=True)
    print(f"{missed} of {len(chosen)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
