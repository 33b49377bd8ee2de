#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program that was compiled against the public headers relies on: the declaration of each
function, the size of each struct with the place and type of each field, and each constant. Compares
that with abi.txt, which is of a 64-bit little-endian machine. A difference that is meant is written
there by --write and stands in the CHANGELOG.

usage: abi.py [--write] ROOT CC..."""
import difflib, re, subprocess, sys, tempfile, textwrap
from pathlib import Path

ENTRY = re.compile(r'^ <(\d+)><([0-9a-f]+)>: Abbrev Number: (?:0$|\d+ \(DW_TAG_(\w+)\))')
FIELD = re.compile(r'^\s+<[0-9a-f]+>\s+DW_AT_(\w+)\s*: (?:\([^)]*\):? ?)*(.*?)(?:[,\t(].*)?$')


def entries(dump):
    """By offset: (tag, attributes, children), in the dump's order."""
    found, path = {}, []
    for line in dump.splitlines():
        begin = ENTRY.match(line)
        if begin:
            level, at, tag = int(begin[1]), begin[2], begin[3]
            path = path[:level]
            if tag:
                entry = (tag, {}, [])
                found[at] = entry
                if path:
                    path[-1][2].append(entry)
                path.append(entry)
        else:
            field = FIELD.match(line)
            if field and path:
                path[-1][1][field[1]] = field[2].strip()
    return found


class Types:
    def __init__(self, dump):
        self.found = entries(dump)

    def at(self, entry):
        return self.found.get(entry[1].get('type', '<0x>')[3:-1])

    def text(self, entry):
        if entry is None:
            return 'void'
        tag, fields, children = entry
        inner = self.at(entry)
        if tag == 'pointer_type':
            return self.text(inner) + '*'
        if tag == 'const_type':
            return 'const ' + self.text(inner)
        if tag == 'array_type':
            n = [int(c[1].get('count', int(c[1].get('upper_bound', -1)) + 1)) for c in children]
            return self.text(inner) + ''.join(f'[{size}]' for size in n)
        if tag == 'subroutine_type':
            taken = [self.text(self.at(c)) for c in children if c[0] == 'formal_parameter']
            return f'{self.text(inner)}({", ".join(taken)})'
        word = {'structure_type': 'struct ', 'union_type': 'union ', 'enumeration_type': 'enum '}
        return word.get(tag, '') + fields.get('name', '')

    def fields(self, entry, base, path):
        """The fields of a struct, including those of its nameless structs."""
        for tag, fields, _ in (c for c in entry[2] if c[0] == 'member'):
            of = self.at((tag, fields, []))
            name = path + fields.get('name', '')
            bits = int(fields.get('data_bit_offset', 0))
            if 'bit_offset' in fields: # counted from the other end, in older forms of the data
                bits = 8 * int(fields['byte_size']) - int(fields['bit_offset']) - \
                       int(fields['bit_size'])
            place = base + int(fields.get('data_member_location', 0)) + bits // 8
            if of[0] in ('structure_type', 'union_type') and 'name' not in of[1]:
                yield from self.fields(of, place, name + '.' if 'name' in fields else path)
                continue
            size = f':{fields["bit_size"]} from bit {bits % 8}' if 'bit_size' in fields else ''
            yield f'  {place:5} {self.text(of)} {name}{size}'

    def listing(self):
        for tag, fields, children in self.found.values():
            name = fields.get('name', '')
            if tag == 'structure_type' and name.startswith('weir_') and 'byte_size' in fields:
                yield f'struct {name}: {fields["byte_size"]} bytes', list(
                    self.fields((tag, fields, children), 0, ''))
            elif tag == 'enumeration_type' and any(
                    c[1]['name'].startswith('WEIR_') for c in children):
                yield f'enum {name or children[0][1]["name"]}', [
                    f'  {c[1]["name"]} = {int(c[1]["const_value"], 0)}' for c in children]


def functions(headers):
    for header in headers:
        for text in re.findall(r'^WEIR_API ([^;]*);', header.read_text(), re.M):
            text = re.sub(r'\bWEIR_(MUST_CHECK|PRINTF\([^)]*\))', '', text)
            yield re.sub(r'\s+', ' ', text).strip()


def listing(root, cc):
    headers = sorted((root / 'include/weir').glob('*.h'))
    with tempfile.TemporaryDirectory() as work:
        source, made = Path(work) / 'all.c', Path(work) / 'all.o'
        source.write_text(''.join(f'#include <weir/{h.name}>\n' for h in headers))
        subprocess.run([*cc, '-std=c11', '-gdwarf-5', '-fno-eliminate-unused-debug-types', '-c',
                        '-I', root / 'include', source, '-o', made], check=True)
        dump = subprocess.run(['readelf', '--debug-dump=info', made], check=True,
                              capture_output=True, text=True).stdout
    lines = []
    for text in sorted(functions(headers), key=lambda f: re.search(r'weir_\w+(?=\()', f)[0]):
        lines += textwrap.wrap(text, 100, subsequent_indent='    ')
    for head, body in sorted(dict(Types(dump).listing()).items()):
        lines += [head, *body]
    return lines


def main():
    arguments = sys.argv[1:]
    write = arguments[:1] == ['--write']
    root, *cc = arguments[write:]
    file = Path(root) / 'tests/headers/abi.txt'
    now = listing(Path(root), cc)
    if write:
        file.write_text('\n'.join(now) + '\n')
    change = list(difflib.unified_diff(file.read_text().splitlines(), now, 'abi.txt', 'the headers',
                                       n=0, lineterm=''))
    print('\n'.join(change) if change else f'{len(now)} lines')
    return bool(change)


if __name__ == '__main__':
    sys.exit(main())
