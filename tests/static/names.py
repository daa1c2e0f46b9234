# SPDX-License-Identifier: BSD-2-Clause
"""names - do the files and functions that a text names exist? For comments and prose.

A file (a word that ends in .c, .h or .S) exists if it is one of a tree's files, by its name
or by the end of its path. NAME stands for any word, `*` and `{a,b}` for what a shell makes of
them. A function exists if code of the tree defines, declares or calls it.
"""
import fnmatch
import re

# A comment, or what must not be taken for one.
TOKEN = re.compile(r'/\*.*?\*/|//(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                   re.DOTALL)
FILE = re.compile(r'(?<![\w.<*/-])[\w./*{},-]*\.[chS]\b(?![\w(/.*]\w)')
FUNCTION = re.compile(r'(?<![\w$%])([A-Za-z_]\w*)\(\)')
ANGLED = re.compile(r'<[^<>\n]*>')


def split(text):
    """The code of a file, and its comments as (line, text)."""
    comments = []

    def take(match):
        token = match.group()
        if token[0] != '/':
            return '""'
        comments.append((text.count('\n', 0, match.start()) + 1, token))
        return ' '

    return TOKEN.sub(take, text), comments


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def braces(word):
    match = re.search(r'\{([^{}]*)\}', word)
    if not match:
        return [word]
    return [one for part in match.group(1).split(',')
            for one in braces(word[:match.start()] + part + word[match.end():])]


def file_exists(word, tree):
    word = re.sub(r'^(\.\.?/)+', '', word).replace('NAME', '*')
    return all(any(fnmatch.fnmatch(path, one) or fnmatch.fnmatch(path, '*/' + one)
                   for path in tree)
               for one in braces(word))


def dead_names(text, tree, called, known):
    text = ANGLED.sub(lambda m: ' ' * len(m.group()), text)
    for match in FILE.finditer(text):
        word = match.group().lstrip(',{') if '}' not in match.group() else match.group()
        if word[0] != '.' and word not in known and not file_exists(word, tree):
            yield match.start(), 'no such file: ' + word
    for match in FUNCTION.finditer(text):
        word = match.group(1)
        if word not in called and word + '()' not in known:
            yield match.start(), f'no such function: {word}()'


def known_names(path):
    return {line.split('\t')[0] for line in read(path).splitlines() if line and line[0] != '#'}


def functions_of(tree):
    called = set()
    for path in tree:
        if re.search(r'\.[chS]$', path):
            called.update(re.findall(r'([A-Za-z_]\w*)\s*\(', split(read(path))[0]))
    return called
