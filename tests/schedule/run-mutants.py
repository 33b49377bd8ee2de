#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that the schedule tests find bugs, and that tests/fault/ finds bugs of images. Plants each
bug of mutants.py into a copy of the library, builds test_library with the copy (scalar kernels, no
zstd) and runs it. The unchanged library must pass, and so must a harmless edit. Each bug must be
found. Prints a table; exits 1 if a bug was missed.

usage: run-mutants.py [--jobs N] [NAME...]          CC chooses the compiler"""
import concurrent.futures, os, re, shlex, shutil, subprocess, sys, tempfile, time
from pathlib import Path
import mutants_handle
import mutants_image
from mutants import GROUPS, HANDLE_GROUPS, HARMLESS, MUTANTS, WORD_GROUPS

ROOT = Path(__file__).resolve().parents[2]
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w']
# The options of the passes. The first pass finds most bugs.
PASSES = [['--form', 'hash', '--preemptions', '1', '--executions', '200'],
          ['--preemptions', '1', '--executions', '200'],
          ['--form', 'hash', '--preemptions', '3', '--executions', '20000']]
HANDLE_PASSES = [['--form', 'hash', '--preemptions', '1', '--executions', '600'],
                 ['--preemptions', '1', '--executions', '600'],
                 ['--form', 'hash', '--preemptions', '2', '--executions', '6000']]
SCHEDULE = ROOT / 'tests/schedule'
INSTRUMENT = ['-O0', '-fsanitize=thread', '-DWEIR_DET', '-include', SCHEDULE / 'det_redirect.h']
INSTRUMENTED = ['forms', 'scenario_full', 'scenario_handle', 'scenario_sharded', 'scenarios_absent',
                'scenarios_full', 'scenarios_guard', 'scenarios_handle_batch',
                'scenarios_previous', 'scenarios_refresh', 'scenarios_reload', 'scenarios_removal',
                'scenarios_retire', 'scenarios_sharded', 'scenarios_sharded_writers',
                'scenarios_router', 'scenarios_text',
                'scenarios_void', 'scenarios_way_out', 'scenarios_window', 'scenarios_writers']
TEST_SOURCES = ['det_choose', 'det_heap', 'det_libc', 'det_memory', 'det_plain', 'det_rcu',
                'det_run', 'det_sync', 'det_thread', 'det_tsan', 'det_urcu', 'subject', 'unhash',
                'scenarios_insert', 'scenarios_whole', 'scenarios_load', 'scenarios_counters',
                'scenario_cuckoo', 'scenarios_cuckoo', 'scenarios_cuckoo_room',
                'scenarios_growing', 'test_library',
                *INSTRUMENTED]
FOUND = re.compile(r'^(.+?)\s{2,}(.+?)\s+(\w+)\s+(dfs|random|pct)\s+(\d+) executions\s+([\d.]+) s'
                   r'  FAILED\n  (.*)$', re.M)
LONGEST, HANGS = 600, 'hangs' # seconds of a pass; the whole of them take less than 60
TOTAL = re.compile(r'^\d+ runs, (\d+) executions', re.M)


def sources(tree):
    """Return: the sources of the library, without those that config.h disables."""
    apart = {'tool', 'servers', 'replica'} # use the library, but are not part of it
    found = [f for f in sorted(tree.glob('src/**/*.c'))
             if not apart & set(f.relative_to(tree).parts)]
    return [f for f in found if 'zstd' not in f.name]


def config(folder):
    """Writes a config.h without options: no vector kernels, no zstd."""
    names = re.findall(r"config.set10\('(\w+)'", (ROOT / 'src/meson.build').read_text())
    folder.mkdir()
    (folder / 'config.h').write_text(''.join(f'#define {name} 0\n' for name in names))


def compile_library(tree, out, only=None):
    """Return: the objects of the library in @tree. With @only, compiles only the files that include
    @only, and takes the other objects from @out."""
    out.mkdir(exist_ok=True)
    for source in sources(tree):
        made = out / f'{"_".join(source.relative_to(tree).with_suffix("").parts)}.o'
        read = made.with_suffix('.d')
        if only and Path(only).name not in read.read_text():
            continue
        folders = ['-I', tree / 'include', '-I', tree / 'src', '-I', tree / 'config']
        subprocess.run(CC + INSTRUMENT + folders
                       + ['-MMD', '-MF', read, '-c', source, '-o', made], check=True)
    return sorted(out.glob('*.o'))


def compile_test(out):
    out.mkdir()
    of_kinds = sorted((ROOT / 'tests/kinds').glob('*.c'))
    for source in [SCHEDULE / f'{name}.c' for name in TEST_SOURCES] + of_kinds:
        how = INSTRUMENT if source.stem in INSTRUMENTED else ['-O2']
        made = out / f'{source.parent.name}_{source.stem}.o'
        folders = ['-I', ROOT / 'include', '-I', ROOT / 'src']
        subprocess.run(CC + how + folders + ['-c', source, '-o', made], check=True)


def link(work, objects, out):
    subprocess.run(CC + [*(work / 'test.o').glob('*.o'), *objects, '-lm', '-o', out], check=True)


def plant(tree, file, old, new):
    """Replaces @old by @new. White space and line ends may be between any two tokens of @old."""
    text = (tree / file).read_text()
    pattern, before = '', ''
    for token in re.findall(r'\w+|\S', old):
        apart = r'\s+' if re.match(r'\w', before) and re.match(r'\w', token) else r'\s*'
        pattern += (apart if before else '') + re.escape(token)
        before = token
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        raise SystemExit(f'{file}: this stands there {len(places)} times, not once: adapt '
                         f'mutants.py\n{old}')
    begin = places[0].start()
    (tree / file).write_text(text[:begin] + new.strip() + text[places[0].end():])


def run(program, groups, brief=False):
    """Runs test_library up to the first failure. @brief: run only the first pass. Return: the
    output, the number of executions, and whether all passes succeeded. HANGS as the output: a pass
    did not end, as meson's limit of time would find."""
    output, executions, status = '', 0, 0
    for options in (PASSES if groups == WORD_GROUPS else HANDLE_PASSES)[:1 if brief else None]:
        try:
            ended = subprocess.run([program, '--stop', '--group', groups, *options],
                                   capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return HANGS, executions, False
        output, status = output + ended.stdout, ended.returncode
        executions += sum(int(n) for n in TOTAL.findall(ended.stdout))
        if status:
            break
    return output, executions, status == 0


def judge_image(work, tree, name, file):
    """Tests a bug by the programs of tests/fault/ instead of schedules."""
    out = work / f'{name}.o'
    mutants_image.compile_all(ROOT, CC, tree, sources(tree), out)
    mutants_image.link(ROOT, CC, out)
    found, place, seconds = mutants_image.run(out)
    shutil.rmtree(out)
    row = [name, file, found or 'NOT FOUND', '', 'fault', '', f'{seconds:.2f}', place]
    return row, found is not None


def judge(work, mutant):
    name, file, *edits = mutant
    tree, out = work / name, work / f'{name}.o'
    shutil.copytree(work / 'plain', tree)
    for old, new in zip(edits[::2], edits[1::2]):
        plant(tree, file, old, new)
    if name in mutants_image.NAMES:
        return judge_image(work, tree, name, file)
    shutil.copytree(work / 'plain.o', out)
    link(work, compile_library(tree, out, file), work / f'{name}.test')
    begin = time.monotonic()
    groups = GROUPS.get(name) or GROUPS.get(file, WORD_GROUPS)
    output, executions, passed = run(work / f'{name}.test', groups, name in HARMLESS)
    seconds = time.monotonic() - begin
    shutil.rmtree(tree)
    shutil.rmtree(out)
    if output == HANGS:
        return [name, file, HANGS, '', '', '', f'{seconds:.2f}', ''], name not in HARMLESS
    found = FOUND.search(output)
    if passed and name in HARMLESS:
        return [name, file, 'no bug: passes', '', '', str(executions), f'{seconds:.2f}', ''], True
    if not found:
        what = 'NOT FOUND' if passed else 'NOT JUDGED: ' + output
        return [name, file, what, '', '', str(executions), f'{seconds:.2f}', ''], False
    scenario, layout, form, strategy, _, _, why = found.groups()
    why = re.sub(r'^\S*?(\w+\.c:\d+)', r'\1', re.sub(r'0x\w+', 'a word', why))
    layout += '' if form == 'hash' else f' {form}'
    row = [name, file, scenario, layout, strategy, str(executions), f'{seconds:.2f}', why]
    return row, name not in HARMLESS


def main():
    arguments = sys.argv[1:]
    jobs = os.cpu_count()
    if '--jobs' in arguments:
        jobs = int(arguments.pop(arguments.index('--jobs') + 1))
    wanted = [a for a in arguments if a != '--jobs']
    chosen = [m for m in MUTANTS if not wanted or m[0] in wanted]
    if len(chosen) < len(wanted):
        raise SystemExit(__doc__)
    with (tempfile.TemporaryDirectory() as temporary,
          concurrent.futures.ThreadPoolExecutor(jobs) as pool):
        work = Path(temporary)
        for part in ['include', 'src']:
            shutil.copytree(ROOT / part, work / 'plain' / part)
        config(work / 'plain/config')
        compile_test(work / 'test.o')
        link(work, compile_library(work / 'plain', work / 'plain.o'), work / 'plain.test')
        print('| planted bug | in | found by | layout | strategy | executions | seconds | as |')
        print('|---' * 8 + '|')
        missed, harmless = 0, sum(name in HARMLESS for name, *_ in chosen)
        judged = pool.map(lambda mutant: judge(work, mutant), chosen)
        asked = {HANDLE_GROUPS if file in mutants_handle.GROUPS else GROUPS.get(file, WORD_GROUPS)
                 for name, file, *_ in chosen if name not in mutants_image.NAMES}
        if any(name in mutants_image.NAMES for name, *_ in chosen):
            row, found = judge_image(work, work / 'plain', 'as it is', '')
            if found:
                raise SystemExit(f'the library as it is FAILS: {row}')
        plain = [pool.submit(run, work / 'plain.test', groups) for groups in sorted(asked)]
        for row, found in judged:
            print('| ' + ' | '.join(row) + ' |', flush=True)
            missed += not found
        plain = [p.result() for p in plain]
    failed = ''.join(output for output, _, passed in plain if not passed)
    bugs = len(chosen) - harmless
    ran = sum(executions for _, executions, _ in plain)
    print(f'{bugs - missed} of {bugs} planted bugs found; the library as it is '
          + (f'FAILS:\n{failed}' if failed else f'passes: {ran} executions'))
    sys.exit(1 if missed or failed else 0)


main()
