# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The kernels that guests boot: where each comes from, and how to build for it.

Every kernel lives in a folder of its own below CACHE/kernels, named by what
decides its content, and is complete there or absent (it is renamed into place).
"""

import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

import qemu
from apt import Apt, AptError, unpack
from image import extract_vmlinux

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.abspath(os.environ.get("SYNCEVENT_CACHE") or os.path.join(TOP, ".cache"))

SOURCE = "linux-source-6.1"
# From the kernel source: never copied into the repository.
SOURCE_FILES = ["tools/testing/selftests/kselftest.h",
                "tools/testing/selftests/kselftest_harness.h",
                "scripts/checkpatch.pl", "scripts/const_structs.checkpatch",
                "scripts/spelling.txt"]


class KernelError(Exception):
    """A kernel cannot be had; the message says why."""


class Kernel:
    """A kernel to boot and the folder to build modules against."""

    def __init__(self, name, suite, image, kerneldir, append="", chroot=None,
                 machine=qemu.X86, cross=None, busybox="/bin/busybox"):
        self.name = name
        self.suite = suite          # which tests run: a word of tests.conf
        self.image = image
        self.kerneldir = kerneldir
        self.append = append
        self.chroot = chroot        # folder with the compiler, None: the host's
        self.machine = machine      # a qemu.Machine
        self.cross = cross          # an arm64.Cross, None: the host's architecture
        self.busybox = busybox

    def build_module(self, outdir, kmod=None, quiet=True, name="syncevent"):
        """Build NAME.ko in outdir; kmod: another folder with the sources."""
        environment = {**os.environ, **(self.cross.environment if self.cross else {})}
        environment.pop("MAKEFLAGS", None)
        if kmod:
            environment["SYNCEVENT_KMOD"] = os.path.abspath(kmod)
        if self.chroot:
            from toolchroot import build_module     # pylint: disable=import-outside-toplevel
            done = build_module(self, outdir, environment)
        else:
            done = subprocess.run(
                [os.path.join(TOP, "scripts/build-kmod"), self.kerneldir, outdir, "-j2",
                 *(self.cross.kmod if self.cross else []), "modules"],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, check=False)
        if done.returncode or not quiet:
            sys.stdout.write(done.stdout)
        if done.returncode:
            raise KernelError("the module %s does not build for %s" % (name, self.name))
        return os.path.join(outdir, name + ".ko")


def say(*words):
    """Tell what takes its time."""
    print(*words, file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(name):
    """One process at a time fetches or builds a thing."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, ".lock-" + name), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def once(folder, fill):
    """Have fill(new) make this folder, unless it is there."""
    # A folder has its name only when it is complete: look before waiting for
    # somebody who builds.
    if os.path.isdir(folder):
        return
    with locked(os.path.basename(folder)):
        if not os.path.isdir(folder):
            with fresh(folder) as new:
                fill(new)


@contextlib.contextmanager
def fresh(folder):
    """A new folder that gets its name only when the block went well."""
    new = folder + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    yield new
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(new, folder)


def folder_of(kind, key):
    """Folder of a kernel."""
    return os.path.join(CACHE, "kernels", "%s-%s" % (kind, key))


def present(kind):
    """Folder of the kernel of this kind that is in the cache, newest first."""
    found = [path for path in glob.glob(folder_of(kind, "*"))
             if os.path.isdir(path) and not path.endswith(".new")]
    return max(found, key=version_key, default=None)


def version_key(name):
    """Sort 6.1.0-9 before 6.1.0-10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def package_version(package):
    """Installed version of a package, None if it is not there."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else None


