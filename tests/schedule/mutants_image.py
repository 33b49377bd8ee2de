# SPDX-License-Identifier: MIT
"""Bugs of saves, live images and followers. Schedules do not show these bugs, but the programs of
tests/fault/ do: between any two steps they inspect the file, cut the power or kill the process.
run-mutants.py plants the bugs and calls this module, which compiles the library without
instrumentation, as users do."""
import re
import subprocess
import time

LIVE, LOCK, MAP = 'src/image/live.c', 'src/image/live_lock.c', 'src/image/map.c'
REPLACE, TARGET = 'src/image/replace.c', 'src/image/target.c'
OLD_IMAGE = ('O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);\n'
             '\tif (fd < 0)\n\t\treturn errno')
FOLLOW = 'src/set/follow/follow.c'
RETRY = 'fmin(f->retry > 0 ? 2 * f->retry : first_retry, f->options.poll_seconds)'
FOLDER = 'n ? f->path : slash ? "/" : "."'
SYNC_ALL = 'return err ? err : sync_pages(m, m->length);'
CLAIM = 'int err = weir__live_claim(m);'

MUTANTS = [
    # the order of writes and syncs
    ('SAVE_NO_FSYNC', REPLACE, 'error = sync_retrying(r->new.fd);', 'error = 0;'),
    ('SAVE_NO_FOLDER_SYNC', REPLACE, 'error = sync_retrying(r->target.folder);', 'error = 0;'),
    ('SEALED_BEFORE_SYNC', LIVE, SYNC_ALL,
     'if (!err)\n\t\tweir__commit_store_release(commit_word(m), *commit);\n\t' + SYNC_ALL),
    ('BITS_NOT_SYNCED', LIVE, SYNC_ALL, 'return err;'),
    ('LIVE_NOT_SYNCED', LIVE,
     'weir__commit_store_release(commit_word(m), WEIR_IMAGE_LIVE);\n'
     '\treturn sync_pages(m, WEIR_IMAGE_HEAD);',
     'weir__commit_store_release(commit_word(m), WEIR_IMAGE_LIVE);\n\treturn 0;'),
    ('LIVE_NOT_MARKED', MAP, 'int err = weir__live_begin(m);', 'int err = 0;'),
    ('SEAL_NOT_SYNCED', LIVE,
     'int err = msync(m->image, WEIR_IMAGE_HEAD, MS_SYNC) ? errno : 0;', 'int err = 0;'),
    # the lock ([LIVE-LOCKS] to [SEALED-READ-ONLY])
    ('MAPPED_UNLOCKED', LOCK, 'if (set_lock(&a->lock->file, F_RDLCK))', 'if (0)'),
    ('SEALED_UNLOCKED', LIVE, CLAIM, 'int err = 0;'),
    ('SEALED_SHARED', LOCK, 'if (set_lock(&l->file, F_WRLCK))', 'if (set_lock(&l->file, F_RDLCK))'),
    ('LOCK_STAYS', LOCK, '(void)set_lock(&m->lock.file, F_UNLCK);\n\tif (is_open(&m->lock.image))\n'
     '\t\t(void)set_lock(&m->lock.image, F_UNLCK);\n\tweir__live_close(m);', ''),
    ('SEALED_TAKES_INSERTS', LIVE, 'weir__filter_read_only(f);', ''),
    ('VERIFIED_ONCE', LIVE,
     'return weir__commit_load_after(commit_word(m)) == commit ? err : went_live(m);',
     'return err;'),
    ('SETTLED_BY_THE_FIRST_LOOK', 'src/image/preface.c',
     'source->identity.commit = weir__image_get64(bytes + WEIR_IMAGE_COMMIT);', ''),
    # when a follower polls, and what it watches
    ('RETRY_NOT_DOUBLED', FOLLOW, '2 * f->retry', 'f->retry'),
    ('RETRY_NOT_RESET', FOLLOW, 'f->retry = 0;\n\t\tif', 'if'),
    ('RETRY_UNBOUNDED', FOLLOW, RETRY, 'f->retry > 0 ? 2 * f->retry : first_retry'),
    ('DELAY_OF_THE_RETRY', FOLLOW,
     '\t\tf->delay = f->options.poll_seconds;\n\t}', '\t}'),
    ('ROOT_AS_NO_FOLDER', FOLLOW, FOLDER, 'n ? f->path : "."'),
    ('NO_FOLDER_AS_ROOT', FOLLOW, FOLDER, 'n ? f->path : "/"'),
    ('WATCHED_AFTER_THE_LOOK', FOLLOW,
     '\t\tif (!f->options.poll_only)\n'
     '\t\t\t/* before the refresh, so that no later change is missed */\n'
     '\t\t\tweir__notice_renew(&f->notice);\n\t\trefresh_once(f);',
     '\t\trefresh_once(f);\n\t\tif (!f->options.poll_only)\n\t\t\tweir__notice_renew(&f->notice);'),
    # the files that may be replaced, if only images may
    ('ONLY_IMAGES_FOLLOWS', TARGET, OLD_IMAGE, OLD_IMAGE.replace('O_NOFOLLOW | ', '')),
    ('ONLY_IMAGES_WAITS', TARGET, OLD_IMAGE, OLD_IMAGE.replace('O_NONBLOCK | ', '')),
    ('ONLY_IMAGES_ANY_KIND', TARGET, '(fstat(fd, &st) || !S_ISREG(st.st_mode))\n\t\treturn false',
     '(fstat(fd, &st))\n\t\treturn false'),
    ('ONLY_IMAGES_OF_FOUR_BYTES', TARGET, '"WEIRIMG1", sizeof begin) == 0', '"WEIRIMG1", 4) == 0'),
    ('ONLY_IMAGES_STAYS_OPEN', TARGET, '\tclose(fd);\n\treturn is ', '\treturn is '),
    ('ONLY_IMAGES_UNREADABLE', TARGET, 'return errno == ENOENT ? 0 : fail(path, errno, "see',
     'return errno == ENOENT || errno == EACCES ? 0 : fail(path, errno, "see'),
    ('ONLY_IMAGES_UNREAD', TARGET, 'return n == 0 || (n', 'return n <= 0 || (n'),
    ('ONLY_IMAGES_BEFORE', REPLACE, 'r->only_images ? weir__target', '0 ? weir__target'),
]
NAMES = {name for name, *_ in MUTANTS}
TESTS = ['test_follow_faults', 'test_power_cut', 'test_image_live', 'test_image_links',
         'test_live_killed']
