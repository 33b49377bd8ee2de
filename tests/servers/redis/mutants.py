#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the module's tests find bugs? Plants each bug below and in planted_keys.py into a copy of the
module and runs the test that must fail. There is at least one bug for each rule of WEIR.PUBLISH,
WEIR.LOAD and replication.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler
LIBRARY_FOLDER is src in a build folder that has built the tests."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import planted_keys

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / 'tests/servers/redis'
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1',
                                                 '-fPIC', '-fvisibility=hidden']
OF_CLASS = {'Commands': 'publish', 'Missing': 'publish', 'Kept': 'publish_kept',
            'Refused': 'publish_refused'}
# The files of the module that know nothing of Redis, which the C programs link.
PARTS = ('chain.c', 'cuckoo.c', 'form.c', 'items.c', 'redisbloom.c')
# Each entry ends with its test, after the test file's name if OF_CLASS does not give the file.
MUTANTS = [
    # contents of a published generation
    ('POSITION_OF_BEFORE', 'set_publish.c', '.position = h->last, .tag = h->tag,',
     '.position = s->manifest.position, .tag = s->manifest.tag,',
     'Commands.test_what_follows_is_published'),
    ('NO_PARENT', 'set_publish.c', '.parent = h->version,', '.parent = { 0, 0 },',
     'Commands.test_what_follows_is_published'),
    ('PURE', 'set_publish.c', '.source = WEIR_SOURCE_SET,', '.source = WEIR_SOURCE_SET, .pure = 1,',
     'Commands.test_what_follows_is_published'),
    ('HAS_NOT_ITSELF', 'set_publish.c', '(void)weir__has_add(&m->has, m->id);', '',
     'Commands.test_what_follows_is_published'),
    ('HAS_NOTHING_OF_BEFORE', 'set_publish.c', ', .has = s->manifest.has };', ' };',
     'Commands.test_what_follows_is_published'),
    ('PUBLISHER_OF_ALWAYS', 'set_publish.c', 'err = weir__draw(&m->publisher);',
     'm->publisher = 1;', 'Commands.test_what_follows_is_published'),
    ('ERA_OF_THE_FIRST', 'set_publish.c', 'h->generation ? h->version.era : 1', '1',
     'Commands.test_the_next_of_a_record'),
    ('SOURCE_OF_BEFORE', 'set_publish.c', '= WEIR_SOURCE_SET', '= s->manifest.source',
     'Commands.test_the_next_of_a_record'),
    ('LOG_IS_LEFT_OUT', 'set_publish.c', 'err = set_replay(s, f, hashing, &batches);', '',
     'Commands.test_what_follows_is_published'),
    ('LOG_BY_NO_SEED', 'set_publish.c', 'set_replay(s, f, hashing, &batches)',
     'set_replay(s, f, s->manifest.hashing, &batches)',
     'Commands.test_nodes_have_inserted_and_none_has_published'),
    ('NOT_UNITED', 'set_publish.c', 'err = weir_merge(f, l->filter);', 'err = 0;',
     'Commands.test_another_kept_more'),
    ('NO_HEARTBEAT', 'set_open.c', 'touch ? weir__redis_touch', '0 ? weir__redis_touch',
     'Commands.test_an_empty_set'),
    ('KEEPS_TWO', 'set_publish.c', 'n < 2 ? 2 :', '1 ? 2 :', 'Commands.test_chunks'),
    ('KEEPS_ANY_NUMBER', 'set_publish.c', 'n > WEIR_REPLICA_KEEP_MOST ?', '0 ?',
     'Commands.test_chunks'),
    ('NO_LIMIT_OF_MEMORY', 'set_publish.c', 'redis.GetUsedMemoryRatio() > 1', '0',
     'Refused.test_no_room'),
    ('LEFT_BEHIND', 'set_publish.c', '\t\terr = expire_chunks(s, j, err);', '\t\t;',
     'Refused.test_no_room'),
    ('KEPT_ONES_ARE_TAKEN_BACK', 'set_publish.c', 'key, "0", "XX", NULL)', 'key, "0", NULL)',
     'Refused.test_the_last_number_there_is'),
    ('LIMIT_OF_THE_KEY', 'set_publish.c', '\ts->redis->o.max_image_bytes = UINT64_MAX;\n', '',
     'Commands.test_another_kept_more'),
    ('CASE_OF_SET', 'set_open.c', 'if (strcasecmp(redis', 'if (strcmp(redis',
     'Commands.test_the_case_of_set'),
    # what the commands read
    ('COUNT_GOES_DOWN', 'set_load.c', 'return items > l->items ? items : l->items;',
     'return items;', 'Commands.test_the_count_is_an_estimate'),
    ('COUNT_WITHOUT_END', 'set_load.c',
     ' ||\n\t    !(st.keys_estimated < (double)l->capacity))', ')',
     'Commands.test_the_count_is_an_estimate'),
    ('NOT_REPLAYED', 'set_load.c', 'err = set_replay(s, f, s->manifest.hashing, batches);',
     '*batches = 0;', 'Commands.test_what_follows'),
    ('ONE_READING', 'set_read.c', 'while (!err && n);', 'while (0);',
     'Commands.test_what_follows'),
    ('ANY_SEED', 'set_read.c', 'i < e->n && e->hashing == w->hashing', 'i < e->n',
     'Commands.test_what_follows'),
    ('ANY_TAG', 'set_read.c', 'if (e->before != w->tag && !given_up)', 'if (0)',
     'Missing.test_one_between'),
    ('ANY_END', 'set_read.c', 'err || w.tag == s->head.tag ?', '1 ?', 'Missing.test_the_newest'),
    ('NOTHING_IS_GIVEN_UP', 'set_read.c', '&& !given_up)', ')', 'Missing.test_what_was_given_up'),
    ('ANOTHER_LOG_IS_GIVEN_UP', 'set_read.c', 'weir__log_id_compare(last, w->at) > 0 &&', '1 &&',
     'Missing.test_another_log_that_was_given_up'),
    ('ALL_IS_GIVEN_UP', 'set_read.c', 'weir__log_id_compare(last, w->set->head.lost) <= 0', '1',
     'Missing.test_one_between'),
    ('EPOCHS_ARE_APART', 'set_read.c', '\t\tlast = e->last;', '\t\t;',
     'Missing.test_what_was_given_up_at_the_end'),
    ('SIGNED_TAKEN', 'set_open.c', 'if (signature_len)', 'if (0)',
     'Refused.test_what_a_module_cannot'),
    ('STEPS_TAKEN', 'set_open.c', 'if (m->steps)', 'if (0)', 'Refused.test_what_a_module_cannot'),
    ('KIND_TAKEN', 'set_open.c', 'if (m->kind != WEIR_BLOCKED)', 'if (0)',
     'Refused.test_what_a_module_cannot'),
    ('ID_TAKEN', 'set_open.c', 'm->id == s->head.generation', '1',
     'Refused.test_what_a_module_cannot'),
    ('NAME_UP_TO_A_ZERO', 'set_open.c', 'if (strlen(o.set) != len)', 'if (0)',
     'Refused.test_words'),
    ('OWN_KEY_TAKEN', 'set_open.c', 'memcmp(key, own, strlen(own)) == 0', '0',
     'Commands.test_a_key_of_the_sets_own'),
    ('GROWN_TAKEN', 'set_open.c', 'if (c->links != 1)', 'if (0)', 'Refused.test_grown'),
    ('SEED_TAKEN', 'set_open.c', 'st.seed_fingerprint == s->manifest.hashing', '1',
     'Refused.test_another_seed'),
    ('ANYBODY_MAY', 'set_call.c', '"!CEv"', '"!Ev"', 'Refused.test_acl'),
    ('REPLICAS_GET_NOTHING', 'set_call.c', '"!CEv"', '"CEv"', 'Kept.test_in_a_transaction'),
    ('WITHIN_SCRIPTS', 'commands.c', 'weir_publish, WRITE " deny-script"',
     'weir_publish, WRITE', 'Refused.test_words'),
    # what replicas receive
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
    ('CAPACITY_BEHIND_THE_END', 'cf_write.c', '&& i + 1 < argc)', '&& i < argc)',
     'cf Commands.test_insert_refuses_bad_options'),
    # wrong use of the commands
    ('ONE_IS_A_RATE', 'bf_write.c', '*out > 0 && *out < 1 ?', '*out > 0 && *out <= 1 ?',
     'refusals Refusals.test_errors_are_one_line_and_change_nothing'),
    ('CARD_OF_TWO', 'bf_read.c', '\tif (argc != 2)\n\t\treturn redis.WrongArity(context);\n'
     '\tif (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c))\n',
     '\tif (argc < 2)\n\t\treturn redis.WrongArity(context);\n'
     '\tif (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c))\n',
     'refusals Refusals.test_errors_are_one_line_and_change_nothing'),
    ('ANYBODY_MAY_READ', 'set_call.c', '"!CEv"', '*name == \'H\' ? "!Ev" : "!CEv"',
     'refusals Rights.test_load'),
    *planted_keys.MUTANTS,
]