def extract_member(deb, pattern, target):
    """Copy the one file of a .deb whose path matches to target."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as tar:
        with open(target, "wb") as out:
            done = subprocess.run(["tar", "xO", "--wildcards", pattern], stdin=tar.stdout,
                                  stdout=out, stderr=subprocess.PIPE, check=False)
        tar.stdout.read()
    if done.returncode or not os.path.getsize(target):
        raise KernelError("%s has no %s" % (deb, pattern))


def release():
    """The image that belongs to the newest installed kernel headers."""
    found = [path for path in glob.glob("/usr/src/linux-headers-*-amd64")
             if not re.search(r"-(cloud|rt)-amd64$", path)]
    if not found:
        raise KernelError("no kernel headers in /usr/src: run scripts/deps")
    kerneldir = max(found, key=version_key)
    abi = os.path.basename(kerneldir)[len("linux-headers-"):]
    folder = folder_of("release", abi)

    def fill(new):
        say("fetching linux-image-%s (about 70 MB)" % abi)
        apt = Apt(os.path.join(CACHE, "apt/release"))
        try:
            deb, = apt.download("linux-image-" + abi)
        except AptError as error:
            raise KernelError("%s\nThe archive may have a newer kernel than the headers that "
                              "are installed: run scripts/deps." % error) from error
        extract_member(deb, "*/vmlinuz-*", os.path.join(new, "vmlinuz"))
        extract_vmlinux(os.path.join(new, "vmlinuz"), os.path.join(new, "vmlinux"))
        os.unlink(deb)

    once(folder, fill)
    return Kernel("release", "release", os.path.join(folder, "vmlinux"), kerneldir)


def link_headers(headers, root):
    """Put made headers on top of unpacked packages of Debian's kernel headers,
    by names relative to each other: the cache may be moved."""
    common, = glob.glob(os.path.join(root, "usr/src/linux-headers-*-common"))
    kbuild, = glob.glob(os.path.join(root, "usr/lib/linux-kbuild-*"))
    with open(os.path.join(headers, "Makefile"), "w", encoding="utf-8") as file:
        file.write("include $(dir $(realpath $(lastword $(MAKEFILE_LIST))))%s/Makefile\n"
                   % os.path.relpath(common, headers))
    for name in ("scripts", "tools"):
        link = os.path.join(headers, name)
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(os.path.relpath(os.path.join(kbuild, name), headers), link)


def checksum(*paths, extra=""):
    """Short hash of the content of files."""
    digest = hashlib.sha256(extra.encode())
    for path in paths:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()[:16]


def from_tarball(kind, tarball):
    """A debug kernel that was built before. Beside the tarball lie the two
    packages that its headers stand on, unless these are installed."""
    folder = folder_of(kind, checksum(tarball))

    def fill(new):
        say("unpacking %s" % tarball)
        subprocess.run(["tar", "xf", tarball, "-C", new, "--strip-components=1"], check=True)
        beside = os.path.dirname(os.path.abspath(tarball))
        debs = (glob.glob(os.path.join(beside, "linux-headers-*-common_*_all.deb")) +
                glob.glob(os.path.join(beside, "linux-kbuild-*_amd64.deb")))
        for deb in debs:
            unpack(deb, os.path.join(new, "root"))
        if debs:
            link_headers(os.path.join(new, "headers"), os.path.join(new, "root"))
        _finish_debug(new)

    once(folder, fill)
    return _debug_kernel(kind, folder)


def _finish_debug(folder):
    """Unpack the ELF image where the kernel boots from it."""
    extract_vmlinux(os.path.join(folder, "bzImage"), os.path.join(folder, "vmlinux"))


def _debug_kernel(kind, folder):
    headers = os.path.join(folder, "headers")
    if kind == "debug":
        # KASAN does not survive the PVH entry: this one boots as a bzImage.
        return Kernel(kind, kind, os.path.join(folder, "bzImage"), headers, "slub_debug=-")
    return Kernel(kind, kind, os.path.join(folder, "vmlinux"), headers)


def debug(kind):
    """The KASAN + lockdep kernel ("debug") or the KCSAN kernel ("kcsan")."""
    tarball = os.environ.get("SYNCEVENT_%s_KERNEL" % kind.upper())
    if tarball:
        if not os.path.isfile(tarball):
            raise KernelError("SYNCEVENT_%s_KERNEL: no file %s" % (kind.upper(), tarball))
        return from_tarball(kind, tarball)
    import debugkernel          # pylint: disable=import-outside-toplevel
    version = debugkernel.source_version()
    fragments = debugkernel.fragments(kind)
    folder = folder_of(kind, checksum(*fragments, extra=version))

    def fill(new):
        debugkernel.build(kind, fragments, new)
        _finish_debug(new)

    once(folder, fill)
    return _debug_kernel(kind, folder)


def source_tarball():
    """The kernel source: of the installed package, else a fetched one."""
    installed = "/usr/src/%s.tar.xz" % SOURCE
    if os.path.isfile(installed):
        return installed
    fetched = os.path.join(CACHE, "source", SOURCE + ".tar.xz")
    with locked("source"):
        if not os.path.isfile(fetched):
            say("fetching %s (about 140 MB)" % SOURCE)
            deb, = Apt(os.path.join(CACHE, "apt/release")).download(SOURCE)
            os.makedirs(os.path.dirname(fetched), exist_ok=True)
            extract_member(deb, "*/%s.tar.xz" % SOURCE, fetched + ".new")
            os.rename(fetched + ".new", fetched)
            os.unlink(deb)
    return fetched


def kselftest():
    """Folder with the test harness headers and checkpatch."""
    folder = os.path.join(CACHE, "kselftest")
    tarball = source_tarball()
    stamp = os.path.join(folder, "version")
    want = "%d %d\n" % (os.path.getsize(tarball), int(os.path.getmtime(tarball)))
    with locked("kselftest"):
        if os.path.isfile(stamp):
            with open(stamp, encoding="ascii") as file:
                if file.read() == want:
                    return folder
        say("unpacking the test harness from %s" % tarball)
        with fresh(folder) as new:
            names = [SOURCE + "/" + name for name in SOURCE_FILES]
            subprocess.run(["tar", "xf", tarball, "-C", new, "--occurrence=1",
                            "--no-same-owner", *names], check=True)
            for name in names:
                os.rename(os.path.join(new, name), os.path.join(new, os.path.basename(name)))
            shutil.rmtree(os.path.join(new, SOURCE))
            _raise_timeout(os.path.join(new, "kselftest_harness.h"))
            with open(os.path.join(new, "version"), "w", encoding="ascii") as file:
                file.write(want)
    return folder


def _raise_timeout(header):
    """Thirty seconds are a fair limit on hardware, not in an emulated guest."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(r"(#define TEST_TIMEOUT_DEFAULT) 30\b", r"\1 120", text)
    if count != 1:
        raise KernelError("%s: TEST_TIMEOUT_DEFAULT is not where it was" % header)
    with open(header, "w", encoding="utf-8") as file:
        file.write(text)


def get(name):
    """The kernel of this name."""
    if name == "release":
        return release()
    if name in ("debug", "kcsan"):
        return debug(name)
    if name in FOREIGN:
        import arm64            # pylint: disable=import-outside-toplevel
        return arm64.get(name)
    import otherkernels         # pylint: disable=import-outside-toplevel
    return otherkernels.get(name)


# Of another architecture than this machine: no programs of it run there.
FOREIGN = ["arm64-lse", "arm64-llsc"]
NAMES = ["release", "debug", "kcsan", "6.12", "newest", *FOREIGN]
