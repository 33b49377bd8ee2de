# SPDX-License-Identifier: MIT
"""The bugs planted into the frequency kind: see schedule/mutants.py."""

KERNEL = 'src/kinds/frequency/frequency.h'

MUTANTS = [
    ('FREQUENCY_STORE', KERNEL,
     'while (chosen && !weir__word_swap_relaxed(key.word[i], &word, word + chosen));',
     'while (*key.word[i] = WEIR__LE64(word + chosen), 0);'),
    ('FREQUENCY_DECIDES_ONCE', KERNEL,
     'do\n\t\t\tchosen = least_of(word, key.mask[i], b, g, &least);\n\t\twhile',
     'chosen = least_of(word, key.mask[i], b, g, &least);\n\t\twhile'),
    ('FREQUENCY_LAST_WORD_IS_NEW', KERNEL, 'fresh |= least == 0;', 'fresh = least == 0;'),
    # [WORD-DECIDES]: the insert compares with the smallest counter of all words, not of one word
    ('FREQUENCY_ACROSS_WORDS', KERNEL,
     'chosen = least_of(word, key.mask[i], b, g, &least);\n\t\twhile',
     '{\n\t\t\tuint64_t other;\n'
     '\t\t\tchosen = least_of(word, key.mask[i], b, g, &least);\n'
     '\t\t\tfor (unsigned j = 0; j < z; j++)\n'
     '\t\t\t\tif ((void)least_of(key.seen[j], key.mask[j], b, g, &other), other < least)\n'
     '\t\t\t\t\tchosen = 0;\n\t\t}\n\t\twhile'),
]
