#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the module's tests find bugs? Plants each of these into a copy of the module, one or more for
each thing that WEIR.PUBLISH keeps and WEIR.LOAD checks and that replicas get, and runs the test
that is to find it.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / 'tests/servers/redis'
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1',
                                                 '-fPIC', '-fvisibility=hidden']
FORMAT = ('cursor', 'entry', 'kinds', 'keys', 'manifest_read', 'manifest_write', 'number',
          'origins', 'publish', 'scripts')
OF_CLASS = {'Commands': 'publish', 'Kept': 'publish_kept', 'Refused': 'publish_refused'}
# The last of each is its test; before it the word of the file, if that is not the one above.
MUTANTS = [
    # what a generation keeps
    ('POSITION_IS_THE_END', 'set_next.c', '\tif (!m->generation)\n',
     '\tstruct weir_stream_counts end;\n\tif (!set_counts(s, &end) && end.added) {\n'
     '\t\tm->cursor.at.ms = UINT64_MAX / 4;\n\t\tm->cursor.consumed = end.added;\n\t}\n'
     '\tif (!m->generation)\n', 'Commands.test_the_place_in_the_stream_is_kept'),
    ('COVERED_ADVANCES', 'set_next.c', '\tm->base = m->generation++;',
     '\tm->covered = m->cursor.at;\n\tm->base = m->generation++;',
     'Commands.test_the_place_in_the_stream_is_kept'),
    ('ORIGINS_ARE_DROPPED', 'set_next.c', '&m, &s->origins)', '&m, &(struct weir_origins){ 0 })',
     'Commands.test_the_place_in_the_stream_is_kept'),
    ('ANOTHER_LINEAGE', 'set_next.c', '\tif (!m->generation)\n', '',
     'Commands.test_the_place_in_the_stream_is_kept'),
    ('NOT_UNITED', 'set_publish.c', 'if (!err && s->manifest.generation)', 'if (0)',
     'Commands.test_another_kept_more'),
    ('BASE_IS_NONE', 'set_next.c', 'm->base = m->generation++;', 'm->generation++;\n\tm->base = 0;',
     'Commands.test_there_and_back'),
    ('EPOCH_IGNORED', 'set_next.c', 'strcmp(m->epoch, s->epoch) != 0', '0',
     'Commands.test_another_epoch'),
    ('GONE_IN_ANOTHER_EPOCH', 'set_next.c', 'gone > m->cursor.consumed', '0',
     'Commands.test_another_epoch'),
    ('KEEPS_TWO', 'set_next.c', 'n < WEIR_SET_KEEP  ', '1 ', 'Commands.test_chunks'),
    ('LEASE_OF_NOBODY', 'set_next.c', 'weir__text("")', 'weir__text("nobody")',
     'Commands.test_hint_and_lease'),
    ('NO_LIMIT_OF_MEMORY', 'set_store.c', 'redis.GetUsedMemoryRatio() > 1', '0',
     'Refused.test_no_room'),
    ('LEFT_BEHIND', 'set_store.c', '\t\tset_unstore(s, m, err);', '\t\t;', 'Refused.test_no_room'),
    ('NOT_READ_AGAIN', 'set_next.c', 'err = weir__manifest_check(text, len);', 'err = 0;',
     'Refused.test_what_a_module_cannot'),
    ('COVERED_IN_ANOTHER_EPOCH', 'set_next.c',
     '\tm->covered = (struct weir_stream_id){ 0, 0 };\n', '', 'Commands.test_another_epoch'),
    ('FROM_0_IN_ANOTHER_EPOCH', 'set_next.c', '{ .consumed = gone };', '{ .consumed = 0 };',
     'Commands.test_another_epoch'),
    ('HASHES_WHERE_KEYS', 'set_next.c', '\tm->hashing = st.seed_fingerprint;\n',
     '\tm->hashing = st.seed_fingerprint;\n\tm->of_keys = false;\n',
     'Commands.test_a_set_of_keys'),
    ('FOLLOWS_STAYS', 'set_next.c',
     "\tm->follows = false; /* it has the key's, which came by no stream */\n", '',
     'Commands.test_a_set_of_keys'),
    ('SOURCE_IS_NONE', 'set_next.c', '\tm->source = WEIR_SOURCE_SET;\n', '',
     'Commands.test_a_set_of_keys'),
    ('SOURCE_OF_BEFORE', 'set_next.c', '\tm->source = WEIR_SOURCE_SET;\n',
     '\tif (!m->base)\n\t\tm->source = WEIR_SOURCE_SET;\n', 'publish_said Said.test_its_source'),
    ('PUBLISHED_BEFORE', 'set_next.c',
     '\tm->published_ms = (uint64_t)redis.Milliseconds();\n', '', 'publish_said Said.test_when'),
    ('LINEAGE_OF_NONE', 'set_next.c', '\t\tm->lineage = m->publisher;\n', '\t\t;\n',
     'publish_said Said.test_lineages'),
    ('CASE_OF_SET', 'set_find.c', 'if (strcasecmp(redis', 'if (strcmp(redis',
     'Commands.test_a_set_of_keys'),
    ('KEEPS_ANY_NUMBER', 'set_next.c', 'n > WEIR_REPLICA_KEEP_MOST ?', '0 ?',
     'Commands.test_chunks'),
    ('CHUNKS_FOR_EVER', 'set_store.c', 'set_command(s, "SET", args, 4, &reply)',
     'set_command(s, "SET", args, 2, &reply)', 'Commands.test_chunks_that_nobody_names_go'),
    ('WITHOUT_THE_SET_S_NAME', 'set_next.c',
     'err = weir_fail(err, "set %s: %s", s->keys.set, weir_error_detail());', ';',
     'Refused.test_the_last_number_there_is'),
    # what is read
    ('MORE_STRINGS', 'set_replay.c', '\tif (n > STRINGS)\n\t\treturn 0; /* foreign */\n',
     '\tn = n > STRINGS ? STRINGS : n;\n', 'Commands.test_what_follows'),
    ('LOW_HALF_TAKEN', 'set_image.c',
     'is.high64 == m->checksum[0] && is.low64 == m->checksum[1]', 'is.low64 == m->checksum[1]',
     'Refused.test_damage'),
    ('HIGH_HALF_TAKEN', 'set_image.c',
     'is.high64 == m->checksum[0] && is.low64 == m->checksum[1]', 'is.high64 == m->checksum[0]',
     'Refused.test_damage'),
    ('FILTER_TAKEN', 'set_image.c', '\terr = check_filter(s, f);\n', '\terr = 0;\n',
     'Refused.test_what_a_module_cannot'),
    ('MEMORY_FIRST', 'set_image.c', 'int err = chunks(s, NULL);', 'int err = 0;',
     'Refused.test_an_image_that_is_not_there_takes_no_memory'),
    ('COUNT_GOES_DOWN', 'set_load.c', 'return items > l->items ? items : l->items;',
     'return items;', 'Commands.test_the_count_is_an_estimate'),
    ('COUNT_WITHOUT_END', 'set_load.c',
     ' ||\n\t    !(st.keys_estimated < (double)l->capacity))', ')',
     'Commands.test_the_count_is_an_estimate'),
    ('NOT_REPLAYED', 'set_load.c', 'err = set_replay(s, f, entries);', '*entries = 0;',
     'Commands.test_what_follows'),
    ('ONE_READING', 'set_replay.c', 'while (!err && n == AT_ONCE)',
     'for (int i = 0; !err && !i; i++)', 'Commands.test_what_follows'),
    ('ANY_SEED', 'set_replay.c', 'e->hashing != s->manifest.hashing', '0',
     'Commands.test_what_follows'),
    ('LATER_VERSION', 'set_replay.c', 'if (err == -EBADMSG)', 'if (err)',
     'Commands.test_what_follows'),
    ('GAP_IGNORED', 'set_replay.c', 'if (err || weir__cursor_gap', 'if (1 || weir__cursor_gap',
     'Commands.test_entries_have_gone'),
    ('DAMAGE_TAKEN', 'set_image.c', 'is.high64 == m->checksum[0] && is.low64 == m->checksum[1]',
     '1', 'Refused.test_damage'),
    ('SIGNED_TAKEN', 'set_find.c', 'if (signature->iov_len)', 'if (0)',
     'Refused.test_what_a_module_cannot'),
    ('SET_TAKEN', 'set_find.c', 'if (strcmp(m->set, s->keys.set) != 0)', 'if (0)',
     'Refused.test_what_a_module_cannot'),
    ('GROWN_TAKEN', 'set_find.c', 'if (c->links != 1)', 'if (0)', 'Refused.test_grown'),
    ('SEED_TAKEN', 'set_find.c', 'st.seed_fingerprint == s->manifest.hashing', '1',
     'Refused.test_another_seed'),
    ('ANYBODY_MAY', 'set_call.c', '"!CEv"', '"!Ev"', 'Refused.test_acl'),
    ('WITHIN_SCRIPTS', 'module.c', 'weir_publish, "write deny-oom deny-script"',
     'weir_publish, "write deny-oom"', 'Refused.test_words'),
    # what replicas get
    ('NOT_REPLICATED', 'set_load.c', 'replicate(s->context, name, c, &p);', '',
     'Kept.test_replica'),
    ('NO_HEADER', 'set_load.c', '\tif (!p->ones)\n\t\tredis.Replicate', '\tif (0)\n'
     '\t\tredis.Replicate', 'Kept.test_replica'),
    ('ALL_PIECES', 'set_load.c', 'if (p->ones && !p->ones[i])', 'if (0)',
     'Kept.test_what_a_replica_is_sent'),
    ('NO_PIECES', 'set_load.c', 'if (p->ones && !p->ones[i])', 'if (p->ones)',
     'Kept.test_what_a_replica_is_sent'),
    ('COUNTED_HERE_ALONE', 'set_load.c', 'if (!err && have_changed(&p, l))',
     'if (!err && (have_changed(&p, l), 1))', 'Commands.test_nothing_new'),
    ('LAST_PIECE_ALONE', 'set_load.c', 'any |= p->ones[i] != 0;', 'any = p->ones[i] != 0;',
     'Kept.test_what_a_replica_is_sent'),
    ('LIMIT_WHILE_LOADING', 'keys.c', '(REDIS_REPLICATED | REDIS_LOADING)', 'REDIS_REPLICATED',
     'keeping CF.test_limit'),
    ('LIMIT_OF_REPLICAS', 'keys.c', '(REDIS_REPLICATED | REDIS_LOADING)', 'REDIS_LOADING',
     'keeping CF.test_limit'),
    ('FAILED_REPLICATED', 'cf_write.c', 'if (answered == 1)', 'if (answered)',
     'keeping CF.test_limit'),
    ('REMOVED_NOTHING_REPLICATED', 'cf_write.c', '\t\tif (found)\n\t\t\tredis.Rep',
     '\t\tif (c)\n\t\t\tredis.Rep', 'keeping CF.test_nothing_was_there_to_remove'),
    ('CAPACITY_BEHIND_THE_END', 'cf_write.c', '&& i + 1 < argc)', '&& i < argc)',
     'cf Commands.test_insert'),
    # what is used wrongly
    ('ONE_IS_A_RATE', 'bf_write.c', '*out > 0 && *out < 1 ?', '*out > 0 && *out <= 1 ?',
     'refusals Refusals.test_sentences'),
    ('CARD_OF_TWO', 'bf_read.c', '\tif (argc != 2)\n\t\treturn redis.WrongArity(context);\n'
     '\tif (!key_open(', '\tif (argc < 2)\n\t\treturn redis.WrongArity(context);\n'
     '\tif (!key_open(', 'refusals Refusals.test_sentences'),
    ('ANYBODY_MAY_RUN_A_SCRIPT', 'set_call.c', '"!CEv"', '*name == \'E\' ? "!Ev" : "!CEv"',
     'refusals Rights.test_load'),
]


