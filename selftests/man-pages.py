#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Are the manual pages well formed, as the headers, and do their examples work? (TAP)

All examples are compiled. Those of the library run on the shm provider, which needs no
module, and must print what the page says; those between machines are linked only.

usage: man-pages.py [--extract FOLDER] [SOURCE-FOLDER]

With --extract the examples are written to FOLDER as C files, to be run somewhere.
environment: CC, the C compiler
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

CC = shlex.split(os.environ.get("CC") or "cc")
CFLAGS = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Werror"]
UAPI = "include/uapi/linux/syncevent.h"
API = ("include/syncevent.h", "include/syncevent/cell.h", "include/syncevent/inline.h")
# Where a page that a check needs is not among those found, the check fails.
ABI_PAGE, BROKEN_PAGE = "man/syncevent.4", "man/syncevent_create.3"
# Pages of libraries and not of functions.
OVERVIEWS = ("man/libsyncevent.3", "man/libsyncevent-doca.3")
HANG = 120


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
    """[program, what it prints or None] of each: the display behind a program is its output, others are shell's."""
    found = []
    for section, text in literals(page):
        if section != "EXAMPLES":
            continue
        if "#include" in text:
            found.append([text, None])
        elif found and found[-1][1] is None:
            found[-1][1] = text
    return found


def cc(top, *args, source=None):
    """Run the compiler with the headers of the project."""
    run = subprocess.run(CC + CFLAGS + ["-I", os.path.join(top, "include"), "-I", os.path.join(top, "include/uapi"),
                                        "-I", os.path.join(top, "include/doca"), *args],
                         input=source, capture_output=True, text=True, timeout=HANG, check=False)
    return (run.stderr.splitlines() or ["the compiler failed"]) if run.returncode else []


def compile_example(top, text):
    return cc(top, "-c", "-o", os.devnull, "-x", "c", "-", source=text)


def build_library(top, folder):
    """Objects to link examples with: the part of libsyncevent-doca that is no command line, too."""
    complaints = []
    for source in sorted(glob.glob(os.path.join(top, "lib/*.c")) + glob.glob(os.path.join(top, "lib/doca/[!a]*.c"))):
        name = os.path.relpath(source, os.path.join(top, "lib"))[:-1].replace("/", "-")
        complaints += cc(top, "-pthread", "-D_GNU_SOURCE", "-c", source, "-o", os.path.join(folder, name + "o"))
    return complaints


def takes_machines(text):
    return re.search(r"syncevent_pci_get|syncevent_import_name", text)


def run_example(top, folder, text, expected):
    program = os.path.join(folder, "example")
    complaints = cc(top, "-pthread", "-o", program, "-x", "c", "-", "-x", "none",
                    *sorted(glob.glob(os.path.join(folder, "*.o"))), source=text)
    if complaints or takes_machines(text):
        return complaints
    try:
        run = subprocess.run([program], env=dict(os.environ, SYNCEVENT_PROVIDER="shm"), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=HANG, check=False)
    except subprocess.TimeoutExpired:
        return ["it hangs"]
    if run.returncode or run.stderr:
        complaints = [f"exit status {run.returncode}", *run.stderr.splitlines()]
    if expected is not None and run.stdout != expected:
        complaints += [f"it printed {run.stdout!r}, the page says {expected!r}"]
    return complaints


