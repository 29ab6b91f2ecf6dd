#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Is each function of DOCA's names documented, and is all tested that is said of it? (TAP)

docs/porting-from-doca.md has a table for each header: a row for each function, with what
it returns, among which is what the header says. The tests, doca_*.c, say what they expect as OK(f(...)), FAILS(ERROR, f(...)) or
ASSERT_EQ(DOCA_..., f(...)), in sources that run as a whole. So the table is right if the two
agree: a result that no test provokes is not documented, and none is provoked that is not.

The checks run on what there is and on copies with one thing wrong, which must be noticed.
"""
import os
import re
import sys

TOP = os.environ.get("abs_top_srcdir") or os.path.join(os.path.dirname(__file__), "..")
DECLARED = re.compile(r"^DOCA_(?:STABLE|EXPERIMENTAL)\n([^;]*?)\b(doca_\w+)\(", re.M)
INLINE = re.compile(r"^static inline ([^;{]*?)\b(doca_\w+)\(", re.M)
CALL = re.compile(r"\b(OK|ENDS|EACH_FAILS|EACH_FILE_FAILS|FAILS|REFUSED|(?:ASSERT|EXPECT)_EQ)\(\s*(?:(\w+),\s*)?(doca_\w+)\(")
ROW = re.compile(r"^\| `(doca_\w+)` \| ([^|]*) \|([^|\n]*)\|$", re.M)
COMMENT = re.compile(r"/\*\*\s*(?:\n \* )?(doca_\w+)\(\) - (.*?)\*/", re.S)


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def headers():
    """Text by name."""
    folder = os.path.join(TOP, "include", "doca")
    return {name: read("include", "doca", name) for name in sorted(os.listdir(folder))}


def tests():
    folder = os.path.join(TOP, "selftests")
    return "\n".join(read("selftests", name) for name in sorted(os.listdir(folder))
                     if re.fullmatch(r"doca_\w+\.[ch]|doca\.h", name))


def declared(text):
    """Functions of a header; true: it returns doca_error_t."""
    found = DECLARED.findall(text) + INLINE.findall(text)
    return {name: "doca_error_t" in kind for kind, name in found}


def expected(text):
    """What tests expect, by function."""
    results = {}
    for macro, first, function in CALL.findall(text):
        if macro == "EACH_FAILS":
            wanted = {"SUCCESS", "NO_MEMORY"}
        elif macro == "EACH_FILE_FAILS":
            wanted = {"NO_MEMORY", "OPERATING_SYSTEM"}
        elif macro in ("OK", "ENDS"):
            wanted = {"SUCCESS"}
        elif macro in ("FAILS", "REFUSED"):
            wanted = {first}
        elif first.startswith("DOCA_ERROR_") or first == "DOCA_SUCCESS":
            wanted = {re.sub("^DOCA_(ERROR_)?", "", first)}
        else:
            wanted = set()
        results.setdefault(function, set()).update(wanted)
    return results


def documented(doc):
    """Rows by header: results by function, None if it returns no error; and all words in capitals
    that are said of it beside, for what takes another machine, or a kernel without memory."""
    tables, said = {}, {}
    for section in re.split(r"^### ", doc, flags=re.M)[1:]:
        name, text = section.split("\n", 1)
        rows = {}
        for function, cell, rest in ROW.findall(section):
            rows[function] = None if cell.strip() == "-" else set(re.findall(r"[A-Z_]{2,}", cell))
            said[function] = set(re.findall(r"[A-Z_]{2,}", cell + rest + text.split("|", 1)[0]))
        if name.strip("` ").endswith(".h"):
            tables[name.strip("` ")] = rows
    return tables, said


def promised(text):
    """Pairs: a function of a header, and all words in capitals that its comment says it returns.
    One that is or returns "likewise" returns what the one before it does."""
    words = set()
    for function, comment in COMMENT.findall(text):
        begin, _, returns = comment.partition("Return:")
        before = words if "likewise" in (returns or begin) else set()
        words = before | set(re.findall(r"\b(?:DOCA_ERROR_)?([A-Z_]{4,})\b", returns))
        yield function, words


def check(files, doc, source):
    """All complaints."""
    tables, said = documented(doc)
    results = expected(source)
    errors = set(re.findall(r"\bDOCA_ERROR_(\w+) =", files["doca_error.h"]))
    complaints = [f"{name}: a table of no header" for name in tables if name not in files]
    for name, text in files.items():
        functions = declared(text)
        rows = tables.get(name, {})
        complaints += [f"{name}: {f} is not documented" for f in functions if f not in rows]
        complaints += [f"{name}: {f} is not declared" for f in rows if f not in functions]
        for f, words in promised(text):
            complaints += [f"{f}: {r} is in the header only"
                           for r in sorted(words & errors - said.get(f, set()))]
        for f in functions.keys() & rows.keys():
            if not functions[f]:
                if rows[f] is not None:
                    complaints.append(f"{f} returns no error")
                if not re.search(rf"\b{f}\(", source):
                    complaints.append(f"{f} is not tested")
                continue
            listed, provoked = rows[f] or set(), results.get(f, set())
            complaints += [f"{f}: no test provokes {r}" for r in sorted(listed - provoked)]
            complaints += [f"{f}: {r} is not documented" for r in sorted(provoked - listed)]
            if not listed & {"SUCCESS", "NOT_SUPPORTED"}:
                complaints.append(f"{f}: does it ever succeed?")
    return complaints


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = False

    def result(self, name, complaints):
        self.count += 1
        print(("not ok" if complaints else "ok"), self.count, "-", name)
        for complaint in complaints:
            print("#", complaint)
        self.failed |= bool(complaints)


def main():
    files, doc, source = headers(), read("docs", "porting-from-doca.md"), tests()
    tap = Tap()

    if "--pairs" in sys.argv:
        for function, results in sorted(expected(source).items()):
            print(function, *sorted(results))
        return 0

    def noticed(what, *changed):
        tap.result(f"noticed: {what}", [] if check(*changed) else ["it was not"])

    print("TAP version 13")
    tap.result("the documentation, the headers and the tests agree", check(files, doc, source))
    noticed("a function without a row", files, doc.replace("| `doca_pe_create` |", "| `x` |"), source)
    noticed("a row of no function", files, doc.replace("`doca_pe_create`", "`doca_pe_created`"), source)
    noticed("a result that is not tested", files,
            doc.replace("| `doca_pe_create` | SUCCESS", "| `doca_pe_create` | SUCCESS, AGAIN"), source)
    noticed("a result that is not documented", files, doc,
            source.replace("FAILS(INVALID_VALUE, doca_pe_create(", "FAILS(AGAIN, doca_pe_create("))
    noticed("a function that is not tested", files, doc,
            source.replace("doca_ctx_flush_tasks(", "nothing("))
    noticed("a result that only the header has",
            dict(files, **{"doca_pe.h": files["doca_pe.h"].replace("Return: or INVALID_VALUE, NO_MEMORY",
                                                                   "Return: or FULL")}), doc, source)
    noticed("a result that only the header has, by what it is like", files,
            re.sub(r"(`doca_task_try_submit` .*), NO_MEMORY", r"\1", doc),
            source.replace("FAILS(NO_MEMORY, doca_task_try_submit(", "(("))
    noticed("a header without a table", dict(files, **{"doca_x.h": "DOCA_STABLE\nvoid doca_x(void);"}),
            doc, source)
    print(f"1..{tap.count}")
    return tap.failed


sys.exit(main())
