#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the tests find bugs? Plants each bug into a copy of src/replica/trust and runs the tests with
it. A test must fail for each bug.

usage: mutants.py LIBRARY_FOLDER [NAME...]          CC chooses the compiler"""
import os, re, shlex, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE, SOURCES = ROOT / 'tests/replica/trust', ROOT / 'src/replica/trust'
FAULT = ROOT / 'tests/fault'
CC = shlex.split(os.environ.get('CC', 'gcc')) + [
    '-std=gnu11', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-w', '-O1', f'-I{ROOT}/include',
    f'-I{ROOT}/src/replica']
TESTS = ['keys', 'signatures', 'state', 'attacks', 'processes', 'faults', 'secret']
SHIM = ['shim', 'shim_files', 'shim_memory', 'shim_waits', 'power']
PARTS = ['file', 'keys', 'state', 'trust']
MUTANTS = [
    # files
    ('FIFO_BLOCKS', 'file.c', 'O_RDONLY | O_NONBLOCK | O_NOCTTY', 'O_RDONLY | O_NOCTTY'),
    ('ANY_KIND_OF_FILE', 'file.c', 'n == 0 && !S_ISREG(st.st_mode)', '0'),
    ('LOCK_OF_ANY_KIND', 'file.c', 'fd >= 0 && !S_ISREG(st.st_mode)', '0'),
    ('ANY_OWNER', 'file.c', 'n == 0 && st.st_uid != geteuid() && st.st_uid != 0', '0'),
    ('ANY_MODE', 'file.c', 'n == 0 && st.st_mode & others', '0'),
    ('READ_FAILS_SILENTLY', 'file.c', 'n = failed(path, "read it");', 'n = 0;'),
    ('READ_LEAKS', 'file.c', 'if (fd >= 0)\n\t\tclose(fd);\n\treturn n;', 'return n;'),
    ('LEFTOVER_STAYS', 'file.c', '(void)unlinkat(AT_FDCWD, new, 0);\n\tint fd', ';\n\tint fd'),
    ('NOT_EXCLUSIVE', 'file.c', 'O_CREAT | O_EXCL', 'O_CREAT'),
    ('WRITE_UNCHECKED', 'file.c', 'write(fd, text, len) != (ssize_t)len',
     '(write(fd, text, len), 0)'),
    ('SHORT_WRITE_IS_WHOLE', 'file.c', 'write(fd, text, len) != (ssize_t)len',
     'write(fd, text, len) < 0'),
    ('MODE_UNCHANGED', 'file.c', 'fchmod(fd, mode)', '0'),
    ('FILE_NOT_SYNCED', 'file.c', ' || fsync(fd) ||\n', ' ||\n'),
    ('RENAME_BEFORE_SYNC', 'file.c', 'fsync(fd) ||\n\t    (replace ? renameat(AT_FDCWD, new, '
     'AT_FDCWD, path) :\n\t               linkat(AT_FDCWD, new, AT_FDCWD, path, 0))',
     '(replace ? renameat(AT_FDCWD, new, AT_FDCWD, path) :\n'
     'linkat(AT_FDCWD, new, AT_FDCWD, path, 0)) || fsync(fd)'),
    ('KEYS_ARE_REPLACED', 'file.c', '(replace ? renameat', '(1 ? renameat'),
    ('TEMPORARY_STAYS', 'file.c', 'close(fd);\n\t\t(void)unlinkat(AT_FDCWD, new, 0);',
     'close(fd);'),
    ('FOLDER_NOT_SYNCED_AFTER', 'file.c', 'err = weir__folder_sync(path, 0);', ''),
    ('KEY_STAYS_UNSYNCED', 'file.c', 'if (err && !replace)', 'if (0)'),
    ('FOLDER_SYNC_UNCHECKED', 'file.c', '|| fsync(fd))\n\t\terr = failed(folder',
     '|| (fsync(fd), 0))\n\t\terr = failed(folder'),
    ('ANY_FOLDER', 'file.c', 'st.st_mode & others && !(st.st_mode & S_ISVTX)', '0'),
    ('ANY_FOLDERS_OWNER', 'file.c', ' ||\n\t                    (st.st_uid != geteuid() && '
     'st.st_uid != 0)', ''),
    ('NO_STICKY_FOLDER', 'file.c', ' && !(st.st_mode & S_ISVTX)', ''),
    ('NO_LOCK', 'file.c', '!err && flock(fd, LOCK_EX | LOCK_NB)', '0'),
    ('LOCK_FOR_EVER', 'file.c', 'errno != EWOULDBLOCK || !tries--', 'errno != EWOULDBLOCK'),
    ('LOCK_LEAKS', 'file.c', 'else if (err)\n\t\tclose(fd);', ''),
    # keys and signatures
    ('UPPER_CASE', 'keys.c', 'return lower && memcmp', 'return memcmp'),
    ('ANY_WORD', 'keys.c', 'memcmp(line, first, FIRST) == 0 &&', ''),
    ('ANY_END_OF_LINE', 'keys.c', "line[WEIR_KEY_LINE - 1] == '\\n' &&", ''),
    ('ANY_DIGIT', 'keys.c', '!sodium_hex2bin(key,', '1 | sodium_hex2bin(key,'),
    ('KEY_FILE_LEFT', 'keys.c', 'char *text = sodium_malloc(room);',
     'static char left[6000], *text = left;\n#define sodium_free(x) (void)(x)\n'),
    ('REST_IGNORED', 'keys.c', '(n == 0 || bytes != n * WEIR_KEY_LINE)', 'n == 0'),
    ('NO_KEY_IS_ENOUGH', 'keys.c', 'n == 0 || bytes != n', 'bytes != n'),
    ('GROUP_WRITES_KEYS', 'keys.c', ' S_IWGRP | S_IWOTH);', ' S_IWOTH);'),
    ('OTHERS_READ_SECRET', 'keys.c', 'S_IRWXO | S_IWGRP', 'S_IWOTH | S_IWGRP'),
    ('SECRET_MODE', 'keys.c', 'WEIR_KEY_LINE, 0600, false', 'WEIR_KEY_LINE, 0644, false'),
    ('SECRET_STAYS', 'keys.c', '(void)unlink(secret_file);', ';'),
    ('SEED_FIXED', 'keys.c', 'randombytes_buf(p->seed, sizeof p->seed);',
     'memset(p->seed, 7, sizeof p->seed);'),
    ('NO_DOMAIN', 'keys.c', 'crypto_sign_update(state, (const unsigned char *)domain, '
     'sizeof domain - 1);', ''),
    ('TEXT_CUT', 'keys.c', '(const unsigned char *)text, len);\n}\n\nstatic void put_signature',
     '(const unsigned char *)text, len - (len > 0));\n}\n\nstatic void put_signature'),
    ('SIGNATURE_UNVERIFIED', 'keys.c',
     '&&\n\t\t    crypto_sign_final_verify(&state, signature, keys) == 0)', ')'),
    ('LINE_FORM_UNCHECKED', 'keys.c', 'memcmp(again, line, line_len) == 0 &&', ''),
    ('LENGTH_UNCHECKED', 'keys.c', 'line_len != sizeof again - 1', 'line_len < sizeof again - 1'),
    ('FIRST_KEY_ALONE', 'keys.c', 'for (size_t i = 0; i < n; i++, keys',
     'for (size_t i = 0; i < 1; i++, keys'),
    ('KNOWN_FORGOTTEN', 'keys.c', 'known |=', 'known &='),
    ('CLOCK_AHEAD', 'keys.c', 'ahead ? now_ms - server_ms :', 'ahead ? 0 :'),
    ('CLOCK_BEHIND', 'keys.c', ': server_ms - now_ms;', ': 0;'),
    ('NEVER_EXPIRES_STAYS', 'keys.c', '!life_ms || !m->expires_ms', '!life_ms'),
    ('AHEAD_STAYS', 'keys.c', 'm->signed_ms - now_ms > CLOCK_MS', 'false'),
    ('HALF_A_LIFE', 'keys.c', 'life_ms / 4', 'life_ms / 2'),
    # the state
    ('CHECKSUM_IGNORED', 'state.c', 'memcmp(again, text, n) == 0',
     'memcmp(again, text, n - 65) == 0'),
    ('FORM_IGNORED', 'state.c', 'format_text(again, h, set) == n && memcmp(again, text, n) == 0',
     'format_text(again, h, set) > 0 && n > 65 && memcmp(strstr(again, " 0123"), '
     'strstr(text, " 0123") ?: "", 90) == 0'),
    ('TAIL_IGNORED', 'state.c', 'format_text(again, h, set) == n',
     '(n = format_text(again, h, set))'),
    ('DAMAGED_IS_ABSENT', 'state.c', 'return weir_fail(-EBADMSG', 'return 0 * weir_fail(-EBADMSG'),
    ('READ_FAILURE_IS_ABSENT', 'state.c', 'n == -ENOENT ? 0 : (int)n', '0'),
    ('ABSENT_IS_REFUSED', 'state.c', 'n == -ENOENT ? 0 : (int)n', '(int)n'),
    ('LINKS_FOLLOWED', 'state.c', 'O_NOFOLLOW', '0'),
    ('GROUP_WRITES_STATE', 'state.c', 'weir__file_read(path, S_IWGRP | S_IWOTH',
     'weir__file_read(path, S_IWOTH'),
    ('GROUP_WRITES_FOLDER', 'state.c', 'weir__folder_sync(path, S_IWGRP | S_IWOTH)',
     'weir__folder_sync(path, S_IWOTH)'),
    ('READ_UNSYNCED', 'state.c', 'int err = weir__folder_sync(path, S_IWGRP | S_IWOTH);',
     'int err = 0;'),
    ('ANY_SETS_STATE', 'state.c', 'strcmp(of, set) == 0', '1'),
    ('STATE_FOR_ALL', 'state.c', '0600, true', '0644, true'),
    # the order of checks
    ('UNSIGNED_TAKEN', 'trust.c', 'text, len, signature, signature_len);\n\tif (!err',
     'text, len, signature, signature_len) * 0;\n\tif (!err'),
    ('ANY_SET', 'trust.c', 'strcmp(m->set, t->set) != 0', '0'),
    ('ROLLBACK', 'trust.c', 'if (order < 0)', 'if (0)'),
    ('ERA_IGNORED', 'trust.c',
     'int order = weir__version_compare(next->version, accepted->version);',
     'int order = (next->version.number > accepted->version.number) - '
     '(next->version.number < accepted->version.number);'),
    ('TWINS_ARE_ONE', 'trust.c', '!order && !same(next, accepted)', '0'),
    ('TWINS_BY_ID', 'trust.c', '!order && !same(next, accepted)',
     '!order && next->id != accepted->id'),
    ('EXPIRY_IGNORED', 'trust.c', '!h->expires_ms || time_ms < h->expires_ms', '1'),
    ('EXPIRES_LATE', 'trust.c', 'time_ms < h->expires_ms)', 'time_ms <= h->expires_ms)'),
    ('NEVER_IS_EXPIRED', 'trust.c', '!h->expires_ms || time_ms', 'time_ms'),
    ('CLOCK_BELIEVED', 'trust.c', 'now.wall_ms > floor_ms ? now.wall_ms : floor_ms',
     'now.wall_ms'),
    ('WALL_IGNORED', 'trust.c', 'now.wall_ms > floor_ms ? now.wall_ms : floor_ms', 'floor_ms'),
    ('FLOOR_OUTLIVES', 'trust.c',
     'order ? next->signed_ms :\n\t                            accepted->signed_ms + '
     'accepted->ran_ms',
     'accepted->signed_ms + accepted->ran_ms'),
    ('TIME_STANDS_TAKEN', 'trust.c', 'accepted->signed_ms + accepted->ran_ms, now)',
     'accepted->signed_ms, now)'),
    ('TIME_STANDS_HELD', 'trust.c', 'check_expiry(t, h, h->signed_ms + h->ran_ms, now)',
     'check_expiry(t, h, h->signed_ms, now)'),
    ('RUN_NOT_NOTED', 'trust.c', 'err = write_state(t, NULL, now);', ';'),
    ('RUN_NOT_READ', 'trust.c', 'ran_ms > file.ran_ms ? ran_ms : file.ran_ms', 'ran_ms'),
    ('RUN_NOT_KEPT', 'trust.c', 'file.ran_ms = ran_ms > file.ran_ms ? ran_ms : file.ran_ms;', ''),
    ('RUN_COUNTED_TWICE', 'trust.c', '*accepted = file;\n\tt->at_ms = now.run_ms;',
     '*accepted = file;'),
    ('RUN_OF_THE_BEFORE', 'trust.c', 'if (same(&file, accepted)) {', '{'),
    ('NOTE_UNREPORTED', 'trust.c', 'return expired ? expired : err;', 'return expired;'),
    ('EXPIRED_UNREPORTED', 'trust.c', 'return expired ? expired : err;', 'return err;'),
    ('FALLEN_FILE_BELIEVED', 'trust.c',
     'weir__version_compare(file.version, accepted->version) < 0',
     '0'),
    ('USED_BEFORE_WRITTEN', 'trust.c', 'return err == HIGHER ? write_state(t, &next, now) : err;',
     'if (err == HIGHER) { t->accepted = next; return 0; } return err;'),
    ('WRITE_UNCHECKED_HERE', 'trust.c', 'if (!err)\n\t\t\terr = read_state(t, now);', 'err = 0;'),
    ('JUDGED_ONCE', 'trust.c', 'higher ? check_version(t, higher, now) : read_state(t, now)',
     'higher ? HIGHER : read_state(t, now)'),
    ('LOCK_KEPT', 'trust.c', 'close(lock);', ''),
    ('LOCK_UNCHECKED', 'trust.c', 'if (lock < 0)\n\t\treturn lock;', ''),
    ('NO_STATE_FILE', 'trust.c', 'if (!state_file || !*state_file)', 'if (0)'),
    ('EMPTY_STATE_FILE', 'trust.c', '!state_file || !*state_file', '!state_file'),
    ('OPENED_UNREAD', 'trust.c', 'n < 0 ? n : read_state(t, now)', 'n < 0 ? n : 0'),
    ('KEYS_UNREAD', 'trust.c', 'n < 0 ? n : read_state(t, now)', 'read_state(t, now)'),
    ('IMAGE_FORGOTTEN', 'trust.c', 'memcpy(next.image, m->image, sizeof next.image);', ''),
]


def compile_one(source, out):
    subprocess.run(CC + ['-c', source, '-o', out, f'-I{SOURCES}'], check=True)


def run_tests(folder, objects, library, files):
    """Return: what a test found, or None."""
    wraps = re.findall(r"'(\w+)'", re.search(r"foreach name : (\['calloc'.*?\])",
                       (FAULT / 'meson.build').read_text(), re.S).group(1))
    work = folder.parent
    for test in TESTS:
        shim = [f'-Wl,--wrap={name}' for name in wraps] + [work / f'{s}.o' for s in SHIM]
        subprocess.run(CC + [*(shim if test == 'faults' else []), *objects, work / f'{test}.o',
                             '-o', folder / test, '-L', library, '-lweir', '-lcmocka', '-lsodium',
                             '-lpthread'], check=True)
        try:
            ended = subprocess.run([folder / test], capture_output=True, text=True, timeout=120,
                                   errors='replace',
                                   env={**os.environ, 'LD_LIBRARY_PATH': str(library),
                                        'TMPDIR': files})
        except subprocess.TimeoutExpired:
            return f'{test} hangs'
        if ended.returncode:
            why = re.findall(r'^\[  FAILED  \] ([a-z]\w*)$', ended.stdout + ended.stderr, re.M)
            return why[0] if why else f'{test} ended by {ended.returncode}'
    return None


def plant(work, library, files, name, file, old, new):
    folder = work / name
    folder.mkdir()
    text = (SOURCES / file).read_text()
    if text.count(old) != 1:
        raise SystemExit(f'{name}: this stands in {file} {text.count(old)} times:\n{old}')
    (folder / file).write_text(text.replace(old, new))
    compile_one(folder / file, folder / 'bug.o')
    return run_tests(folder, [folder / 'bug.o' if f'{p}.c' == file else work / f'{p}_part.o'
                              for p in PARTS], library, files)


def main():
    library, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool, \
            tempfile.TemporaryDirectory(dir=memory) as files:
        work = Path(folder)
        (work / 'plain').mkdir()
        for test in TESTS:
            compile_one(HERE / f'test_{test}.c', work / f'{test}.o')
        for part in PARTS:
            compile_one(SOURCES / f'{part}.c', work / f'{part}_part.o')
        for part in SHIM:
            compile_one(FAULT / f'{part}.c', work / f'{part}.o')
        why = run_tests(work / 'plain', [work / f'{p}_part.o' for p in PARTS], library, files)
        if why:
            raise SystemExit(f'without any bug: {why}')
        chosen = [m for m in MUTANTS if not names or m[0] in names]
        missed = 0
        for (name, *_), why in zip(chosen, pool.map(
                lambda m: plant(work, library, files, *m), chosen)):
            missed += why is None
            print(f'{name:26}{"found" if why else "MISSED"}  {why or ""}', flush=True)
    print(f'{missed} of {len(chosen)} missed')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