def structs(text):
    """{name: its members without comments}"""
    text = re.sub(r"[ \t]*/\*.*?\*/", "", text, flags=re.S)
    return {name: re.findall(r"^\t(.*;)", body, re.M)
            for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", text, re.M | re.S)}


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def declared(*headers):
    """{function: (type, arguments)} of headers"""
    found = {}
    for text in headers:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", text, flags=re.S | re.M)
        for kind, name, args in re.findall(r"^(?:SYNCEVENT_INLINE |SYNCEVENT_DIRECT )?((?:const )?(?:struct )?\w+ ?\*?)\s*"
                                           r"(syncevent_\w+)\(([^;{]*?)\)\s*[;{]", text, re.M):
            found[name] = (squeeze(kind), [squeeze(arg) for arg in args.split(",")])
    return found


def synopsis(page):
    """Likewise of a page."""
    found, kind, name, args = {}, None, None, []
    for line in page[page.find("\n.Sh SYNOPSIS"):page.find("\n.Sh DESCRIPTION")].splitlines():
        macro, *words = shlex.split(line, posix=True) or [""]
        if macro == ".Ft":
            kind = " ".join(words)
        elif macro == ".Fn":
            found[words[0]] = (kind, words[1:])
        elif macro == ".Fo":
            name, args = words[0], []
        elif macro == ".Fa":
            args += words
        elif macro == ".Fc":
            found[name] = (kind, args)
    return found


def names_of(page):
    """The names under NAME."""
    return re.findall(r"^\.Nm ([\w-]+)", page[:page.find("\n.Sh LIBRARY")], re.M)


def wrong_synopses(pages, known):
    """Each function has one page, which shows it as the header does."""
    complaints, at = [], {}
    for path, page in pages.items():
        shown = synopsis(page)
        complaints += [f"{path}: {name} is under NAME or in SYNOPSIS only" for name in set(names_of(page)) ^ set(shown)]
        for name, prototype in shown.items():
            if name in at:
                complaints.append(f"{name}: in {at[name]} and in {path}")
            at[name] = path
            if known.get(name) != prototype:
                complaints.append(f"{path}: {name}: header {known.get(name)}, page {prototype}")
    return complaints + [f"{name}: no page" for name in sorted(set(known) - set(at))]


def wrong_aliases(pages, makefile):
    """Makefile.am installs each page, and an alias for each other name on it."""
    listed = sorted(re.findall(r"man/(?:alias/)?([\w.-]+\.[1-9])\b", re.sub(r"\\\n", " ", makefile)))
    wanted = sorted({os.path.basename(path) for path in pages} |
                    {name + ".3" for path, page in pages.items() if path.endswith(".3")
                     for name in names_of(page)})
    return [f"{name}: {'not in' if name in wanted else 'only in'} Makefile.am"
            for name in sorted(set(wanted) ^ set(listed))] + \
           [f"{name}: twice in Makefile.am" for name in sorted(set(listed)) if listed.count(name) > 1]


def same_structs(page, *headers):
    known, complaints = structs("\n".join(headers)), []
    for _, text in literals(page):
        for name, members in structs(text).items():
            if known.get(name) != members:
                complaints.append(f"struct {name}: header {known.get(name)}, page {members}")
    return complaints


def unknown_names(page, *headers):
    known = set(re.findall(r"\b(?:SYNCEVENT|syncevent)_\w+", "".join(headers)))
    # Tracepoints and files of the module, and the titles of pages.
    plain = re.sub(r"^\.(?:Va|Pa|Dt) .*$|/dev/syncevent\w*", "", page, flags=re.M)
    return [f"{name}: on the page, not in a header"
            for name in sorted(set(re.findall(r"\b(?:SYNCEVENT|syncevent)_\w+", plain)) - known)]


def missing_names(page, header):
    """Every constant and command of the ABI is told of in section 4, of the library in section 3."""
    names = set(re.findall(r"^(?:#define |\t)(SYNCEVENT_\w+)\b(?=[ \t,])", header, re.M)) - {"SYNCEVENT_IOC_TYPE", "SYNCEVENT_DIRECT"}
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
    paths = sorted(os.path.join("man", name) for name in os.listdir(os.path.join(top, "man"))
                   if re.search(r"\.[1-9]$", name))
    pages = {path: read(top, path) for path in paths}
    if extract:
        for path, page in pages.items():
            for i, (text, _) in enumerate(examples(page), 1):
                name = os.path.basename(path).replace(".", "-") + f"-{i}.c"
                with open(os.path.join(extract, name), "w", encoding="utf-8") as f:
                    f.write(text)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return check(top, pages, folder)


def check(top, pages, folder):
    uapi, api = read(top, UAPI), [read(top, path) for path in API]
    library = {path: page for path, page in pages.items() if path.endswith(".3")}
    functions = {path: page for path, page in library.items() if path not in OVERVIEWS}
    makefile, known = read(top, "Makefile.am"), declared(*api)
    count = sum(len(examples(page)) for page in pages.values())
    tap = Tap(3 * len(pages) + count + 5 + 9)
    tap.result("the library compiles", build_library(top, folder))
    for path, page in pages.items():
        tap.result(f"{path} is well formed", lint(page))
        tap.result(f"{path} names nothing that the headers lack", unknown_names(page, uapi, *api))
        tap.result(f"{path} shows the structures of the header",
                   same_structs(page, *(api if path in library else [uapi])))
        for i, (text, expected) in enumerate(examples(page), 1):
            if re.search(r"#include <(syncevent|doca_\w+)\.h>", text):
                does = "links" if takes_machines(text) else "runs and prints what it should"
                tap.result(f"{path} example {i} {does}", run_example(top, folder, text, expected))
            else:
                tap.result(f"{path} example {i} compiles", compile_example(top, text))
    tap.result(f"{ABI_PAGE} names every constant and command", missing_names(pages[ABI_PAGE], uapi))
    tap.result("section 3 names every constant of the library", missing_names("\n".join(library.values()), api[0]))
    tap.result("each function has one page, with the prototype of its header", wrong_synopses(functions, known))
    tap.result("Makefile.am has each page and an alias for each other name", wrong_aliases(pages, makefile))

    def caught(what, complaints):
        tap.result("caught: " + what, ["not noticed"] if complaints == [] else complaints and [])

    page, broken = pages[ABI_PAGE], pages[BROKEN_PAGE]
    caught("an unknown macro and an open list", lint(mutant(page, r"\n\.Sh FILES", r"\n.Bl -tag\n.Xx\n.Sh FILES")))
    caught("a stale name", unknown_names(mutant(page, "SYNCEVENT_ARM_CLEAR", "SYNCEVENT_ARM_RESET"), uapi))
    caught("a left out name", missing_names(page.replace("SYNCEVENT_WAIT_ALL", "that flag"), uapi))
    caught("a member changed", same_structs(mutant(page, "\t__s32 status;", "\t__u32 status;"), uapi))
    caught("a pointer left out", same_structs(mutant(broken, "uint64_t \\*addr", "uint64_t addr"), *api))
    caught("a broken example", compile_example(top, mutant(examples(page)[0][0], r"\.operand", ".operant")))
    text, expected = examples(broken)[0]
    caught("an example that prints something else",
           run_example(top, folder, mutant(text, r"\.value = 40", ".value = 41"), expected))
    caught("another prototype", wrong_synopses(dict(functions, **{BROKEN_PAGE: mutant(broken, '"int fd"', '"long fd"')}), known))
    caught("a missing alias", wrong_aliases(pages, mutant(makefile, r"man/alias/syncevent_dup\.3", "")))
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
