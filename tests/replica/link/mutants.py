#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests of links find bugs? Plants each bug into a copy of src/replica/link, builds the
tests with it, and runs the named test, which must fail. Without a bug all tests must pass.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler"""
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE, SOURCES = ROOT / 'tests/replica/link', ROOT / 'src/replica/link'
CC = shlex.split(os.environ.get('CC', 'gcc')) + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O1']
LIBRARIES = '-lweir -lhiredis -lssl -lcrypto -lpthread -lcmocka'.split()
PATIENCE = 120 # seconds; a bug may make a test wait for ever
# Name, file, old text, new text, and the test: a C program, or a Python file and one of its tests.
MUTANTS = [
    ('PASSWORD_IN_THE_URL', 'url.c', "	if (strchr(at, '@')) /*", "	if (0) /*", 'url'),
    ('NUL_IN_A_PASSWORD', 'url.c', '		if (!c)\n			return false;', '',
     'url'),
    ('TOO_MANY_HOSTS', 'url.c', 'if (u->n == WEIR_URL_HOSTS)', 'if (u->n > WEIR_URL_HOSTS)', 'url'),
    ('PORT_0', 'url.c', ' || port == 0)', ')', 'url'),
    ('USER_WITHOUT_PASSWORD', 'link.c', 'if ((o->user || m->url.user) &&', 'if (0 &&', 'url'),
    ('TLS_OPTIONS_IGNORED', 'link.c', 'o->server_name || o->insecure)', 'o->server_name)',
     'url'),
    ('REST_STAYS_INTERRUPTED', 'link.c', '(void)eventfd_read(l->wire.stream.interrupt, &n);', '',
     'url'),
    ('PIECES_FOR_EVER', 'wire.c', 'return piece < all ? piece : all;', 'return piece;', 'wire'),
    ('NO_TOTAL_FOR_DRIPS', 'wire.c', ': begun + limit.ms + bytes / BYTES_A_MS;', ': UINT64_MAX;',
     'hostile Hostile.test_slow_for_ever'),
    ('DRIPS_OF_TAKE', 'wire.c', 'else if (weir__wire_now() > end)', 'else if (0)',
     'halves Halves.test_drips_are_not_taken_for_ever'),
    ('A_TRY_WITHOUT_END', 'wire.c', '(struct weir_limit){ m->o.connect_ms, end }',
     '(struct weir_limit){ m->o.connect_ms, 0 }',
     'hostile Hostile.test_a_slow_greeting'),
    ('TLS_WITHOUT_END', 'tls.c', 'weir__stream_wait(s, events, end)',
     'weir__stream_wait(s, events, weir__wire_now() + 900)',
     'hostile Hostile.test_drips_of_tls'),
    ('ARRIVING_IS_NOT_INTERRUPTED', 'wire.c',
     'if (!err && weir__stream_interrupted(&w->stream))', 'if (0)', 'wire'),
    ('INTERRUPTED_ONCE', 'link.c', 'if (weir__stream_interrupted(&l->wire.stream))', 'if (0)',
     'halves Beside.test_each_is_interrupted_alone'),
    ('SIGPIPE', 'wire.c', 'send(s->fd, data, len, MSG_NOSIGNAL)', 'send(s->fd, data, len, 0)',
     'wire'),
    ('SIGPIPE_OF_TLS', 'tls.c', '(size_t)len, MSG_NOSIGNAL)', '(size_t)len, 0)',
     'tls Tls.test_a_real_redis'),
    ('HUGE_COMMAND', 'wire.c', ' || all >= COMMAND)', ')', 'wire'),
    ('MANY_ELEMENTS', 'reply.c', 'return r->elements > WEIR_REPLY_ELEMENTS ? NULL :', 'return',
     'hostile Hostile.test_declared_too_much'),
    ('ELEMENTS_OF_ONE_ARRAY', 'reply.c', 'r->elements += depth', 'r->elements = depth',
     'hostile Hostile.test_declared_too_much'),
    ('ELEMENTS_OF_ALL_ANSWERS', 'reply.c', '	r->elements = 0;\n', '',
     'hostile Hostile.test_each_answer_has_the_whole_limit'),
    ('DEPTH', 'reply.c', 'depth > WEIR_REPLY_DEPTH ?', '0 ?', 'hostile Hostile.test_nested'),
    ('DECLARED_BYTES', 'reply.c', 'if (string && whole && strtoull', 'if (0 && strtoull',
     'hostile Hostile.test_a_long_string_that_does_not_come'),
    ('BYTES_WITHOUT_END', 'reply.c', 'if (r->bytes > r->limit)', 'if (0)',
     'hostile Hostile.test_without_end'),
    ('BYTES_OF_ALL_ANSWERS', 'reply.c', 'r->bytes = r->reader->len - r->reader->pos;', ';',
     'hostile Hostile.test_each_answer_has_the_whole_limit'),
    ('BYTES_OF_THE_NEXT_FORGOTTEN', 'reply.c', 'r->bytes = r->reader->len - r->reader->pos;',
     'r->bytes = 0;', 'wire'),
    ('A_LINE_WITHOUT_END', 'reply.c', 'if (n > (string ? LENGTH : WEIR_REPLY_LINE)', 'if (0',
     'hostile Hostile.test_lines_without_end'),
    ('TERMINAL', 'reply.c', "reply->str[i] = '?';", ';',
     'hostile Hostile.test_what_a_terminal_would_obey'),
    ('OUT_OF_STEP', 'link.c', '!l->pending && weir__reader_has_unread(&l->wire.reader)', '0',
     'hostile Hostile.test_what_nobody_asked'),
    ('PASSWORD_REPEATED', 'wire.c', '!secret ? r->str : v ?', 'v == NULL ? r->str : v ?',
     'hostile Hostile.test_a_password_is_not_shown'),
    ('LOADING_IS_AN_ANSWER', 'wire.c', '{ "LOADING", -EAGAIN, false, "" },', '',
     'hostile Hostile.test_not_now'),
    ('READONLY_STAYS', 'wire.c', '{ "READONLY", -EAGAIN, true,', '{ "READONLY", -EAGAIN, false,',
     'hostile Hostile.test_not_now'),
    ('BUSYGROUP_IS_BUSY', 'wire.h', 'strchr(" ,.", r->str[n])', '1',
     'hostile Hostile.test_an_error_of_the_command'),
    ('FULL_IS_AN_ERROR', 'wire.c', '{ "ERR max number of clients reached", -EAGAIN, true, "" },',
     '',
     'hostile Hostile.test_the_server_takes_nobody'),
    ('DESCRIPTOR_LEFT', 'wire.c', '		close(s->fd);\n', '',
     'hostile Hostile.test_no_descriptor_is_left'),
    ('EVENTFD_LEFT', 'link.c', '		close(l->wire.stream.interrupt);', '		;',
     'hostile Hostile.test_no_descriptor_is_left'),
    ('A_NAME_ASKED_EACH_TIME', 'resolve.c', 'const bool fits = !found &&', 'const bool fits = 0 &&',
     'resolve'),
    ('ANOTHER_HOSTS_ANSWER', 'resolve.c', ' && strcmp(q->port, port) == 0 &&', ' &&', 'resolve'),
    ('A_NAME_WAITED_FOR', 'resolve.c', 'if (stop || weir__wire_now() >= end)', 'if (stop)',
     'resolve'),
    ('A_NAME_NOT_INTERRUPTED', 'resolve.c', 'const bool stop = weir__stream_interrupted(s);',
     'const bool stop = 0;', 'resolve'),
    ('NUMBERS_ARE_ASKED', 'resolve.c', 'if (getaddrinfo(host->name, port, &numbers, out) == 0)',
     'if (0)', 'resolve'),
    ('THE_FIRST_ADDRESS_HAS_ALL', 'wire.c', 'now + (end - now) / left : now', 'end : now',
     'resolve'),
    ('BESIDE_ASKS_AGAIN', 'link.c', '	*place = l->main->server;\n',
     '	*place = l->main->server;\n	place->len = 0;\n', 'resolve'),
    ('BESIDE_STAYS', 'link.c', 'l->server.number != place->number', '0',
     'halves Beside.test_at_one_address'),
    ('BESIDE_ALONE', 'link.c', 'return place->number ? 0 :', 'return place->port ? 0 :\n1 ? 0 :',
     'halves Beside.test_at_one_address'),
    ('BESIDE_IS_SENT_ELSEWHERE', 'link.c', 'if (!l->was_moved || l->main != l)',
     'if (!l->was_moved)',
     'halves Beside.test_one_that_is_sent_elsewhere_does_not_go'),
    ('BESIDE_INTERRUPTS_ALL', 'link.c', '(void)eventfd_write(l->wire.stream.interrupt, 1);',
     '(void)eventfd_write(l->main->wire.stream.interrupt, 1);',
     'halves Beside.test_each_is_interrupted_alone'),
    ('OWED_AFTER_THE_END', 'link.c', '	l->pending = 0;\n', '',
     'halves Halves.test_what_does_not_come_is_not_waited_for'),
    ('CALL_AMONG_A_FLIGHT', 'link.c', '	if (l->pending)\n', '	if (0)\n',
     'halves Halves.test_a_flight'),
    ('OWN_LIMIT_IGNORED', 'link.c', '{ ms ? ms : l->main', '{ l->main',
     'halves Halves.test_a_blocking_read'),
    ('MOVED_IS_AN_ANSWER', 'link.c', '&& moved(l, *reply);', '&& 0;',
     'elsewhere Elsewhere.test_sent_elsewhere'),
    ('MOVED_WITHOUT_END', 'link.c', 'i <= REDIRECTS', 'i <= 50 * REDIRECTS',
     'elsewhere Elsewhere.test_sent_in_a_circle'),
    ('MOVED_FOR_EVER', 'link.c', '	if (other)\n		l->moved.port = 0;', '',
     'elsewhere Elsewhere.test_elsewhere_nobody_answers'),
    ('ASK_IS_AN_ANSWER', 'wire.c', '{ "ASK", -EAGAIN', '{ "ASKED", -EAGAIN',
     'elsewhere Elsewhere.test_ask_is_not_followed'),
    ('THE_SAME_HOST_AGAIN', 'link.c', '		weir__url_rotate(&l->config.url);\n	if (other)',
     '		;\n	if (other)', 'elsewhere Elsewhere.test_the_next_of_several'),
    ('A_PORT_OF_NONSENSE', 'master.c', ' || n > 65535 || *end ||', ' ||',
     'elsewhere Elsewhere.test_nonsense_of_a_cluster'),
    ('A_NAME_FOR_TERMINALS', 'master.c', "if (name[i] <= ' ' || name[i] > '~')", 'if (0)',
     'sentinel Sentinels.test_one_that_lies'),
    ('NO_ROLE', 'master.c', 'return err || !m->url.sentinel ? err : check_role(w, m);',
     'return err;',
     'sentinel Sentinels.test_one_that_is_late'),
    ('CUT_OFF_IS_ASKED_FIRST', 'master.c', '		weir__url_rotate(&m->url);\n', '',
     'sentinel Sentinels.test_one_that_is_cut_off'),
    ('A_PORT_HAS_NOT_MOVED', 'link.c', 'named.port != l->server.port || ', '',
     'sentinel Sentinels.test_has_the_master_moved'),
    ('A_HOST_HAS_NOT_MOVED', 'link.c', ' || strcmp(named.name, l->server.name) != 0', '',
     'sentinel Sentinels.test_has_the_master_moved'),
    ('A_SENTINEL_THAT_HANGS', 'master.c', 'weir__wire_call(&w, args, 3, limit, &reply)',
     'weir__wire_call(&w, args, 3, (struct weir_limit){ m->o.answer_ms, 0 }, &reply)',
     'sentinel Sentinels.test_one_that_hangs_is_not_waited_for'),
    ('ITS_PASSWORD_IS_THE_MASTERS', 'master.c', '{ m->o.sentinel_user, m->o.sentinel_password,',
     '{ m->o.user, m->o.password,', 'sentinel Sentinels.test_a_failover'),
    ('PASSWORD_READ_ONCE', 'master.c', 'int err = m->o.password_file ? read_secret',
     'static char once[SECRET + 1]; int err = *once ? (strcpy(secret, once), 0) :\n'
     'm->o.password_file ? read_secret(once, m->o.password_file), read_secret',
     'redis Real.test_passwords'),
    ('EMPTY_PASSWORD', 'master.c', 'return len && len < SECRET ?', 'return len < SECRET ?',
     'redis Real.test_passwords'),
    ('PASSWORD_OF_A_FIFO', 'master.c', 'S_ISREG(st.st_mode) ? 0 : -EINVAL', '0',
     'redis Real.test_passwords'),
    ('NO_DATABASE', 'wire.c', '{ s.selects && m->url.database,', '{ 0,',
     'redis Real.test_commands'),
    ('NO_NAME', 'wire.c', '{ s.selects && m->o.client_name,', '{ 0,', 'redis Real.test_commands'),
    ('ANY_CERTIFICATE', 'tls.c', 'o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER',
     'SSL_VERIFY_NONE', 'tls Tls.test_certificates_that_are_refused'),
    ('ANY_NAME', 'tls.c', 'return SSL_set1_host(ssl, name) == 1 && SSL_set', 'return SSL_set',
     'tls Tls.test_a_real_redis'),
    ('ANY_ADDRESS', 'tls.c',
     'return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;', 'return true;',
     'tls Tls.test_a_real_redis'),
    ('NO_NAME_IS_TOLD', 'tls.c', ' && SSL_set_tlsext_host_name(ssl, name) == 1;', ';',
     'tls Tls.test_the_name_is_told'),
    ('OLD_TLS', 'tls.c', 'SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION) == 1;',
     '(SSL_CTX_set_security_level(t->context, 0), 1);', 'tls Tls.test_no_old_tls'),
    ('PASSPHRASE_ON_THE_TERMINAL', 'tls.c',
     'SSL_CTX_set_default_passwd_cb(c, no_passphrase);', '(void)no_passphrase;',
     'tls Tls.test_files_that_will_not_do'),
    ('HALF_A_PAIR', 'tls.c', 'if (!o->cert_file != !o->key_file)', 'if (0)',
     'tls Tls.test_files_that_will_not_do'),
    ('SENTINELS_WITHOUT_TLS', 'wire.c', 'if (!err && m->tls)',
     'if (!err && m->tls && (!m->url.sentinel || speaker.selects))',
     'tls Tls.test_sentinels_too'),
]


def compile_one(source, out, folder):
    subprocess.run([*CC, '-I', ROOT / 'include', '-I', folder, '-I/usr/include/hiredis', '-c',
                    source, '-o', out], check=True)
    return out


def build(work):
    """Build everything once, without a bug. Return: ({source: object}, {test: object})."""
    parts = {source.name: compile_one(source, work / (source.stem + '.o'), SOURCES)
             for source in sorted(SOURCES.glob('*.c')) if source.name != 'no_tls.c'}
    tests = {name: compile_one(HERE / (name + '.c'), work / (name + '.o'), SOURCES)
             for name in ('link_call', 'test_url', 'test_wire', 'test_resolve')}
    return parts, tests


def plant(mutant, parts, folder):
    """Return: the objects with this bug, or a text that says why it cannot be planted."""
    name, file, old, new, _ = mutant
    for source in SOURCES.glob('*.[ch]'):
        (folder / source.name).write_text(source.read_text())
    text = (folder / file).read_text()
    if text.count(old) != 1:
        return '%s: %d times in %s' % (name, text.count(old), file)
    (folder / file).write_text(text.replace(old, new))
    return {**parts, **{part: compile_one(folder / part, folder / (part + '.o'), folder)
                        for part in (parts if file.endswith('.h') else [file])}}


def passes(test, parts, tests, folder, library):
    name, *question = test.split(' ')
    made = folder / ('link_call' if question else 'test_' + name)
    subprocess.run([*CC, *parts.values(), tests[made.name], '-o', made, '-L', library, *LIBRARIES],
                   check=True)
    command = ['/usr/bin/python3', '-B', '-W', 'ignore', HERE / f'test_{name}.py', made, *question]
    process = subprocess.Popen(command if question else [made], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               start_new_session=True, # without a terminal
                               env={**os.environ, 'LD_LIBRARY_PATH': str(library)})
    try:
        return process.wait(PATIENCE) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL) # with its callers and servers
        process.wait()
        return False


def judge(mutant, built, library):
    """Return: what is wrong with the tests, or None if they find the bug."""
    name, file, _, _, test = mutant
    parts, tests = built
    with tempfile.TemporaryDirectory(prefix='weir-mutants-') as folder:
        if file:
            parts = plant(mutant, parts, Path(folder))
        if isinstance(parts, str):
            return parts
        passed = passes(test, parts, tests, Path(folder), library)
    if not file:
        return None if passed else '%s fails without a bug' % test
    return '%s: not found by %s' % (name, test) if passed else None


def main():
    library, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    chosen = [m for m in MUTANTS if not wanted or m[0] in wanted]
    plain = [(None, None, None, None, test) for test in sorted({m[4] for m in chosen})]
    with tempfile.TemporaryDirectory(prefix='weir-mutants-') as folder:
        built = build(Path(folder))
        with ThreadPoolExecutor(4) as pool: # the tests mostly wait
            said = list(pool.map(lambda m: judge(m, built, library), plain + chosen))
    wrong = [one for one in said if one]
    print('\n'.join(wrong) or '%d bugs, and each is found' % len(chosen))
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
