# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The list of tests (selftests/tests.conf) and of known skips (selftests/vm/skips)."""

import fnmatch
import os
import shlex

KERNELS = ("release", "debug", "kcsan")
# Guests that share memory: two; one and a DPA; two and a DPA.
GROUPS = ("pair", "dpa", "trio")
# Of what machines that share memory have, other than the usual.
FORMS = ("plain", "noatomics", "onecpu", "uniprocessor", "manysides")
# Of the last of these; the second machine has the highest number.
MANY_SIDES = 64
SUITES = ("native", *KERNELS,
          *("%s-%s" % (group, kernel) for group in GROUPS for kernel in KERNELS),
          *("pair-%s-%s" % (kernel, form) for kernel in KERNELS for form in FORMS))
SLOW = "slow"
X86 = "x86"


class SuiteError(Exception):
    """A list of tests cannot be read."""


class Test:
    """One line of tests.conf."""

    def __init__(self, name, suites, limit, environment):
        self.name = name
        self.suites = suites
        self.limit = limit
        self.environment = environment

    def reduce(self, percent):
        """Do only a part of the rounds."""
        for word in self.environment:
            if word.startswith("SE_PERCENT="):
                percent = max(1, percent * int(word.split("=")[1]) // 100)
        self.environment = [word for word in self.environment
                            if not word.startswith("SE_PERCENT=")] + ["SE_PERCENT=%d" % percent]

    def command(self):
        """What the guest runs, as words."""
        program = ["sh", "/t/" + self.name] if self.name.endswith(".sh") else ["/t/" + self.name]
        return self.environment + program


def _lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#", 1)[0].strip() if not path.endswith("skips") else line.strip()
            if line and not line.startswith("#"):
                yield "%s:%d" % (path, number), line


def load(path):
    """All tests, in order."""
    tests = []
    seen = set()
    for where, line in _lines(path):
        words = shlex.split(line)
        if len(words) < 3 or not words[2].isdigit():
            raise SuiteError("%s: want NAME SUITES SECONDS [VARIABLE=VALUE...]" % where)
        suites = words[1].split(",")
        unknown = set(suites) - {*SUITES, SLOW, X86}
        if unknown:
            raise SuiteError("%s: unknown suite %s" % (where, ", ".join(sorted(unknown))))
        if any("=" not in word for word in words[3:]):
            raise SuiteError("%s: only VARIABLE=VALUE may follow the seconds" % where)
        if int(words[2]) < 60:
            raise SuiteError("%s: a hang limit below 60 seconds is a race" % where)
        for suite in set(suites) & set(SUITES):
            if (words[0], suite) in seen:
                raise SuiteError("%s: %s is listed twice for %s" % (where, words[0], suite))
            seen.add((words[0], suite))
        tests.append(Test(words[0], suites, int(words[2]), words[3:]))
    return tests


def select(tests, suite, names=(), portable=False):
    """Tests of a suite; those whose name matches one of names (wildcards).

    portable: those that every architecture can run.
    """
    return [test for test in tests if suite in test.suites and
            not (portable and (X86 in test.suites or test.name.endswith("-m32"))) and
            (not names or any(fnmatch.fnmatch(test.name, name) for name in names))]


def reduced(tests, percent, names=()):
    """For a quick look: part of the rounds, and no slow tests but those that are named."""
    if percent == 100:
        return tests
    kept = [test for test in tests if names or SLOW not in test.suites]
    for test in kept:
        test.reduce(percent)
    return kept


class Skips:
    """Skips that are expected. Lines: KERNEL TEST CASE REASON, with wildcards."""

    def __init__(self, path):
        self._rules = []
        if not os.path.exists(path):
            return
        for where, line in _lines(path):
            words = line.split(None, 3)
            if len(words) < 4:
                raise SuiteError("%s: want KERNEL TEST CASE REASON" % where)
            self._rules.append(words[:3])

    def allows(self, kernel, test, case):
        """Whether this case may skip on this kernel."""
        return any(fnmatch.fnmatchcase(kernel, k) and fnmatch.fnmatchcase(test, t) and
                   fnmatch.fnmatchcase(case, c) for k, t, c in self._rules)
