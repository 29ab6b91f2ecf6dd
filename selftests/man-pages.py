#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Are the manual pages well formed, as the headers, and do their examples compile? (TAP)

usage: man-pages.py [--extract FOLDER] [SOURCE-FOLDER]

With --extract the examples are written to FOLDER as C files, to be run somewhere.
environment: CC, the C compiler
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

CC = shlex.split(os.environ.get("CC") or "cc")
CFLAGS = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror"]
PAGES = ("man/syncevent.4", "man/syncevent.7", "man/synceventfs.5")
UAPI = "include/uapi/linux/syncevent.h"


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        return f.read()


def literals(page):
    """(section, text) of each literal display, as a reader would copy it."""
    section, block = "", None
    for line in page.splitlines():
        if line.startswith(".Sh "):
            section = line[4:]
        if line.startswith(".Bd -literal"):
            block = []
        elif line == ".Ed" and block is not None:
            yield section, "\n".join(block) + "\n"
            block = None
        elif block is not None:
            block.append(line.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\"))


def examples(page):
    return [text for section, text in literals(page) if section == "EXAMPLES"]


def compile_example(top, text):
    run = subprocess.run(CC + CFLAGS + ["-I", os.path.join(top, "include"), "-I", os.path.join(top, "include/uapi"),
                                        "-c", "-o", os.devnull, "-x", "c", "-"],
                         input=text, capture_output=True, text=True, timeout=120, check=False)
    return run.stderr.splitlines() if run.returncode else []


def structs(text):
    """{name: its members without comments}"""
    return {name: re.findall(r"^\t([^/*\n]*;)", body, re.M)
            for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", text, re.M | re.S)}


def same_structs(page, header):
    known, complaints = structs(header), []
    for _, text in literals(page):
        for name, members in structs(text).items():
            if known.get(name) != members:
                complaints.append(f"struct {name}: header {known.get(name)}, page {members}")
    return complaints


def unknown_names(page, *headers):
    known = set(re.findall(r"\b(?:SYNCEVENT|syncevent)_\w+", "".join(headers)))
    # Tracepoints and files of the module, not of the headers.
    plain = re.sub(r"^\.(?:Va|Pa) .*$", "", page, flags=re.M)
    return [f"{name}: on the page, not in a header"
            for name in sorted(set(re.findall(r"\b(?:SYNCEVENT|syncevent)_\w+", plain)) - known)]


def missing_names(page, header):
    """Every constant and command of the ABI is told of in section 4."""
    names = set(re.findall(r"^#define (SYNCEVENT_\w+)", header, re.M)) - {"SYNCEVENT_IOC_TYPE"}
    return [f"{name}: in the header, not on the page" for name in sorted(names)
            if not re.search(r"\b%s\b" % name, page)]


def lint(text):
    """Complaints of each formatter that is there; None if none is."""
    complaints, found = [], False
    if shutil.which("mandoc"):
        found = True
        run = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=text, capture_output=True,
                             text=True, timeout=60, check=False)
        complaints += (run.stdout + run.stderr).splitlines()
    if shutil.which("groff"):
        found = True
        run = subprocess.run(["groff", "-mdoc", "-ww", "-Tutf8"], input=text, capture_output=True,
                             text=True, timeout=60, check=False)
        complaints += run.stderr.splitlines()
    return complaints if found else None


class Tap:
    def __init__(self, count):
        self.number, self.failed = 0, False
        print(f"TAP version 13\n1..{count}", flush=True)

    def result(self, name, complaints):
        self.number += 1
        if complaints is None:
            print(f"ok {self.number} - {name} # SKIP neither mandoc nor groff is installed", flush=True)
            return
        self.failed = self.failed or bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {self.number} - {name}", flush=True)
        for line in complaints:
            print("# " + line)


def mutant(text, pattern, replacement):
    changed, count = re.subn(pattern, replacement, text, count=1)
    if not count:
        raise SystemExit(f"Bail out! the mutant {pattern!r} changes nothing: adapt it")
    return changed


def main():
    argv = sys.argv[1:]
    extract = argv[1] if argv[:1] == ["--extract"] else None
    argv = argv[2:] if extract else argv
    top = argv[0] if argv else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    pages = {path: read(top, path) for path in PAGES}
    if extract:
        for path, page in pages.items():
            for i, text in enumerate(examples(page), 1):
                name = os.path.basename(path).replace(".", "-") + f"-{i}.c"
                with open(os.path.join(extract, name), "w", encoding="utf-8") as f:
                    f.write(text)
        return 0

    uapi, api, cell = read(top, UAPI), read(top, "include/syncevent.h"), read(top, "include/syncevent/cell.h")
    count = sum(len(examples(page)) for page in pages.values())
    tap = Tap(3 * len(pages) + count + 1 + 5)
    for path, page in pages.items():
        tap.result(f"{path} is well formed", lint(page))
        tap.result(f"{path} names nothing that the headers lack", unknown_names(page, uapi, api, cell))
        tap.result(f"{path} shows the structures of the header", same_structs(page, uapi))
        for i, text in enumerate(examples(page), 1):
            tap.result(f"{path} example {i} compiles", compile_example(top, text))
    page = pages[PAGES[0]]
    tap.result(f"{PAGES[0]} names every constant and command", missing_names(page, uapi))

    def caught(what, complaints):
        tap.result("caught: " + what, ["not noticed"] if complaints == [] else complaints and [])

    caught("an unknown macro and an open list", lint(mutant(page, r"\n\.Sh FILES", r"\n.Bl -tag\n.Xx\n.Sh FILES")))
    caught("a stale name", unknown_names(mutant(page, "SYNCEVENT_ARM_CLEAR", "SYNCEVENT_ARM_RESET"), uapi))
    caught("a left out name", missing_names(page.replace("SYNCEVENT_WAIT_ALL", "that flag"), uapi))
    caught("a member changed", same_structs(mutant(page, "\t__s32 status;", "\t__u32 status;"), uapi))
    caught("a broken example", compile_example(top, mutant(examples(page)[0], r"\.operand", ".operant")))
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
