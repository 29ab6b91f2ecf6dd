# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""A folder with the compiler of another suite, to build modules in.

The tools of a newer kernel need a newer C library, so they cannot run beside the
host's. The packages are unpacked, not installed: no maintainer script runs.
"""

import glob
import os
import shlex
import shutil
import subprocess

import kernels
from apt import unpack

# What make, kbuild and the compiler call.
_TOOLS = ["make", "libc6-dev", "libelf1t64", "dash", "bash", "coreutils", "sed", "grep", "mawk",
          "findutils", "pahole", "libssl3t64", "base-files"]


def make(apt, compiler, headers, folder):
    """Unpack the compiler, its tools and the kernel headers into folder."""
    archives = os.path.join(apt.folder, "cache/archives")
    status = os.path.join(apt.folder, "empty.status")
    with open(status, "w", encoding="ascii"):
        pass
    # Against an empty system, so that the libraries come too.
    apt.get("-o", "Dir::State::status=" + status, "-o", "APT::Install-Recommends=false",
            "-o", "Debug::NoLocking=1", "-y", "--download-only", "install", compiler, *_TOOLS)
    # All names below /usr from the start: packages bring /lib and /usr/lib.
    for path in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "work", "source", "proc", "dev",
                 "tmp"):
        os.makedirs(os.path.join(folder, path))
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, os.path.join(folder, name))
    for deb in glob.glob(os.path.join(archives, "*.deb")) + headers:
        unpack(deb, folder)
    for link, target in (("awk", "mawk"), ("sh", "dash")):
        path = os.path.join(folder, "usr/bin", link)
        if not os.path.lexists(path):
            os.symlink(target, path)


def build_module(kernel, outdir, environment):
    """Build the module with the tools of the chroot; its sources are copied in."""
    sources = environment.get("SYNCEVENT_KMOD") or os.path.join(kernels.TOP, "kmod")
    shutil.rmtree(outdir, ignore_errors=True)
    os.makedirs(outdir)
    for path in glob.glob(os.path.join(glob.escape(sources), "*.[ch]")):
        shutil.copy(path, outdir)
    shutil.copy(os.path.join(sources, "Kbuild"), outdir)
    root = shlex.quote(kernel.chroot)
    script = "\n".join([
        "set -e",
        "mount --bind %s %s/work" % (shlex.quote(outdir), root),
        "mount --bind %s %s/source" % (shlex.quote(kernels.TOP), root),
        "mount --rbind /dev %s/dev" % root,
        "mount -t proc proc %s/proc || mount --rbind /proc %s/proc" % (root, root),
        "exec chroot %s /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/ "
        "make -j2 -C %s M=/work SYNCEVENT_SRCTREE=/source modules" % (root, kernel.kerneldir),
    ])
    # Root needs only a mount namespace; others get to be root of their own.
    unshare = ["unshare", "--mount", "--pid", "--fork"]
    if os.geteuid():
        unshare.append("--map-root-user")
    return subprocess.run([*unshare, "sh", "-c", script], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