LIBRARIES = ['-lcmocka', '-lurcu-bp', '-lurcu-memb', '-lurcu-mb', '-lurcu-qsbr', '-lpthread', '-lm']
SHARED = ['shim', 'shim_files', 'shim_memory', 'shim_steps', 'shim_waits', 'power']
FAILED = re.compile(r'^\[  FAILED  \] (test_\w+)$', re.M)
WHY = re.compile(r'\w+\.[ch]:\d+', re.M)


def compile_all(root, cc, tree, sources, out):
    """Compiles the library in @tree, and TESTS."""
    out.mkdir()
    flags = [*cc, '-O1', '-D_FILE_OFFSET_BITS=64', f'-I{tree}/include', f'-I{tree}/src',
             f'-I{tree}/config']
    fault = [root / f'tests/fault/{name}.c' for name in SHARED + TESTS]
    for source in [*sources, *fault]:
        parts = source.parts[-2:] if source in fault else source.relative_to(tree).parts
        made = out / ('_'.join(parts)[:-2] + '.o')
        subprocess.run([*flags, '-c', source, '-o', made], check=True)


def link(root, cc, out):
    """Links TESTS with the shim between the library and the C library. The list of wrapped calls is
    in tests/fault/meson.build."""
    text = (root / 'tests/fault/meson.build').read_text()
    lists = re.findall(r'foreach name : \[([^]]*)\]', text)
    calls = re.findall(r"'(\w+)'", next(part for part in lists if "'fsync'" in part))
    steps = re.findall(r"'(\w+)'", next(part for part in lists if "'shard_copy'" in part))
    wrap = [f'-Wl,--wrap={name}' for name in calls + [f'weir__{step}' for step in steps]]
    library = sorted(out.glob('src_*.o'))
    for test in TESTS:
        objects = [out / f'fault_{name}.o' for name in [*SHARED, test]]
        subprocess.run([*cc, *objects, *library, *wrap, *LIBRARIES, '-o', out / test],
                       check=True)


def run(out):
    """Return: the test that failed (None if all passed), the line of the failure, the seconds."""
    begin = time.monotonic()
    for test in TESTS:
        try:
            ended = subprocess.run([out / test], capture_output=True, text=True, timeout=120)
            output, status = ended.stdout + ended.stderr, ended.returncode
        except subprocess.TimeoutExpired:
            output, status = '', 'no end after 120 s'
        if status:
            names, places = FAILED.findall(output), WHY.findall(output)
            return (f'{test}.c {names[0]}' if names else f'{test}.c',
                    places[0] if places else str(status), time.monotonic() - begin)
    return None, '', time.monotonic() - begin
