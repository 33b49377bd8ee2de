#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages of section 3: their programs compile, run and print what the page shows, and
their synopses compile.

page_programs.py SOURCE MAN3 LIBRARY.so

A program is tests/examples/pages/NAME.c, and weir(3) of the name NAME shows it. It compiles without
a warning, runs in an empty folder, and ends with status 0.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

# The pages with examples.
PAGES = """weir_age weir_build weir_builder_create weir_can weir_clone weir_contains
    weir_contains_keys weir_count weir_create weir_delta_save weir_error_detail weir_error_last
    weir_escape weir_fill_keys weir_fold weir_follower_start weir_guard_create weir_handle_create
    weir_handle_insert weir_handle_refresh weir_handle_rollback weir_hash weir_image_inspect
    weir_image_verify weir_inline_contains weir_insert weir_insert_keys weir_kind_name weir_load
    weir_measure weir_merge weir_metrics_write weir_params_of weir_plan_make weir_reload_begin
    weir_remove weir_route weir_router_find weir_save weir_secret_read weir_small_init weir_text_key
    weir_window_advance""".split()
COLUMNS = 73 # of a program, as a page indents it on a terminal of 80 columns
SIGNS = {"\\e": "\\", "\\-": "-", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\(aq": "'", "\\&": ""}


def plain(text):
    """A literal block of a page as it is printed."""
    return re.sub(r"\\(?:\((?:ga|ha|ti|aq)|[-e&])", lambda found: SIGNS[found.group()], text)


def shown(page):
    """The program and the output in the section EXAMPLES, or None."""
    section = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH)", page, re.M | re.S)
    blocks = re.findall(r"^\.nf\n(.*?)^\.fi$", section.group(1), re.M | re.S) if section else []
    return [plain(block) for block in blocks] if len(blocks) == 2 else None


def compiled(source, library, path, *more):
    """What cc says of a file."""
    return subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread", "-I",
         os.path.join(source, "include"), path, "-Wl,-rpath," + os.path.dirname(library), *more],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def faults(name, source, library, page):
    path = os.path.join(source, "tests", "examples", "pages", name + ".c")
    with open(path, encoding="utf-8") as file:
        program = file.read().split(" */\n", 1)[1].expandtabs(4)
    found = shown(page)
    if not found or found[0] != program:
        return ["%s(3) does not show %s and its output" % (name, path)]
    wrong = ["%s: more than %d columns: %s" % (path, COLUMNS, line)
             for line in program.split("\n") if len(line) > COLUMNS]
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "program")
        said = compiled(source, library, path, "-o", built, library)
        if said:
            return wrong + ["%s: %s" % (path, said)]
        os.mkdir(os.path.join(folder, "run"))
        done = subprocess.run([built], cwd=os.path.join(folder, "run"), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)
    if done.returncode or done.stdout != found[1]:
        wrong.append("%s: status %d, and prints:\n%s%s" % (path, done.returncode, done.stdout,
                                                          done.stderr))
    return wrong


def synopsis(page):
    """The headers and prototypes of a function's page."""
    section = re.search(r"^\.SH SYNOPSIS\n(.*?)(?=^\.SH)", page, re.M | re.S).group(1)
    prototypes = re.search(r"^\.ft B\n(.*?)^\.ft R", section, re.M | re.S)
    includes = re.findall(r"^\.B (#include .*)$", section, re.M)
    return includes, plain(prototypes.group(1)) if prototypes else ""


def faults_of_synopses(source, library, pages):
    """All in one file: a prototype that differs from the header's is an error."""
    found = [synopsis(page) for page in pages.values()]
    includes = sorted({line for lines, _ in found for line in lines})
    prototypes = [text for _, text in found if text]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "synopses.c")
        # inline.h has macros of the same names as some of its functions.
        names = re.findall(r"\b(weir_\w+)\(", "\n".join(prototypes))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(includes + ["#undef " + name for name in names] + prototypes))
        said = compiled(source, library, path, "-fsyntax-only")
    wrong = ["a synopsis: " + said] if said else []
    if sum(text.count(";") for text in prototypes) < 100:
        wrong.append("under 100 functions have a synopsis")
    return wrong


def main(source, man3, library):
    library, pages = os.path.realpath(library), {}
    for name in sorted(os.listdir(man3)):
        with open(os.path.join(man3, name), encoding="utf-8") as file:
            text = file.read()
        if not text.startswith(".so "):
            pages[name[:-2]] = text
    have = {name for name, page in pages.items() if "\n.SH EXAMPLES\n" in page}
    wrong = ["%s(3) has no example" % name for name in sorted(set(PAGES) - have)]
    wrong += ["%s is not in the list of this test" % name for name in sorted(have - set(PAGES))]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for lines in pool.map(lambda name: faults(name, source, library, pages[name]),
                              sorted(have & set(PAGES))):
            wrong += lines
    wrong += faults_of_synopses(source, library, pages)
    for line in wrong:
        print(line, file=sys.stderr)
    print("%d programs" % len(have))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
