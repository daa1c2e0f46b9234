#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""front.py ROOT - checks the documents that visitors read first: README.md has at most
150 lines; each relative link of a document leads to a file and a heading that exist; each
figure of README's comparison with perf stands in doc/performance.md. Prints what is wrong."""
import pathlib
import re
import sys

LINES = 150
LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')
FIGURE = re.compile(r'\d{1,3}(?:,\d{3})+|\b\d{2,}\b')


def anchors(text):
    """Names that a page gives its headings: lower case, dashes for spaces."""
    found = set()
    for line in text.splitlines():
        if line.startswith('#'):
            name = re.sub(r'[^\w\- ]', '', line.lstrip('#').strip().lower())
            found.add(name.replace(' ', '-'))
    return found


def dead_links(document):
    """Yields the links of a document that lead nowhere."""
    for link in LINK.findall(document.read_text()):
        if '://' in link or link.startswith('mailto:'):
            continue
        path, _, anchor = link.partition('#')
        target = document.parent / path if path else document
        if not target.exists():
            yield link
        elif anchor and anchor not in anchors(target.read_text()):
            yield link


def comparison(readme):
    """The bullets of the section that compares with perf."""
    section = readme.split('## Why not perf?', 1)
    if len(section) != 2:
        return ''
    return '\n'.join(re.findall(r'^- .*(?:\n  .*)*', section[1].split('\n## ', 1)[0], re.M))


def main(root):
    wrong = []
    readme = (root / 'README.md').read_text()
    count = readme.count('\n')
    if count > LINES:
        wrong.append(f'README.md: {count} lines, more than {LINES}')
    documents = sorted(root.glob('*.md')) + sorted((root / 'doc').rglob('*.md'))
    for document in documents:
        for link in dead_links(document):
            wrong.append(f'{document.relative_to(root)}: no such target: {link}')
    bullets = comparison(readme)
    if not bullets:
        wrong.append('README.md: no bullets under "Why not perf?"')
    known = (root / 'doc/performance.md').read_text()
    for figure in FIGURE.findall(bullets):
        if not re.search(r'(?<!\d)(?<!\d,)' + figure + r'(?!\d)(?!,\d{3})', known):
            wrong.append(f'README.md: {figure} is not in doc/performance.md')
    print('\n'.join(wrong), end='\n' if wrong else '')
    return bool(wrong)


sys.exit(main(pathlib.Path(sys.argv[1])))
