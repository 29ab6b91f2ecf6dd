# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""Kernels of other Debian suites: 6.12 of bookworm-backports, the newest of sid.

Their packages are fetched by lists of their own and unpacked into the cache.
What is there is used without the network; remove its folder to get a newer one.
"""

import os
import re

import kernels
import toolchroot
from apt import Apt, unpack
from image import extract_vmlinux


class Packages:
    """Names of the packages of a suite's kernel."""

    def __init__(self, apt):
        self.apt = apt
        # What the meta package stands for now.
        found = re.search(r"Depends: linux-image-(\S+)", apt.cache("depends", "linux-image-amd64"))
        if not found:
            raise kernels.KernelError("linux-image-amd64 of this suite depends on no kernel")
        self.abi = found.group(1)
        self.depends = {kind: re.findall(r"Depends: <?([^\s>]+)",
                                         apt.cache("depends", "linux-%s-%s" % (kind, self.abi)))
                        for kind in ("image", "headers")}

    def image(self):
        """The package that has the image: newer kernels have split it off."""
        split = "linux-binary-" + self.abi
        return split if split in self.depends["image"] else "linux-image-" + self.abi

    def headers(self):
        """The packages that a module build needs, but for the compiler."""
        return ["linux-headers-" + self.abi] + [
            name for name in self.depends["headers"]
            if re.match(r"linux-(headers-.*-common|kbuild-|base-\d)", name)]

    def compiler(self):
        """The compiler that the kernel was built with."""
        for name in self.depends["headers"]:
            found = re.match(r"gcc-\d+", name)
            if found:
                return found.group(0)
        raise kernels.KernelError("linux-headers-%s names no compiler" % self.abi)


def _image(deb, folder):
    """Get the image out of its package, ready to boot."""
    kernels.extract_member(deb, "*/vmlinuz*", os.path.join(folder, "vmlinuz"))
    extract_vmlinux(os.path.join(folder, "vmlinuz"), os.path.join(folder, "vmlinux"))


def _backports():
    """6.12, built by the host's compiler."""
    with kernels.locked("6.12"):
        folder = kernels.present("6.12")
        if folder is None:
            kernels.say("fetching the kernel of bookworm-backports (about 130 MB)")
            apt = Apt(os.path.join(kernels.CACHE, "apt/6.12"), ["bookworm-backports"])
            apt.update()
            packages = Packages(apt)
            folder = kernels.folder_of("6.12", packages.abi)
            with kernels.fresh(folder) as new:
                image, *headers = apt.download(packages.image(), *packages.headers())
                _image(image, new)
                root = os.path.join(new, "root")
                for deb in headers:
                    unpack(deb, root)
                headers_folder = os.path.join(root, "usr/src/linux-headers-" + packages.abi)
                kernels.link_headers(headers_folder, root)
                # Type information for BTF: without pahole it only fails.
                if os.path.exists(os.path.join(headers_folder, "vmlinux")):
                    os.unlink(os.path.join(headers_folder, "vmlinux"))
            apt.clean()
    abi = os.path.basename(folder)[len("6.12-"):]
    return kernels.Kernel("6.12", "release", os.path.join(folder, "vmlinux"),
                          os.path.join(folder, "root/usr/src/linux-headers-" + abi))


def _newest():
    """The newest kernel, built by the compiler of its own suite in a chroot."""
    with kernels.locked("newest"):
        folder = kernels.present("newest")
        if folder is None:
            kernels.say("fetching the kernel and the compiler of sid (about 250 MB)")
            apt = Apt(os.path.join(kernels.CACHE, "apt/newest"), ["sid"])
            apt.update()
            packages = Packages(apt)
            folder = kernels.folder_of("newest", packages.abi)
            with kernels.fresh(folder) as new:
                image, *headers = apt.download(packages.image(), *packages.headers())
                _image(image, new)
                toolchroot.make(apt, packages.compiler(), headers, os.path.join(new, "chroot"))
            apt.clean()
    abi = os.path.basename(folder)[len("newest-"):]
    return kernels.Kernel("newest", "release", os.path.join(folder, "vmlinux"),
                          "/usr/src/linux-headers-" + abi, chroot=os.path.join(folder, "chroot"))


def get(name):
    """The kernel of this name."""
    makers = {"6.12": _backports, "newest": _newest}
    if name not in makers:
        raise kernels.KernelError("no kernel is called %s: there are %s"
                                  % (name, ", ".join(kernels.NAMES)))
    return makers[name]()
