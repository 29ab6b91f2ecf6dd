# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Find what a kernel complains about in its log, and whose test it was."""

import re

MARK = "syncevent-test: "

# What a healthy guest never prints. Any of it fails the test that ran.
_BAD = [
    r"\bBUG: ",
    r"\bkernel BUG at ",
    r"\bWARNING: ",
    r"\bINFO: possible ",
    r"\bINFO: (?:trying to register|inconsistent lock|lockdep)",
    r"\bINFO: rcu\S* .*(?:stall|detected)",
    r"\brcu:.*(?:self-detected stall|detected stalls|detected expedited stalls)",
    r"\bINFO: task .* blocked for more than",
    r"\bpossible (?:circular|recursive) locking",
    r"\binconsistent lock state\b",
    r"\bsuspicious RCU usage\b",
    r"\bOops\b",
    r"\bgeneral protection fault\b",
    r"\b[Uu]nable to handle\b",
    r"\bInternal error: ",
    r"\bKernel panic\b",
    r"\bUBSAN: ",
    r"\bODEBUG: ",
    r"\bDEBUG_LOCKS_WARN_ON\b",
    r"\bscheduling while atomic\b",
    r"\bsleeping function called from invalid context\b",
    r"\bwatchdog: BUG\b",
    r"\bsoft lockup\b",
    r"\bhard LOCKUP\b",
    r"\brefcount_t: ",
    r"\blist_(?:add|del) corruption\b",
    r"\bBad page (?:state|map)\b",
    r"\bcut here\b",
    r"\bOut of memory: Killed\b",
]
_BAD_RE = re.compile("|".join(_BAD))
_KCSAN_RE = re.compile(r"\bBUG: KCSAN: ")
_TIMER = r"(?:__hrtimer|hrtimer|schedule_hrtimeout)_\w+"
# Of these the kernel marks only one side:
# - two threads with the same credentials make a file: get_cred() stores the same value;
# - a fault takes the lock of a page while another maps it: both are in page->flags,
#   of which page_to_pfn() reads the bits that never change.
_KCSAN_THEIRS = re.compile(
    r"data-race in (?:%s / %s|__alloc_file / __alloc_file|do_set_pte / se_fault \[syncevent\])$" % (_TIMER, _TIMER))
_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[[^\]]*\])?\s?")

# Lines of the report that are kept to show, and that are searched for the
# module's name where only its own reports count.
_REPORT = 60


class Splat:
    """One complaint: the test that ran, the first line, the lines after it."""

    def __init__(self, test, line, report):
        self.test = test
        self.line = line
        self.report = report


def scan(log, module="syncevent"):
    """All complaints in a kernel log (lines), each with the running test.

    KCSAN looks at the whole kernel, and not all races in it are ours: of its
    reports only those that name the module count, and of these not the ones
    that are about objects of the kernel alone: its timers, which a sleep passes
    through, credentials, and the flags of a page.
    """
    splats = []
    test = None
    skip_until = 0
    for number, raw in enumerate(log):
        line = _STAMP.sub("", raw.rstrip())
        if MARK in line:
            words = line.split(MARK, 1)[1].split()
            test = words[1] if len(words) > 1 and words[0] == "begin" else None
            skip_until = 0
            continue
        if number < skip_until or not _BAD_RE.search(line):
            continue
        report = [_STAMP.sub("", r.rstrip()) for r in log[number:number + _REPORT]]
        for stop, text in enumerate(report):
            if MARK in text:
                report = report[:stop]
                break
        if _KCSAN_RE.search(line):
            end = next((i for i, text in enumerate(report)
                        if i > 1 and set(text) == {"="}), len(report))
            report = report[:end]
            skip_until = number + end
            if not any("[%s]" % module in text for text in report):
                continue
            if _KCSAN_THEIRS.search(line):
                continue
        else:
            # One report has many lines that match: take it once.
            skip_until = number + len(report) if "cut here" in line else number + 30
        splats.append(Splat(test, line, report))
    return splats


def leaks(lines, module="syncevent"):
    """Blocks of a kmemleak listing that name the module, as lists of lines."""
    blocks = []
    for line in lines:
        if line.startswith("unreferenced object"):
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
    return [block for block in blocks if any("[%s]" % module in line for line in block)]
