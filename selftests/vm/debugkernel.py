# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Build a debug kernel from Debian's kernel source.

What is kept is the image and what a module build needs: the made headers, on
top of the two packages that Debian's own headers consist of, of the same version.
"""

import glob
import os
import re
import shutil
import subprocess

import kernels
from apt import Apt, unpack

_KEPT = ["include/generated", "include/config", "arch/x86/include/generated",
         "Module.symvers", ".config"]


def source_version():
    """Version of the kernel source that a build would use."""
    tarball = kernels.source_tarball()
    if tarball.startswith("/usr/src/"):
        return kernels.package_version(kernels.SOURCE)
    apt = Apt(os.path.join(kernels.CACHE, "apt/release"))
    found = re.search(r"^Version: (.*)$", apt.cache("show", "--no-all-versions", kernels.SOURCE),
                      re.M)
    return found.group(1)


def fragments(kind):
    """Configuration fragments of a kernel; the later ones win."""
    return [os.path.join(kernels.HERE, "configs", name + ".config") for name in ("base", kind)]


def _make(source, objects, *args, environment=()):
    """Run make in the kernel source; show the end of what it said if it fails."""
    log = os.path.join(objects, "build.log")
    # A make that runs this program must not lend it its flags or job slots.
    clean = {key: value for key, value in os.environ.items()
             if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with open(log, "a", encoding="utf-8") as out:
        done = subprocess.run(["make", "-C", source, "O=" + objects, *args],
                              env={**clean, **dict(environment)}, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        with open(log, encoding="utf-8") as file:
            tail = file.readlines()[-40:]
        raise kernels.KernelError("the kernel does not build:\n" + "".join(tail))


def _configure(source, objects, files):
    """A configuration of the fragments and defaults; what did not stick is told."""
    merged = {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            for line in file:
                found = re.match(r"(?:# )?(CONFIG_\w+)[ =]", line)
                if found:
                    merged[found.group(1)] = line
    wanted = os.path.join(objects, "wanted.config")
    with open(wanted, "w", encoding="utf-8") as file:
        file.writelines(merged.values())
    _make(source, objects, "allnoconfig", environment={"KCONFIG_ALLCONFIG": wanted}.items())
    with open(os.path.join(objects, ".config"), encoding="utf-8") as file:
        got = set(file.read().splitlines())
    lost = [name for name, line in merged.items()
            if not line.startswith("#") and not line.strip().endswith("=n")
            and line.strip() not in got]
    if lost:
        raise kernels.KernelError("options that the kernel does not take: " + " ".join(lost))


def build(kind, files, folder):
    """Build into folder: bzImage, headers, and the packages below root."""
    version = source_version()
    kernels.say("building the %s kernel from %s %s, once: about 20 minutes on two cores"
                % (kind, kernels.SOURCE, version))
    # One name for each: what a killed build left is removed by the next.
    work = folder + "-build"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    try:
        _headers_packages(version, os.path.join(folder, "root"))
        subprocess.run(["tar", "xf", kernels.source_tarball(), "-C", work,
                        "--no-same-owner"], check=True)
        source = os.path.join(work, kernels.SOURCE)
        objects = os.path.join(work, "objects")
        os.makedirs(objects)
        _configure(source, objects, files)
        _make(source, objects, "-j%d" % (os.cpu_count() or 2), "bzImage", "modules")
        shutil.copy(os.path.join(objects, "arch/x86/boot/bzImage"), folder)
        shutil.copy(os.path.join(objects, "System.map"), folder)
        _pack_headers(objects, os.path.join(folder, "headers"), os.path.join(folder, "root"))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _headers_packages(version, root):
    """Unpack the common headers and kbuild's tools of exactly this version."""
    common = None
    for path in glob.glob("/usr/src/linux-headers-*-common"):
        if kernels.package_version(os.path.basename(path)) == version:
            common = os.path.basename(path)
    if common is None:
        raise kernels.KernelError("no linux-headers-*-common of version %s, that of %s, is "
                                  "installed: run scripts/deps" % (version, kernels.SOURCE))
    apt = Apt(os.path.join(kernels.CACHE, "apt/release"))
    for deb in apt.download(common + "=" + version, "linux-kbuild-6.1=" + version):
        unpack(deb, root)
        os.unlink(deb)


def _pack_headers(objects, headers, root):
    """The folder that modules are built against."""
    os.makedirs(headers)
    for name in _KEPT:
        source, target = os.path.join(objects, name), os.path.join(headers, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy(source, target)
    # Debian's kbuild looks for the linker script in the architecture's folder.
    shutil.copy(os.path.join(objects, "scripts/module.lds"), os.path.join(headers, "arch/x86"))
    with open(os.path.join(objects, "include/config/kernel.release"), encoding="ascii") as file:
        release = file.read().strip()
    with open(os.path.join(headers, ".kernelvariables"), "w", encoding="utf-8") as file:
        file.write("override ARCH = x86\noverride KERNELRELEASE = %s\n"
                   "DEBIAN_KERNEL_NO_CC_VERSION_CHECK = y\n" % release)
    kernels.link_headers(headers, root)
