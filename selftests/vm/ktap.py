# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Read KTAP as the kselftest harness prints it, and be hard to please."""

import re

_RESULT = re.compile(r"^(ok|not ok)\b\s*(\d+)?\s*-?\s*(.*)$")
_PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?\s*$", re.I)
_SKIP = re.compile(r"#\s*SKIP\b\s*(.*)$", re.I)
_RUN = re.compile(r"^#\s+RUN\s+(\S+)")


class Case:
    """The outcome of one test case."""

    def __init__(self, name, outcome, reason=""):
        self.name = name
        self.outcome = outcome      # "passed", "failed" or "skipped"
        self.reason = reason


def parse(lines, status):
    """Cases of one program: its output and how it ended.

    status: exit status, or None if it was killed because its time was over.
    A program without a plan, with more or fewer results than planned, or with
    a bad end has one failed case more that says so.
    """
    cases = []
    planned = None
    running = None
    skip_all = None
    for line in lines:
        found = _RUN.match(line)
        if found:
            running = found.group(1)
            continue
        found = _PLAN.match(line)
        if found and planned is None:
            planned = int(found.group(1))
            skip_all = found.group(2) if planned == 0 else None
            continue
        found = _RESULT.match(line)
        if not found:
            continue
        # The harness leaves the name out when it skips: the RUN line has it.
        skip = _SKIP.search(found.group(3))
        name = found.group(3)[:skip.start()].strip() if skip else found.group(3).strip()
        name = name or running or "case %s" % (found.group(2) or len(cases) + 1)
        if found.group(1) == "not ok":
            cases.append(Case(name, "failed", "not ok"))
        elif skip:
            cases.append(Case(name, "skipped", skip.group(1).strip() or "no reason given"))
        else:
            cases.append(Case(name, "passed"))
        running = None

    trouble = _trouble(cases, planned, skip_all, running, status)
    if trouble:
        cases.append(Case("program", "failed", trouble))
    elif not cases:
        cases.append(Case("program", "skipped", skip_all or "no reason given"))
    return cases


def _trouble(cases, planned, skip_all, running, status):
    """Why the program as a whole failed, or None."""
    where = " in %s" % running if running else ""
    if status is None:
        return "timed out%s" % where
    if status > 128:
        return "killed by signal %d%s" % (status - 128, where)
    if planned is None:
        return "printed no plan (exit status %d)" % status
    if planned == 0 and skip_all is None:
        return "planned no test and gave no reason"
    if len(cases) != planned:
        return "planned %d tests, reported %d%s" % (planned, len(cases), where)
    failed = any(case.outcome == "failed" for case in cases)
    if status not in (0, 4) and not failed:
        return "exit status %d, yet no case failed" % status
    if status == 4 and not failed and not any(c.outcome == "skipped" for c in cases) and planned:
        return "exit status 4 (skip), yet no case was skipped"
    return None