def compile_all(work):
    sources = [source for room in ('servers/redis', 'replica/format', 'replica/store')
               for source in (ROOT / 'src' / room).glob('*.c')]
    sources.append(ROOT / 'src/host/memory_limit.c')
    CC.append('-I%s' % work)
    for script in ('touch.lua', 'publish.lua'):
        text = subprocess.run(['sed', '-f', 'string.sed', script], check=True, capture_output=True,
                              cwd=ROOT / 'src/replica/format').stdout
        (work / (script + '.h')).write_bytes(text)
    parts = {source: work / ('%d.o' % i) for i, source in enumerate(sources)}
    for source, part in parts.items():
        compile_one(source, source, part)
    return parts


def compile_one(source, place, out):
    """@place: the path from which the source includes its headers."""
    subprocess.run(CC + ['-I', ROOT / 'include', '-iquote', place.parent, '-c', source, '-o', out],
                   check=True)


def run_program(work, parts, library, about):
    """@parts: the objects of each source."""
    program = work / ('test_' + about)
    subprocess.run(CC + ['-I', ROOT / 'src/servers/redis', '-I', ROOT / 'include',
                         HERE / (program.name + '.c'),
                         *(part for source, part in parts.items() if source.name in PARTS),
                         library.parent / 'tests/kinds/libtest_kinds.a', '-L', library, '-lweir',
                         '-lcmocka', '-lm', '-Wl,-rpath,%s' % library, '-o', program], check=True)
    ended = subprocess.run(['timeout', '100', program], capture_output=True, text=True)
    why = re.findall(r'^\[ +(?:FAILED|ERROR) +\] (test_\w+)$', ended.stderr, re.M)
    return ended.returncode == 0, (why or ['it ended'])[0]


def run(work, parts, library, test):
    if '.' not in test:
        return run_program(work, parts, library, test)
    module = work / 'weir-redis.so'
    subprocess.run(CC + ['-shared', *parts.values(), '-L', library, '-lweir', '-lsodium', '-lm',
                         '-Wl,-rpath,%s' % library, '-o', module], check=True)
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
    return run(work, {**parts, source: work / 'changed.o'}, library, test)


def main():
    library, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        parts = compile_all(work)
        for test in sorted({mutant[-1] for mutant in MUTANTS if not names or mutant[0] in names}):
            passed, why = run(work, parts, library, test)
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
