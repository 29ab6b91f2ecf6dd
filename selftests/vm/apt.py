# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Fetch Debian packages without touching the machine's own package set.

Everything goes below the cache folder. The machine's lists are used when they
know the package; other suites, and machines whose lists are empty, get lists of
their own there. Nothing is installed: packages are unpacked with dpkg-deb.
"""

import glob
import os
import re
import shlex
import subprocess


class AptError(Exception):
    """A package cannot be had; the message says what to do."""


def _run(argv, **kwargs):
    """Run quietly; on failure raise with what the command said."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **kwargs)
    if done.returncode:
        raise AptError("%s\n%s" % (shlex.join(argv), done.stdout.strip()))
    return done.stdout


class Apt:
    """One apt configuration: the machine's own suite, or a list of sources."""

    def __init__(self, folder, suites=None, arch=None):
        """suites: names of Debian suites, None for the machine's own sources."""
        self.folder = os.path.abspath(folder)
        for sub in ("lists/partial", "cache/archives/partial", "debs"):
            os.makedirs(os.path.join(self.folder, sub), exist_ok=True)
        self.private = suites is not None or arch is not None
        self.options = ["-o", "Dir::Cache=" + os.path.join(self.folder, "cache"),
                        "-o", "APT::Sandbox::User=root"]
        self.own_lists = ["-o", "Dir::State::Lists=" + os.path.join(self.folder, "lists")]
        if suites is not None:
            self._write_sources(suites)
        if arch is not None:
            status = os.path.join(self.folder, "status")
            with open(status, "w", encoding="ascii"):
                pass
            self.options += ["-o", "APT::Architecture=" + arch,
                             "-o", "APT::Architectures=" + arch,
                             "-o", "Dir::State::status=" + status]
        # For mirrors that are snapshots: Acquire::Check-Valid-Until=false
        self.options += shlex.split(os.environ.get("SYNCEVENT_APT_OPTIONS", ""))

    def _write_sources(self, suites):
        path = os.path.join(self.folder, "sources.list")
        with open(path, "w", encoding="ascii") as out:
            for suite in suites:
                out.write("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                          "%s %s main\n" % (mirror(), suite))
        self.options += ["-o", "Dir::Etc::SourceList=" + path,
                         "-o", "Dir::Etc::SourceParts=/dev/null"]

    def _lists(self):
        return self.own_lists if self.private else []

    def get(self, *args, cwd=None):
        """apt-get with this configuration."""
        return _run(["apt-get", "-q", *self.options, *self._lists(), *args],
                    cwd=cwd or os.path.join(self.folder, "debs"))

    def cache(self, *args):
        """apt-cache with this configuration."""
        return _run(["apt-cache", *self.options, *self._lists(), *args])

    def update(self):
        """Fetch lists below the cache folder (never the machine's)."""
        self.private = True
        self.get("update")

    def download(self, *packages):
        """Paths of the .deb files of these packages, fetched unless they are there."""
        try:
            self.get("download", *packages)
        except AptError:
            # Lists are empty or too old for the mirror.
            self.update()
            self.get("download", *packages)
        return [self.path(package) for package in packages]

    def clean(self):
        """Remove what was fetched and has been unpacked."""
        for deb in (glob.glob(os.path.join(self.folder, "debs/*.deb")) +
                    glob.glob(os.path.join(self.folder, "cache/archives/*.deb"))):
            os.unlink(deb)

    def path(self, package):
        """The newest fetched .deb of a package."""
        name = package.split("=")[0].split("/")[0].split(":")[0]
        found = glob.glob(os.path.join(self.folder, "debs", name + "_*.deb"))
        if not found:
            raise AptError("%s was not fetched" % package)
        return max(found, key=os.path.getmtime)


def mirror():
    """The mirror that the machine itself uses for Debian."""
    names = sorted(glob.glob("/etc/apt/sources.list.d/*.sources"))
    names += sorted(glob.glob("/etc/apt/sources.list.d/*.list")) + ["/etc/apt/sources.list"]
    for name in names:
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        for uri in re.findall(r"^(?:URIs:|deb\s+(?:\[.*?\]\s+)?)\s*(https?://\S+)", text, re.M):
            if re.search(r"/debian/?$", uri):
                return uri
    return "http://deb.debian.org/debian"


def unpack(deb, folder):
    """Unpack a .deb; links to folders in the target stay links."""
    os.makedirs(folder, exist_ok=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as tar:
        _run_tar = subprocess.run(["tar", "x", "-C", folder, "--keep-directory-symlink",
                                   "--no-same-owner"], stdin=tar.stdout, check=False)
    if tar.returncode or _run_tar.returncode:
        raise AptError("%s cannot be unpacked" % deb)
