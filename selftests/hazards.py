#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""docs/hazards.md names tests, functions and mutants that exist, and all mutants;
each mutant is refuted by a test of its row, and applies."""

import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


def read(*path):
    """Text of a file, "" if there is none."""
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def rows():
    """Cells of each row of the tables, without heads."""
    for line in read(TOP, "docs/hazards.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[-1] not in ("mutant", "test"):
            yield cells


def wrong_tests(text, listed):
    """What a cell of tests names that is not there."""
    for part in text.split(";"):
        names, _, cases = re.sub(r"\(.*?\)", "", part).partition(":")
        for name in names.replace(" with explicit store buffers", "").split(","):
            name = name.strip()
            if name not in listed:
                yield "no test " + name
            for case in filter(None, (case.strip() for case in cases.split(","))):
                source = read(HERE, name + ".c")
                if not re.search(r"\b%s\b" % re.escape(case), source):
                    yield "no case %s in %s.c" % (case, name)


def wrong_places(text):
    """What a cell of places names that is not there."""
    folder = re.match(r"(?:(lib|lib/doca): )?", text).group(1) or "kmod"
    sources = {os.path.basename(path): read(path)
               for path in glob.glob(os.path.join(TOP, folder, "*.[ch]")) +
               glob.glob(os.path.join(TOP, "include/syncevent/*.h"))}
    for file in re.findall(r"\b(\w+\.[ch])\b", text):
        if file not in sources:
            yield "no file %s/%s" % (folder, file)
    for function in re.findall(r"`(\w+)`", text):
        if not any(re.search(r"\b%s\b" % function, source) for source in sources.values()):
            yield "no %s in %s/" % (function, folder)


def does_not_apply(mutant):
    """What patch(1) says of it, as selftests/mutants/run calls it; "" if it applies."""
    with open(os.path.join(HERE, "mutants", mutant + ".patch"), encoding="utf-8") as text:
        done = subprocess.run(["patch", "-p1", "-s", "-f", "-F0", "--dry-run", "-r", "-", "-d", TOP],
                              stdin=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    return done.returncode and (done.stdout.strip() or "failed")


def main():
    """Print TAP."""
    listed = {line.split()[0] for line in read(HERE, "tests.conf").splitlines()
              if re.match(r"[a-z]", line)}
    refuted_by = {}
    for path in glob.glob(os.path.join(HERE, "mutants/*.patch")):
        head = re.match(r"# refuted-by: (\S+)", read(path))
        refuted_by[os.path.basename(path)[:-len(".patch")]] = head.group(1) if head else None
    table = list(rows())
    named = set()
    numbers = 0
    print("1..%d" % (len(table) + 2))
    for number, cells in enumerate(table, 1):
        numbered = cells[0].isdigit()
        tests = cells[4] if numbered else cells[2]
        wrong = list(wrong_tests(tests, listed))
        if numbered:
            numbers += 1
            if cells[0] != str(numbers):
                wrong.append("%s: number %d is next" % (cells[0], numbers))
            wrong += wrong_places(cells[3])
            for mutant in cells[5].split(", "):
                named.add(mutant)
                if mutant not in refuted_by:
                    wrong.append("no mutant " + mutant)
                elif refuted_by[mutant] not in re.findall(r"[\w.-]+", tests):
                    wrong.append("%s is refuted by %s" % (mutant, refuted_by[mutant]))
        title = cells[1] if numbered else cells[0]
        print("%s %d - %s" % ("not ok" if wrong else "ok", number, title))
        for text in wrong:
            print("# " + text)
    missing = sorted(set(refuted_by) - named)
    print("%s %d - all mutants are named" % ("not ok" if missing else "ok", len(table) + 1))
    for name in missing:
        print("# no row names " + name)
    stale = {name: why for name in sorted(refuted_by) if (why := does_not_apply(name))}
    print("%s %d - all mutants apply" % ("not ok" if stale else "ok", len(table) + 2))
    for name, why in stale.items():
        print("# %s: %s" % (name, why.replace("\n", "; ")))


sys.exit(main())
