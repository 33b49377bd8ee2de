#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does test_coming.py find bugs? Plants each of these into a copy of src/replica, builds
libweir-redis with it, and runs the test that has to find it on nodes with that library.

usage: mutants.py PROGRAM LIBRARY_FOLDER [NAME...]          CC chooses the compiler"""
import os, shlex, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / 'tests/replica/live'
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1',
                                                 '-fPIC', '-I/usr/include/hiredis']
LIBRARIES = ['-lweir', '-lhiredis', '-lcurl', '-lsodium', '-lssl', '-lcrypto', '-lxxhash',
             '-lpthread']
NOT_BUILT = ('sign_none.c', 'fetch_none.c', 'no_tls.c')
MUTANTS = [
    ('IMAGE_HOLDS_THE_THREAD', 'redis/coming.c', 'err = starts ? start(c) : 0;',
     'err = starts ? start(c) : 0; join(c);',
     'Web.test_confirmed_inserts_while_a_web_server_drips'),
    ('BEGINS_ANEW', 'redis/image.c', 'for (; f->chunks < m->chunks; f->chunks++) {',
     'for (f->chunks = 0; f->chunks < m->chunks; f->chunks++) {',
     'Chunks.test_goes_on_after_a_break'),
    ('NOT_GIVEN_UP', 'redis/coming.c', '\tstop(c);\n\tif (!c->started', '\tif (!c->started',
     'Web.test_another_replaces_it'),
    ('TRANSFER_NOT_STOPPED', 'redis/coming.c',
     'return atomic_load(&((struct weir_coming *)coming)->stop);', 'return false;',
     'Web.test_closing_while_it_comes'),
    ('CHUNK_NOT_INTERRUPTED', 'redis/coming.c', '\tweir__wire_interrupt(c->redis.wire);', '',
     'Chunks.test_a_redis_that_drips'),
    ('INTERRUPTED_FOR_EVER', 'wire/wire.c',
     'while (read(w->manner.interrupt, &n, sizeof n) < 0 && errno == EINTR)', 'while (0)',
     'Chunks.test_another_replaces_it'),
    ('FAILURE_FORGOTTEN', 'redis/coming.c',
     'return c->failure.err && atomic_load(&c->file.here) <= c->failure.here;',
     'return false;', 'Web.test_it_is_not_there'),
    ('FAILURE_WITHOUT_A_PAUSE', 'redis/coming.c',
     '(!c->failure.err || weir__now_ms() >= c->failure.again_ms);', 'true;',
     'Web.test_it_is_not_there'),
    ('REPLICA_IS_BELIEVED', 'redis/coming.c',
     'if (is_final(c->err) && weir__image_again(&c->file))', 'if (0)',
     'Replicas.test_it_lies'),
    ('REPLICA_FOR_NOTHING', 'redis/image.c', '!r->read_wire || f->master', '1',
     'Replicas.test_it_is_read'),
    ('NOT_TOLD', 'service/stats.c', 'if (sentence)', 'if (0)', 'Replicas.test_it_is_nowhere'),
    ('PUBLISHES_WITHOUT_IT', 'service/ask.c', 'if (result == -EINPROGRESS) { /* S2 */',
     'if (0) {', 'Web.test_who_publishes_waits_for_it'),
    ('RECORD_WAITS', 'service/ask.c', 'int err = publish(r, arg);',
     'int err = looked ? looked : publish(r, arg);',
     'Web.test_a_record_replaces_what_does_not_come'),
    ('COMPLETE_WITHOUT_IT', 'service/stats.c', ' && !weir__node_lacks_image(n)', '',
     'Web.test_closing_while_it_comes'),
    ('NO_FAILURE_BUT_SAID', 'service/round.c', 'if (err == -EINPROGRESS)\n\t\treturn 0;', '',
     'Web.test_confirmed_inserts_while_a_web_server_drips'),
]


def compile_one(source, tree):
    subprocess.run(CC + ['-I', ROOT / 'include', '-I', tree, '-c', source, '-o',
                         source.with_suffix('.o')], check=True)


def build(tree, library, changed=None):
    sources = [s for s in sorted(tree.rglob('*.c')) if s.name not in NOT_BUILT]
    for source in sources:
        if not changed or source == tree / changed:
            compile_one(source, tree)
    subprocess.run(CC + ['-shared', *[s.with_suffix('.o') for s in sources], '-o',
                         tree / 'libweir-redis.so.0.2', '-Wl,-soname,libweir-redis.so.0.2',
                         '-L', library, *LIBRARIES], check=True)


def passes(tree, program, library, tests):
    environment = {**os.environ, 'LD_LIBRARY_PATH': f'{tree}:{library}',
                   'WEIR_TEST_PATIENCE': '20'}
    process = subprocess.Popen(['/usr/bin/python3', '-B', '-W', 'ignore', HERE / 'test_coming.py',
                                program, *tests], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    try:
        _, said = process.communicate(timeout=150)
    except subprocess.TimeoutExpired:
        process.terminate() # it ends what it has started (group.py)
        process.communicate()
        return False, 'it does not end'
    last = [line for line in said.splitlines() if ': ' in line]
    return process.returncode == 0, last[-1] if last else ''


def main():
    program, library, names = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / 'plain'
        shutil.copytree(ROOT / 'src/replica', plain)
        build(plain, library)
        passed, why = passes(plain, program, library, sorted({m[4] for m in MUTANTS}))
        if not passed:
            raise SystemExit(f'without any bug: {why}')
        for name, file, old, new, test in MUTANTS:
            if names and name not in names:
                continue
            tree = Path(folder) / name
            shutil.copytree(plain, tree)
            text = (tree / file).read_text()
            if text.count(old) != 1:
                raise SystemExit(f'{file}: this stands there {text.count(old)} times, not once: '
                                 f'adapt mutants.py\n{old}')
            (tree / file).write_text(text.replace(old, new))
            build(tree, library, file)
            passed, why = passes(tree, program, library, [test])
            missed += passed
            print(f'{name:26}{"MISSED" if passed else "found"}  {why}', flush=True)
    print(f'{missed} missed')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
