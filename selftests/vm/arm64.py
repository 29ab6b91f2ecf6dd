# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
"""The kernel of arm64 guests, and a compiler for them.

Nothing is installed: Debian's cross compiler cannot be beside gcc-multilib, and the rest
is of a foreign architecture. All is unpacked into the cache. What is there is used without
the network; remove its folder to get a newer one.
"""

import os
import re

import kernels
import qemu
from apt import Apt, unpack

# Atomic operations are single instructions (LSE), or loops of exclusive loads and stores.
_CPUS = {"arm64-lse": "neoverse-n1", "arm64-llsc": "cortex-a57"}

# Half the size of the standard kernel, which has nothing more that a guest needs.
_FLAVOUR = "cloud-arm64"
# Of this machine's architecture.
_COMPILER = ["gcc-12-aarch64-linux-gnu", "cpp-12-aarch64-linux-gnu", "binutils-aarch64-linux-gnu",
             "libgcc-12-dev-arm64-cross", "libc6-dev-arm64-cross", "libc6-arm64-cross",
             "linux-libc-dev-arm64-cross"]
# Of arm64: what programs are linked with, static.
_LIBRARIES = ["liburing-dev", "libjson-c-dev"]
_PREFIX = "aarch64-linux-gnu-"


class Cross:
    """How to build for a kernel of another architecture than this machine's."""

    def __init__(self, root, libraries):
        """Where _COMPILER and _LIBRARIES were unpacked."""
        # Errors, not warnings: nobody reads the output of a build that went well.
        self.kmod = ["ARCH=arm64", "CROSS_COMPILE=" + _PREFIX, "W=1", "KCFLAGS=-Werror"]
        self.programs = ["CROSS_COMPILE=" + _PREFIX, "CROSS_LIBRARIES=" + libraries]
        self.folder = "guest-arm64"     # of the programs, in the build folder
        self.environment = {
            "PATH": os.path.join(root, "usr/bin") + ":" + os.environ["PATH"],
            "LD_LIBRARY_PATH": os.path.join(root, "usr/lib/x86_64-linux-gnu")}


def _fetch(apt, abi, new):
    """Unpack everything into the new folder."""
    native = Apt(os.path.join(kernels.CACHE, "apt/release"))
    image, busybox, *headers = apt.download(
        "linux-image-" + abi, "busybox-static", "linux-headers-" + abi,
        "linux-headers-%s-common" % abi[:-len(_FLAVOUR) - 1])
    kernels.extract_member(image, "*/vmlinuz-*", os.path.join(new, "Image"))
    kernels.extract_member(busybox, "./bin/busybox", os.path.join(new, "busybox"))
    root = os.path.join(new, "root")
    # kbuild's own tools run here; they have to be of the headers' version.
    for deb in headers + native.download("linux-kbuild-6.1", *_COMPILER):
        unpack(deb, root)
    kernels.link_headers(os.path.join(root, "usr/src/linux-headers-" + abi), root)
    apt.clean()
    native.clean()


def _libraries():
    """Folder of _LIBRARIES; not the kernel's, which does not change when the list does."""
    def fill(new):
        apt = Apt(os.path.join(kernels.CACHE, "apt/arm64"), arch="arm64")
        for deb in apt.download(*_LIBRARIES):
            unpack(deb, new)
        apt.clean()

    folder = os.path.join(kernels.CACHE, "libraries",
                          "arm64-" + kernels.checksum(extra=" ".join(_LIBRARIES)))
    kernels.once(folder, fill)
    return folder


def get(name):
    """The kernel for a CPU with or without LSE."""
    with kernels.locked("arm64"):
        folder = kernels.present("arm64")
        if folder is None:
            kernels.say("fetching a kernel of arm64 and a cross compiler (about 80 MB)")
            apt = Apt(os.path.join(kernels.CACHE, "apt/arm64"), arch="arm64")
            apt.update()
            abi = re.search(r"Depends: linux-headers-(\S+)",
                            apt.cache("depends", "linux-headers-" + _FLAVOUR)).group(1)
            folder = kernels.folder_of("arm64", abi)
            with kernels.fresh(folder) as new:
                _fetch(apt, abi, new)
        libraries = _libraries()
    abi = os.path.basename(folder)[len("arm64-"):]
    root = os.path.join(folder, "root")
    return kernels.Kernel(name, "release", os.path.join(folder, "Image"),
                          os.path.join(root, "usr/src/linux-headers-" + abi),
                          machine=qemu.arm64(_CPUS[name]), cross=Cross(root, libraries),
                          busybox=os.path.join(folder, "busybox"))
