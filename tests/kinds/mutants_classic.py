# SPDX-License-Identifier: MIT
"""The bugs planted into the classic kind: see schedule/mutants.py."""

CLASSIC = 'src/kinds/classic/classic.c'

MUTANTS = [
    ('CLASSIC_PLAIN_OR', CLASSIC,
     'weir__word_or_relaxed(word_of(a, missing[i]), UINT64_C(1) << (bit_of(a, missing[i]) % 64));',
     '*word_of(a, missing[i]) |= UINT64_C(1) << (bit_of(a, missing[i]) % 64);'),
    ('CLASSIC_SKIP_PROBE', CLASSIC,
     '\tfor (unsigned i = 0; i < n; i++)\n\t\tweir__word_or_relaxed(',
     '\tfor (unsigned i = 0; i + 1 < n; i++)\n\t\tweir__word_or_relaxed('),
    ('CLASSIC_EARLY_RETURN', CLASSIC,
     '\t\tmissing[n] = x;\n',
     '\t\tif (is_set(a, x))\n\t\t\treturn WEIR_SEEN;\n\t\tmissing[n] = x;\n'),
]