def compile_all(work):
    sources = [*(ROOT / 'src/servers/redis').glob('*.c'),
               *(ROOT / 'src/replica/format' / (name + '.c') for name in FORMAT)]
    parts = {source: work / ('%d.o' % i) for i, source in enumerate(sources)}
    for source, part in parts.items():
        compile_one(source, source, part)
    return parts


def compile_one(source, place, out):
    """@place: where the source seems to be, for its headers."""
    subprocess.run(CC + ['-I', ROOT / 'include', '-iquote', place.parent, '-c', source, '-o', out],
                   check=True)


def run(work, parts, library, test):
    module = work / 'weir-redis.so'
    subprocess.run(CC + ['-shared', *parts, '-L', library, '-lweir', '-Wl,-rpath,%s' % library,
                         '-o', module], check=True)
    about, _, test = test.rpartition(' ')
    name = 'test_' + (about or OF_CLASS[test.split('.')[0]])
    program = ('import sys, unittest; sys.path.insert(0, %r); import %s as t; '
               'unittest.main(module=t, argv=["t", %r], verbosity=0, warnings="ignore")'
               % (str(HERE), name, test))
    ended = subprocess.run(["/usr/bin/python3", '-B', '-c', program, module], capture_output=True,
                           text=True, timeout=300)
    why = re.findall(r'^(?:AssertionError|[\w.]*Error): (.*)$', ended.stderr, re.M)
    return ended.returncode == 0, (why or ['it ended'])[0][:60]


def mutate(work, parts, library, name, file, old, new, test):
    source = ROOT / 'src/servers/redis' / file
    text = source.read_text()
    if text.count(old) != 1:
        raise SystemExit(f'{file}: this stands there {text.count(old)} times, not once: adapt '
                         f'mutants.py\n{old}')
    changed = work / file
    changed.write_text(text.replace(old, new).replace('"../../', '"%s/src/' % ROOT))
    compile_one(changed, source, work / 'changed.o')
    others = [part for of, part in parts.items() if of != source]
    return run(work, [*others, work / 'changed.o'], library, test)


def main():
    library, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        parts = compile_all(work)
        for test in sorted({mutant[-1] for mutant in MUTANTS}):
            passed, why = run(work, parts.values(), library, test)
            if not passed:
                raise SystemExit(f'without any bug: {test}: {why}')
        for name, *bug in MUTANTS:
            if names and name not in names:
                continue
            passed, why = mutate(work, parts, library, name, *bug)
            missed += passed
            print(f'{name:28}{"MISSED" if passed else "found"}  {why}', flush=True)
    print(f'{missed} missed')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
