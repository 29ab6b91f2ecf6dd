#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# The files for systemd and udev are what those programs take, as far as they are
# here to be asked, and make install puts them below the prefix.
set -u
packaging=${abs_top_srcdir:?}/packaging
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
echo "1..6"

log=$out/log
# shellcheck source=selftests/tap.sh
. "${abs_top_srcdir:?}/selftests/tap.sh"

unit=$packaging/systemd/dev-syncevents.mount
if command -v systemd-analyze >/dev/null; then
	# It complains on its error output and still returns 0.
	systemd-analyze verify --man=no "$unit" >"$out/log" 2>&1 && [ ! -s "$out/log" ]
	result $? "systemd takes the mount unit"
else
	skip "systemd takes the mount unit" "systemd-analyze is not installed"
fi

# The unit is named after its path, or systemd refuses it.
where=$(sed -n 's/^Where=//p' "$unit")
echo "$where" >"$out/log"
[ "$(echo "${where#/}" | tr / -).mount" = "$(basename "$unit")" ] &&
	[ "$where" = /dev/syncevents ]
result $? "it is named after where it mounts"

type=$(sed -n 's/^Type=//p' "$unit")
echo "$type" >"$out/log"
grep -q "MODULE_ALIAS_FS(\"$type\")" "$abs_top_srcdir"/kmod/*.c
result $? "it mounts a file system of the module"

if command -v systemd-sysusers >/dev/null; then
	mkdir -p "$out/root/etc"
	systemd-sysusers --root="$out/root" "$packaging/sysusers.d/syncevent.conf" >"$out/log" 2>&1 &&
		grep -q '^syncevent:' "$out/root/etc/group"
	result $? "systemd-sysusers makes the group"
else
	skip "systemd-sysusers makes the group" "systemd-sysusers is not installed"
fi

# systemd 254 and later
if udevadm verify --help >/dev/null 2>&1; then
	udevadm verify --no-style "$packaging"/udev/*.rules >"$out/log" 2>&1
	result $? "udev takes the rules"
else
	skip "udev takes the rules" "udevadm has no verify"
fi

prefix=$out/prefix
${MAKE:-make} -C "${abs_top_builddir:?}" install-packaging DESTDIR= prefix="$prefix" >"$out/log" 2>&1
(cd "$prefix" && find . -type f | sort) >"$out/found"
cat >"$out/wanted" <<'END'
./lib/modules-load.d/syncevent.conf
./lib/systemd/system/dev-syncevents.mount
./lib/sysusers.d/syncevent.conf
./lib/udev/rules.d/60-syncevent.rules
END
diff "$out/wanted" "$out/found" >>"$out/log"
result $? "they are installed below the prefix"
