#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests of the rules find bugs? Plants each of these into a copy of src/replica, one or
more for each way in which an insert would be lost (rules.h), builds them with it and runs
them: each bug must be found.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler
With WEIR_TEST_SHORT set it is every fifth of them."""
import os, re, shlex, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants_steps import STEPS

ROOT = Path(__file__).resolve().parents[2]
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1']
HERE, SOURCES = ROOT / 'tests/replica', ROOT / 'src/replica'
FORMAT = SOURCES / 'format'
TESTS = [('test_pending', ''), ('test_origins', ''), ('test_node', ''), ('test_seeds', ''),
         ('test_coming', ''), ('test_rules', '60')] # seeds
MUTANTS = [
    # L1
    ('EPOCH_NOT_NOTICED', 'node_look.c', 'bool anew = epoch[0] && strcmp(epoch, n->epoch) != 0;',
     'bool anew = !n->epoch[0]; memcpy(n->epoch, epoch, sizeof n->epoch);'),
    ('IDS_OUTLIVE_THE_EPOCH', 'node_look.c', 'weir__retained_anew(&n->retained);', ''),
    # L3; of L2 in mutants_steps.py
    ('FORGET_WHEN_CONFIRMED', 'node_read.c',
     'weir__retained_forget(&n->retained, n->covered);',
     'weir__retained_forget(&n->retained, (struct weir_stream_id){ UINT64_MAX, 0 });'),
    ('LACKING_NOT_SENT_AGAIN', 'node_look.c',
     '(void)weir__retained_uncovered(&n->retained, m->cursor.at, own ? own->sequence : 0);',
     '(void)own;'),
    ('FORGET_BY_THE_NEWEST', 'node_look.c', 'n->covered = m->covered;',
     'n->covered = m->cursor.at;'),
    ('COVERED_THOUGH_UNSAFE', 'node_publish.c', '= safe ? base->cursor.at : base->covered;',
     '= base->cursor.at;'),
    ('COVERED_OF_ANOTHER_EPOCH', 'node_publish.c',
     'if (!base->generation || strcmp(base->epoch, m->epoch) != 0)',
     'if (!base->generation)'),
    ('RETAINED_NOT_REPLAYED', 'node_join.c',
     'return err ? err : replay_own(n, p->next, own ? own->sequence : 0);', 'return err;'),
    ('COVERED_COMES_BACK', 'node_join.c', 'b->sequence > has ?', '1 ?'),
    ('UNCOVERED_IS_LEFT_OUT', 'node_join.c', 'b->sequence > has ?', '!has ?'),
    # L4
    ('UNSURE_TAKEN_FOR_SENT', 'node.c', 'weir__retained_unsure(&n->retained);',
     '(void)weir__retained_confirm(&n->retained, (struct weir_stream_id){ 0, 1 });'),
    # L5
    ('ADVANCE_UNAPPLIED', 'node_read.c', 'int err = weir__node_apply(n, e, next);',
     'int err = next || e->sequence % 5 ? weir__node_apply(n, e, next) : 0;'),
    # L6
    ('POSITION_BEYOND_THE_SET', 'node_publish.c', 'struct weir_manifest m = begin(n, &base, '
     '&n->cursor);',
     'struct weir_cursor end = { { n->cursor.at.ms + 3, 0 }, n->cursor.consumed + 1 };\n'
     '\tstruct weir_manifest m = begin(n, &base, &end);'),
    # L7
    ('GAP_IGNORED', 'node_read.c', 'n->gap = true;', ''),
    ('REPLAY_GAP_IGNORED', 'node_join.c',
     'p->gap = weir__cursor_gap(&p->counted, &p->counts, NULL) != WEIR_GAP_NONE;',
     'p->gap = false;'),
    ('GAP_ENDS_UNHEARD', 'origins.c', 'return origin && origin->heard == o->gap && !waits(origin);',
     'return origin && !waits(origin);'),
    ('OLD_BATCH_TAKEN_FOR_NEWS', 'origins.c', 'if (news == WEIR_ORIGIN_NEXT && !waits(origin))',
     'if (!waits(origin))'),
    ('GAP_NOT_UNITED', 'node_join.c', 'if (!err && (p->kept || p->gap))', 'if (!err && p->kept)'),
    # L8
    ('HOLE_IGNORED', 'origins.c', 'news == WEIR_ORIGIN_NEXT ? sequence : 0, sequence);',
     'sequence, sequence);'),
    ('SENT_AGAIN_FOR_NOBODY', 'node_read.c',
     '(void)weir__retained_again(&n->retained, e->wanted_sequence);', ';'),
    ('WAITED_FOR_EVER', 'node_read.c', 'n->outdated = true;', ';'),
    # L9
    ('INCOMPLETE_PUBLISHES', 'node_publish.c', 'if (weir__node_complete(n))', 'if (1)'),
    # L10
    ('BASE_NOT_JOINED', 'node_publish.c',
     'base = n->seen.generation ? n->joined : n->seen;', 'base = n->seen;'),
    # L11
    ('STREAM_NOT_REPLAYED', 'node_join.c', 'err = replay_stream(p);',
     'p->cursor = n->cursor;'),
    ('READ_AND_NOT_HAD', 'node_look.c', '(void)weir__node_read(n); /* how', '; /* how'),
    ('HAD_THOUGH_LACKING', 'node_look.c', 'return weir__node_complete(n) &&', 'return'),
    ('HAD_IN_ANOTHER_EPOCH', 'node_look.c', '\tn->ahead = true;\n', '\tn->ahead = false;\n'),
    ('HAD_THOUGH_SIGNED', 'node_look.c', ' || n->is_signed ||', ' ||'),
    ('HAD_OF_WHOM', 'node_look.c', 'weir__origins_reach(&n->origins, origins) &&', ''),
    ('FOLLOWS_THOUGH_AHEAD', 'node_publish.c', ' && !n->ahead && sent;', ' && sent;'),
    ('AHEAD_FOR_EVER', 'node_look.c', 'n->ahead = n->healed =', 'n->healed ='),
    ('FOLLOWS_ANY_IMAGE', 'node_look.c',
     'j->checksum[0] == m->followed[0] && j->checksum[1] == m->followed[1] &&\n', '\n'),
    ('FOLLOWS_THOUGH_UNITED', 'node_join.c', 'if (p.kept || (err', 'if ((err'),
    ('FOLLOWS_THOUGH_STANDING_IN', 'node_look.c', '\tif (replaced)\n', '\tif (0)\n'),
    ('FOLLOWS_WITH_MORE', 'node_publish.c', '!more && !has_more &&', '!has_more &&'),
    ('FOLLOWS_THOUGH_KEPT', 'node.c', 'weir__pending_put_hash(&n->pending, hash); /* L2: first */\n'
     '\tif (*kept)', 'weir__pending_put_hash(&n->pending, hash); /* L2: first */\n\tif (0)'),
    ('FOLLOWS_THOUGH_A_KEY_IS_KEPT', 'node.c', '(uint32_t)len); /* L2: first */\n\tif (*kept)',
     '(uint32_t)len); /* L2: first */\n\tif (0)'),
    ('MORE_IS_JOINED', 'node_publish.c', '\tif (more)\n\t\treturn 0;', '\tif (0)\n\t\treturn 0;'),
    ('ONE_READING_REPLAYED', 'node_join.c',
     'while (some == WEIR_NODE_READ && !p->past && !p->gap);', 'while (0);'),
    ('MORE_FORGOTTEN', 'node_publish.c', 'if (has_more && (err || more))', 'if (0)'),
    ('AGAIN_FOLLOWS', 'node_publish.c', '\tm->follows = false;\n', ''),
    ('COMING_IS_REFUSED', 'node_join.c', 'err == -EINVAL;',
     'err == -EINVAL || err == -EINPROGRESS;'),
    ('COMING_TAKEN_FOR_JOINED', 'node_look.c', 'err = weir__node_join(n, m, origins);',
     'if ((err = weir__node_join(n, m, origins)) == -EINPROGRESS) n->joined = *m;'),
    ('POSITION_BEFORE_THE_IMAGE', 'node_look.c', 'if (anew)\n\t\tn->cursor',
     'if (1)\n\t\tn->cursor'),
    # L12
    ('LINEAGE_IGNORED', 'node_join.c', 'n->joined.lineage == m->lineage && ', ''),
    ('OLDER_TAKES_AWAY', 'node_join.c', ' && n->joined.generation <= m->generation', ''),
    # L13
    ('OTHER_SEED_NOT_UNITED', 'node_join.c', 'refuse(n, m, err);\n\treturn err;\n}\n\n/* Complete',
     'return 0;\n}\n\n/* Complete'),
    ('STANDS_IN_FOR_ALL', 'node_look.c', '(m->generation < n->joined.generation ||',
     '(1 ||'),
    ('SEED_OF_BEFORE', 'node_join.c', '\tn->hashing = m->hashing;\n', ''),
    ('SEED_NOT_COMPARED', 'node_join.c', 'if (err || s.seed_fingerprint == m->hashing)',
     'if (1)'),
    ('KEYS_AS_HASHES', 'node_join.c', '.kind = o->node->pending.kind,',
     '.kind = WEIR_ENTRY_HASHES,'),
    ('HALF_A_KEY', 'entry.c', '(next <= most || end == 0)', '(end <= most || end == 0)'),
    ('MIXED_BATCHES', 'node_look.c', 'if (m->of_keys != weir__node_of_keys(n))', 'if (0)'),
]


def compile_one(source, out, *includes):
    subprocess.run(CC + ['-I', ROOT / 'include', *(f'-I{i}' for i in includes), '-c', source, '-o',
                         out], check=True)


def run_tests(folder, parts, library, tests):
    """Return: why one failed; None: all passed."""
    for test, argument in tests:
        subprocess.run(CC + [*parts, folder.parent / f'{test}.o', folder.parent / 'toy.o', '-o',
                             folder / test, '-L', library, '-lweir', '-lcmocka', '-lpthread'],
                       check=True)
        ended = subprocess.run([folder / test, argument], capture_output=True, text=True,
                               timeout=600, env={**os.environ, 'LD_LIBRARY_PATH': str(library)})
        if ended.returncode:
            why = re.findall(r'^(?:ERROR: (.*)|\[  FAILED  \] (test_.*))$', ended.stdout
                             + ended.stderr, re.M)
            return ''.join(why[0]) if why else 'it ended'
    return None


def build(work):
    """All of it once, without a bug: {source: object}."""
    for name in [*{test for test, _ in TESTS} | set(STEPS), 'toy']:
        compile_one(HERE / f'{name}.c', work / f'{name}.o', HERE, SOURCES)
    parts = {}
    for source in [*SOURCES.glob('*.c'), *FORMAT.glob('*.c')]:
        parts[source.name] = work / 'plain' / (source.stem + '.o')
        compile_one(source, parts[source.name])
    return parts


def plant(work, parts, library, name, file, old, new, tests=TESTS):
    """Return: as run_tests()."""
    folder = work / name
    folder.mkdir()
    place = SOURCES if (SOURCES / file).exists() else FORMAT
    text = (place / file).read_text()
    if text.count(old) != 1:
        raise SystemExit(f'{file}: this stands there {text.count(old)} times, not once: adapt '
                         f'mutants.py\n{old}')
    (folder / file).write_text(text.replace(old, new))
    compile_one(folder / file, folder / 'bug.o', place)
    return run_tests(folder, [folder / 'bug.o' if f == file else o for f, o in parts.items()],
                     library, tests)


def main():
    library, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        work = Path(folder)
        (work / 'plain').mkdir()
        parts = build(work)
        every = TESTS + [(test, '') for test in STEPS if test not in dict(TESTS)]
        why = run_tests(work / 'plain', parts.values(), library, every)
        if why:
            raise SystemExit(f'without any bug: {why}')
        steps = [(*m, [(test, '')]) for test, of in STEPS.items() for m in of]
        chosen = [m for m in MUTANTS + steps if not names or m[0] in names]
        if os.environ.get('WEIR_TEST_SHORT') and not names:
            chosen = chosen[::5]
        missed = 0
        for (name, *_), why in zip(chosen, pool.map(
                lambda m: plant(work, parts, library, *m), chosen)):
            missed += why is None
            print(f'{name:34}{"found" if why else "MISSED"}  {why or ""}', flush=True)
    print(f'{missed} of {len(chosen)} missed')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
