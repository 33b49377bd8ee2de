#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which lines and branches of the library no test reaches, from gcov's counts: each must stand in
not-reached, with its reason.

usage: check.py BUILD_FOLDER [SUMMARY_FILE]
Exit: 0 all others are reached, 1 some are not: they are printed.

The counts of all objects are added up by place in the source. An entry of not-reached is
"FILE FUNCTION: LINE"; it excuses the branches of that line and the lines after it that never ran.
It names no numbers, so it outlives edits elsewhere. Kernels that never ran are those that this
machine cannot run.

Of the command only the messages are asked for: each is printed by a test or listed."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED = pathlib.Path(__file__).with_name('not-reached')
sys.path.insert(0, str(ROOT / 'tests/headers'))
import messages  # noqa: E402


def counts(build):
    """What gcov reports of each object: its files and their lines."""
    for data in sorted(build.rglob('*.c.gcda')):
        command = ['gcov', '--json-format', '--branch-probabilities', '--stdout', str(data)]
        printed = subprocess.run(command, cwd=build, check=True, stdout=subprocess.PIPE).stdout
        report = json.loads(printed)
        ran = any(line['count'] for file in report['files'] for line in file['lines'])
        if not ran and re.search('avx|neon', str(data.relative_to(build))):
            print(f'{data.relative_to(build)}: never ran, left out')
            continue
        yield report


def of_weir(build, name):
    """The file's path in the repository; None for all but library and command. The replica is left
    out: its tests are those of the servers, and this build has none of them."""
    path = os.path.relpath(os.path.normpath(build / name), ROOT)
    inside = path.startswith(('src/', 'include/weir/'))
    outside = path.startswith(('src/replica/', 'src/servers/'))
    return path if inside and not outside else None


@functools.lru_cache(None)
def asked(path):
    """The lines of a file that are asked for; None: all. Of the command, those with a message."""
    if not path.startswith('src/tool/'):
        return None
    return {line for line, _, _ in messages.calls((ROOT / path).read_text())}


def gather(build):
    """How often each place ran: lines by (file, number), branches by (file, number, function,
    which), and each line's function."""
    lines, branches, functions = {}, {}, {}
    for report in counts(build):
        for file in report['files']:
            path = of_weir(build, file['file'])
            seen = {}
            for line in file['lines'] if path else []:
                if asked(path) is not None and line['line_number'] not in asked(path):
                    continue
                place, function = (path, line['line_number']), line.get('function_name', '')
                lines[place] = lines.get(place, 0) + line['count']
                functions[place] = min(function, functions.get(place, function))
                for branch in line['branches'] if asked(path) is None else []:
                    which = seen[place, function] = seen.get((place, function), 0) + 1
                    key = (*place, function, which)
                    branches[key] = branches.get(key, 0) + branch['count']
    return lines, branches, functions


def listed():
    return {line for line in LISTED.read_text().splitlines() if line and not line.startswith('#')}


def main(build, summary):
    lines, branches, functions = gather(build)
    missed = {}
    for path, number, _, _ in (key for key, count in branches.items() if not count):
        missed[path, number] = missed.get((path, number), 0) + 1
    excuses, used, unexcused, before = listed(), set(), 0, None
    for place in sorted(lines):
        path, number = place
        if lines[place] and place not in missed:
            before = None
            continue
        text = (ROOT / path).read_text().splitlines()[number - 1].strip()
        entry = f'{path} {functions[place]}: {text}'
        if entry in excuses:
            used.add(entry)
            before = path
        elif lines[place] or before != path: # else it is what the line before leads to
            before = None
            unexcused += 1
            print(f'{path}:{number}: {"not all branches" if lines[place] else "never"}: {entry}')
    for entry in sorted(excuses - used):
        print(f'listed, and reached this time or gone: {entry}')
    ran, taken = sum(map(bool, lines.values())), sum(map(bool, branches.values()))
    text = (f'lines: {100 * ran / len(lines):.1f} % ({ran} of {len(lines)})\n'
            f'branches: {100 * taken / len(branches):.1f} % ({taken} of {len(branches)})\n'
            f'not reached and listed with a reason: {len(used)} places; not listed: {unexcused}')
    print(text)
    if summary:
        pathlib.Path(summary).write_text(text + '\n')
    return 1 if unexcused or not lines else 0


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else None))
