#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# What make install puts down is enough to build programs: shared and static, C
# and C++, found by pkg-config.
set -u
dest=$(mktemp -d) || exit 1
trap 'rm -rf "$dest"' EXIT
echo "1..9"

log=$dest/out
# shellcheck source=selftests/tap.sh
. "${abs_top_srcdir:?}/selftests/tap.sh"

${MAKE:-make} -C "${abs_top_builddir:?}" install DESTDIR="$dest" >"$dest/out" 2>&1
result $? "make install DESTDIR="

pc=$(find "$dest" -name syncevent.pc -o -name libsyncevent.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$dest
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
package=$(basename "$pc" .pc)
pkgconfig=${PKG_CONFIG:-pkg-config}

cat >"$dest/use.c" <<'END'
#include <syncevent.h>
#include <syncevent/cell.h>
#include <linux/syncevent.h>

int main(void)
{
	struct syncevent *event = 0;
	int error = syncevent_create(&event, 0);

	if (!error)
		syncevent_close(event);
	return 0;
}
END
cp "$dest/use.c" "$dest/use.cc"
flags=$($pkgconfig --cflags "$package" 2>"$dest/out")
libs=$($pkgconfig --libs "$package" 2>>"$dest/out")
static=$($pkgconfig --static --libs "$package" 2>>"$dest/out")
[ -n "$libs" ]
result $? "pkg-config knows $package"

# shellcheck disable=SC2086
{
	${CC:-cc} -std=c99 -Wpedantic -Werror -o "$dest/use" "$dest/use.c" $flags $libs >"$dest/out" 2>&1
	result $? "a C99 program links with the shared library"
	LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") "$dest/use" >"$dest/out" 2>&1
	result $? "and runs"
	${CXX:-c++} -std=c++11 -Wpedantic -Werror -o "$dest/use" "$dest/use.cc" $flags $libs >"$dest/out" 2>&1
	result $? "a C++11 program links with the shared library"
	${CC:-cc} -static -o "$dest/use" "$dest/use.c" $flags $static >"$dest/out" 2>&1 &&
		"$dest/use" >>"$dest/out" 2>&1
	result $? "a program links with the static library, and runs"

	# Every function, from C++.
	here=${abs_top_srcdir:?}/selftests
	${CXX:-c++} -std=c++11 -Wall -Wextra -Wpedantic -Werror -pthread -o "$dest/cxx" \
		"$here/cxx.cc" $flags $libs >"$dest/out" 2>&1
	result $? "a C++11 program that uses all there is links with the shared library"
	SYNCEVENT_PROVIDER=shm LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") timeout 120 "$dest/cxx" \
		>"$dest/out" 2>&1
	result $? "and runs without the module"
}
sed -n 's/^\t\(syncevent_[a-z0-9_]*\);$/\1/p' "$here/../lib/libsyncevent.map" >"$dest/names"
while read -r name; do
	grep -q "\<$name(" "$here/cxx.cc" || echo "$name"
done <"$dest/names" >"$dest/out"
[ -s "$dest/names" ] && [ ! -s "$dest/out" ]
result $? "it names each function of the map"
