#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# dkms adds, builds, installs and removes the module, in folders of its own: the
# machine's dkms tree and its modules stay as they are.
set -u
if ! command -v dkms >/dev/null; then
	echo "1..0 # SKIP dkms is not installed"
	exit 0
fi
if [ -z "${KERNELDIR:-}" ]; then
	echo "1..0 # SKIP configured without a kernel build folder"
	exit 0
fi
top=${abs_top_srcdir:?}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
conf=${abs_top_builddir:?}/dkms.conf
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$conf")
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' "$KERNELDIR/include/generated/utsrelease.h")
mkdir -p "$work/src/syncevent-$version/kmod" "$work/tree" "$work/install/$release"
cp -r "$conf" "$top/include" "$work/src/syncevent-$version/"
cp "$top"/kmod/*.[ch] "$top/kmod/Kbuild" "$work/src/syncevent-$version/kmod/"
echo "1..7"

log=$work/out
# shellcheck source=selftests/tap.sh
. "${abs_top_srcdir:?}/selftests/tap.sh"

# dkms wants root, even for folders of one's own: be it in a user namespace.
root=
[ "$(id -u)" -eq 0 ] || root="unshare --map-root-user"

run() {		# dkms in these folders
	command=$1
	shift
	# dkms calls make, which must not take its flags from a make above.
	# shellcheck disable=SC2086
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $root dkms "$command" "syncevent/$version" \
		--dkmstree "$work/tree" --sourcetree "$work/src" --installtree "$work/install" \
		"$@" >"$work/out" 2>&1
}

run add
result $? "dkms add"
run build -k "$release" --kernelsourcedir "$KERNELDIR"
result $? "dkms build"
run install -k "$release" --kernelsourcedir "$KERNELDIR" --no-depmod
result $? "dkms install"
module=$(find "$work/install" -name 'syncevent.ko*')
[ -n "$module" ] && [ "$(modinfo -F vermagic "$module" | cut -d' ' -f1)" = "$release" ]
result $? "the installed module is for $release"
run uninstall -k "$release" --no-depmod
result $? "dkms uninstall"
[ -z "$(find "$work/install" -name 'syncevent.ko*')" ]
result $? "the module is gone"
run remove --all
result $? "dkms remove"
