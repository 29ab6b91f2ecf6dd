#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# Do the public headers, the symbol maps, the libraries' symbols, the pkg-config
# file and the README's example fit each other? (TAP; needs no module)
#
# The checks run on a copy of the sources, and then on copies with one thing
# broken each, which must be noticed.
#
# usage: headers.sh
# environment: CC, CXX, PKG_CONFIG, abs_top_srcdir

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cc=${CC:-cc}
cxx=${CXX:-c++}
pkg_config=${PKG_CONFIG:-pkg-config}
warn="-Wall -Wextra -Wpedantic -Werror"
strict="$warn -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef"

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$tmp/good" "$tmp/good/selftests"
cp -r "$top/include" "$top/lib" "$top/README.md" "$tmp/good"
cp "$top/selftests/headers.c" "$tmp/good/selftests"
# The sources of make distcheck are read-only.
chmod -R u+w "$tmp"

count=0
failed=0
# result NAME COMMAND...: runs it, its output explains a failure
result() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		sed 's/^/# /' "$tmp/log"
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# ---- the checks, each on the tree $1 -------------------------------------------

# compile TREE LANGUAGE FLAGS... : standard input, as C99 or C++11
compile() {
	flags="-I$1/include -I$1/include/uapi $warn"
	if [ "$2" = C99 ]; then
		compiler="$cc -x c -std=c99"
	else
		compiler="$cxx -x c++ -std=c++11"
	fi
	shift 2
	$compiler $flags "$@" -S -o /dev/null -
}

# Each header must compile alone, and survive to be included twice.
alone() {
	printf '#include <%s>\n#include <%s>\ntypedef int unit_is_not_empty;\n' "$4" "$4" |
		compile "$1" "$2" "$3"
}

layout() {
	compile "$1" "$2" "$3" -I"$1/selftests" <"$1/selftests/headers.c"
}

# As on a unit without Linux or a C library.
freestanding() {
	compile "$1" "$2" "$3" -U__linux__ -ffreestanding -DFREESTANDING <"$1/selftests/headers.c"
}

# A unit that reads a word of 64 bits in two parts is refused.
narrow_refused() {
	unit="-m64 -U__linux__ -ffreestanding -D__riscv"
	# shellcheck disable=SC2086	# a list of words
	echo '#include <syncevent/dpa.h>' | compile "$1" "$2" $unit -D__riscv_xlen=64 || return 1
	# shellcheck disable=SC2086
	! echo '#include <syncevent/dpa.h>' | compile "$1" "$2" $unit -D__riscv_xlen=32
}

# Between an update and the hints, for memory that the unit takes for I/O: what is said
# of CPU $2 (it need not be assembled) has barrier $3 there.
orders_io() {
	cat >"$tmp/unit.c" <<-end
	#include <syncevent/dpa.h>
	int f(struct syncevent_dpa *dpa, uint64_t *old) { return syncevent_dpa_add(dpa, *old, 1, old); }
	end
	$cc -std=c99 -m64 -O2 -I"$1/include" -U__linux__ -ffreestanding "-D$2" -D__riscv_xlen=64 -S -o - \
		"$tmp/unit.c" | grep -A 4 xadd | grep "$3"
}

# Every inline function is in the library too, for other languages.
declared() {
	{
		echo '#include <syncevent.h>' | $cc -E -P -I"$1/include" - | tr '\n' ' ' | tr ';' '\n' |
			sed -n 's/^[^{}]*[ *]\(syncevent_[a-z0-9_]*\) *(.*/\1/p'
		cat "$1"/include/syncevent/*.h |
			sed -n 's/^SYNCEVENT_INLINE .*[ *]\(syncevent_[a-z0-9_]*\)(.*/\1/p'
	} | sort
}

mapped() {
	sed -n 's/^\t\(syncevent_[a-z0-9_]*\);$/\1/p' "$1/lib/libsyncevent.map" | sort
}

same() {
	if [ ! -s "$1" ]; then
		echo "$1 is empty"
		return 1
	fi
	diff -u "$1" "$2"
}

map_fits() {
	declared "$1" >"$tmp/declared"
	mapped "$1" >"$tmp/mapped"
	same "$tmp/declared" "$tmp/mapped"
}

# build TREE FLAGS...: objects, shared and static library in TREE/out
build() {
	out=$1/out
	flags="-O2 -fPIC -fvisibility=hidden -I$1/include -I$1/include/uapi $strict"
	map=$1/lib/libsyncevent.map
	rm -rf "$out" && mkdir "$out" || return 1
	set -- "$1/lib" "$@"
	lib=$1
	shift 2
	for file in "$lib"/*.c; do
		$cc -std=c11 $flags "$@" -c "$file" -o "$out/$(basename "$file" .c).o" || return 1
	done
	$cc "$@" -shared -Wl,-soname,libsyncevent.so.0 -Wl,-z,defs \
		-Wl,--version-script="$map" -o "$out/libsyncevent.so.0" "$out"/*.o &&
		ln -s libsyncevent.so.0 "$out/libsyncevent.so" &&
		ar rcs "$out/libsyncevent.a" "$out"/*.o
}

compiles_only() {
	for file in "$1"/lib/*.c; do
		$cc -std=c11 -O2 -fPIC -I"$1/include" -I"$1/include/uapi" $strict "$2" \
			-S -o /dev/null "$file" || return 1
	done
}

# The shared library exports what the map names, in that version, and the static
# one brings no name along that a program might have too.
exports() {
	build "$1" || return 1
	sed 's/$/@@LIBSYNCEVENT_0.1/' "$tmp/mapped" >"$tmp/wanted"
	nm -D --defined-only "$1/out/libsyncevent.so" |
		awk '$2 != "A" { print $3 }' | sort >"$tmp/exported"
	same "$tmp/wanted" "$tmp/exported" || return 1
	! nm -g --defined-only "$1/out/libsyncevent.a" | awk 'NF == 3 { print $3 }' |
		grep -v -e '^syncevent_' -e '^se_'
}

# Those of DOCA's names, which must compile without a word as programs use them, and as
# those who did not allow what is experimental.
doca_alone() {
	printf '#include <%s>\n#include <%s>\ntypedef int unit_is_not_empty;\n' "$4" "$4" |
		compile "$1" "$2" "$3" -I"$1/include/doca" -DDOCA_ALLOW_EXPERIMENTAL_API &&
	printf '#include <%s>\ntypedef int unit_is_not_empty;\n' "$4" |
		compile "$1" "$2" "$3" -I"$1/include/doca"
}

# Programs have memset() and the like from any of them that declares functions.
doca_has_string() {
	for header in "$1"/include/doca/*.h; do
		case $header in *config.h | *_dpa_dev_*) continue ;; esac
		printf '#include <%s>\nsize_t f(char *s) { memset(s, 1, 2); return strnlen(s, 2); }\n' \
			"$(basename "$header")" |
			compile "$1" C99 -m64 -I"$1/include/doca" -D_GNU_SOURCE || return 1
	done
}

# On a unit without Linux or a C library.
doca_freestanding() {
	printf '#include <%s>\ntypedef int unit_is_not_empty;\n' doca_dpa_dev_sync_event.h |
		compile "$1" "$2" -m64 -I"$1/include/doca" -U__linux__ -ffreestanding
}

experimental_warns() {
	! printf '#include <doca_sync_event.h>\nint f(void) { return (int)%s; }\n' \
		'doca_sync_event_destroy(0)' | compile "$1" C99 -m64 -I"$1/include/doca"
}

doca_compiles_only() {
	for file in "$1"/lib/doca/*.c; do
		$cc -std=c11 -O2 -fPIC -I"$1/include" -I"$1/include/uapi" -I"$1/include/doca" -DSED_VERSION=0 \
			$strict "$2" -S -o /dev/null "$file" || return 1
	done
}

# What the headers declare for the library, and not as inlines.
doca_declared() {
	for header in "$1"/include/doca/*.h; do
		case $header in *_dpa_dev_*) continue ;; esac
		echo "#include <$(basename "$header")>"
	done | $cc -E -P -I"$1/include" -I"$1/include/uapi" -I"$1/include/doca" - | tr '\n' ' ' |
		tr ';{}' '\n\n\n' |
		sed -n 's/^.*visibility__ *("default").*[ *]\(doca_[a-z0-9_]*\) *(.*/\1/p' | sort -u
}

# Its objects with libsyncevent's shared library, which is in TREE/out.
doca_exports() {
	build "$1" || return 1
	doca_declared "$1" >"$tmp/wanted.doca"
	for file in "$1"/lib/doca/*.c; do
		$cc -std=c11 -O2 -fPIC -fvisibility=hidden -I"$1/include" -I"$1/include/uapi" \
			-I"$1/include/doca" -DSED_VERSION=0 -c "$file" -o "$1/out/doca-$(basename "$file" .c).o" ||
			return 1
	done
	# shellcheck disable=SC2046	# a list of words
	$cc -shared -Wl,-z,defs -Wl,--version-script="$1/lib/doca/libsyncevent-doca.map" \
		-o "$1/out/libsyncevent-doca.so" "$1"/out/doca-*.o "$1/out/libsyncevent.so" \
		-pthread $($pkg_config --libs json-c 2>/dev/null) || return 1
	nm -D --defined-only "$1/out/libsyncevent-doca.so" |
		awk '$2 != "A" { print $3 }' | sort >"$tmp/exported"
	sed 's/$/@@LIBSYNCEVENT_DOCA_0.1/' "$tmp/wanted.doca" >"$tmp/wanted"
	same "$tmp/wanted" "$tmp/exported" || return 1
	! nm -g --defined-only "$1"/out/doca-*.o | awk 'NF == 3 { print $3 }' |
		grep -v -e '^doca_' -e '^sed_'
}

# It stands on libsyncevent's public headers alone.
doca_public_only() {
	! grep -n -e "#include <linux/syncevent" -e "#include \"\.\." "$1"/lib/doca/*.[ch]
}

# A folder as make install leaves it.
install_into() {
	version=$(sed -n 's/^AC_INIT(\[syncevent\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
	mkdir -p "$2/include/linux" "$2/include/syncevent" "$2/lib/pkgconfig" &&
		cp "$1/include/syncevent.h" "$2/include" &&
		cp "$1"/include/syncevent/*.h "$2/include/syncevent" &&
		cp "$1/include/uapi/linux/syncevent.h" "$2/include/linux" &&
		cp -P "$1"/out/libsyncevent.* "$2/lib" &&
		sed -e "s,@prefix@,$2," -e 's,@exec_prefix@,${prefix},' \
			-e 's,@libdir@,${exec_prefix}/lib,' \
			-e 's,@includedir@,${prefix}/include,' \
			-e "s,@PACKAGE_VERSION@,$version," \
			"$1/lib/libsyncevent.pc.in" >"$2/lib/pkgconfig/libsyncevent.pc"
}

pc() {
	PKG_CONFIG_PATH="$tmp/prefix/lib/pkgconfig" $pkg_config "$@" libsyncevent
}

pc_is_right() {
	install_into "$1" "$tmp/prefix" && pc --print-errors --exists || return 1
	! grep -n '@' "$tmp/prefix/lib/pkgconfig/libsyncevent.pc" || return 1
	[ "$(pc --modversion)" = "$version" ] && [ -n "$version" ] || return 1
	# Some implementations end the line with a space.
	[ "$(pc --cflags | sed 's/ *$//')" = "-I$tmp/prefix/include" ] || return 1
	[ "$(pc --libs | sed 's/ *$//')" = "-L$tmp/prefix/lib -lsyncevent" ]
}

# The README's example is its first C block.
example() {
	awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$1/README.md" >"$tmp/example.c"
	[ -s "$tmp/example.c" ] || { echo "README.md has no C block"; return 1; }
	$cc -std=c99 $warn $(pc --cflags) "$tmp/example.c" $(pc --libs) -o "$tmp/example" &&
		$cxx -x c++ -std=c++11 $warn $(pc --cflags) "$tmp/example.c" $(pc --libs) \
			-o "$tmp/example++" &&
		$cc -std=c99 $warn $(pc --cflags) "$tmp/example.c" \
			"$tmp/prefix/lib/libsyncevent.a" -o "$tmp/example.static"
}

# ---- the sources as they are ---------------------------------------------------

echo "TAP version 13"
t=$tmp/good
words=
for bits in 64 32; do
	for language in C99 C++11; do
		if ! printf '#include <%s>\n' stdint.h linux/types.h |
				compile "$t" "$language" "-m$bits" 2>"$tmp/log"; then
			skip "$language, $bits bit" "the compiler has no -m$bits, or no headers for it"
			continue
		fi
		[ $language = C99 ] && words="$words $bits"
		for header in linux/syncevent.h linux/syncevent_region.h syncevent.h syncevent/cell.h \
				syncevent/inline.h syncevent/region.h syncevent/side.h syncevent/dpa.h; do
			result "$header compiles alone: $language, $bits bit" \
				alone "$t" "$language" "-m$bits" "$header"
		done
		for header in "$t"/include/doca/*.h; do
			result "$(basename "$header") compiles alone: $language, $bits bit" \
				doca_alone "$t" "$language" "-m$bits" "$(basename "$header")"
		done
		result "layout: $language, $bits bit" layout "$t" "$language" "-m$bits"
		result "headers without Linux: $language, $bits bit" \
			freestanding "$t" "$language" "-m$bits"
	done
done
for bits in $words; do
	result "the library compiles without a warning: $bits bit" compiles_only "$t" "-m$bits"
	result "libsyncevent-doca compiles without a warning: $bits bit" \
		doca_compiles_only "$t" "-m$bits"
done
result "the map names what the headers declare" map_fits "$t"
result "the libraries define what the map names" exports "$t"
result "libsyncevent-doca exports what its headers declare" doca_exports "$t"
result "libsyncevent-doca includes public headers alone" doca_public_only "$t"
result "the headers of DOCA's names declare memset()" doca_has_string "$t"
result "an experimental function warns" experimental_warns "$t"
for language in C99 C++11; do
	result "programs of an accelerator need no Linux: $language" doca_freestanding "$t" $language
	result "firmware of 32 bits is refused: $language" narrow_refused "$t" $language
done
result "firmware orders I/O memory: AArch64" orders_io "$t" __aarch64__ "dmb sy"
result "firmware orders I/O memory: RISC-V" orders_io "$t" __riscv "fence iorw, iorw"
result "libsyncevent.pc is right" pc_is_right "$t"
result "the README's example compiles" example "$t"

# ---- what must be noticed --------------------------------------------------------

# broken NAME FILE SED-SCRIPT CHECK...: CHECK must fail on the changed copy
broken() {
	name=$1 file=$2 script=$3
	shift 3
	rm -rf "$tmp/bad" && cp -r "$tmp/good" "$tmp/bad"
	sed "$script" "$tmp/good/$file" >"$tmp/bad/$file"
	if cmp -s "$tmp/good/$file" "$tmp/bad/$file"; then
		set -- unchanged
	fi
	check=$1
	shift
	result "noticed: $name" not "$check" "$tmp/bad" "$@"
}

not() {
	! "$@"
}

unchanged() {
	echo "the sed script found nothing to change"
}

u=include/uapi/linux/syncevent.h
broken "a header that needs another" include/syncevent.h '/include <stdint.h>/d' \
	alone C99 -m64 syncevent.h
broken "a header that is not C++" include/syncevent/cell.h 's/const struct syncevent_hint \*hint/& = 0, *class/' \
	alone C++11 -m64 syncevent/cell.h
broken "a field that moved" $u '/^struct syncevent_wait {/,/^}/{ /operand;/d; s/^}/__aligned_u64 operand; }/; }' \
	layout C++11 -m64
broken "a field of the library that moved" include/syncevent.h '/^struct syncevent_attr {/,/^}/s/uint32_t provider/uint64_t provider/' \
	layout C99 -m64
broken "a cell that differs without Linux" include/syncevent/cell.h 's/uint16_t sides/uint32_t sides/' \
	freestanding C99 -m64
broken "a region that differs without Linux" include/syncevent/region.h 's/uint32_t doorbell/uint64_t doorbell/' \
	freestanding C99 -m64
broken "a region that moved" include/uapi/linux/syncevent_region.h 's/__u32 doorbell/__aligned_u64 doorbell/' \
	layout C99 -m64
broken "a unit that tears words" include/syncevent/side.h 's/__riscv_xlen < 64/0/' narrow_refused C99
broken "a barrier for memory alone" include/syncevent/side.h 's/"dmb sy"/"dmb ish"/' \
	orders_io __aarch64__ "dmb sy"
broken "a symbol that the map lacks" lib/libsyncevent.map '/syncevent_disarm;/d' map_fits
broken "an inline function that the map lacks" lib/libsyncevent.map '/syncevent_inline_add;/d' map_fits
broken "a symbol that only the map has" lib/libsyncevent.map 's/\tsyncevent_arm;/&\n\tsyncevent_arms;/' \
	map_fits
broken "a symbol of another version" lib/libsyncevent.map 's/LIBSYNCEVENT_0.1/LIBSYNCEVENT_9/' exports
broken "a function that is not defined" lib/event.c 's/^int syncevent_disarm/int syncevent_unarm/' exports
broken "an internal function that a program might have too" lib/device.c \
	's/^static bool is_device/bool is_device(int fd);\n&/; s/^static \(bool is_device\)/\1/' exports
broken "a DOCA header that needs another" include/doca/doca_pe.h '/include <doca_error.h>/d' \
	doca_alone C99 -m64 doca_pe.h
broken "DOCA headers without string.h" include/doca/doca_compat.h '/include <string.h>/d' \
	doca_has_string
broken "a DOCA function that is not defined" lib/doca/pe.c \
	's/^doca_error_t doca_pe_destroy/doca_error_t doca_pe_end/' doca_exports
broken "a DOCA function that is not declared" include/doca/doca_error.h \
	's/doca_error_get_descr/doca_error_get_text/' doca_exports
broken "an internal header" lib/doca/pe.c 's/#include "internal.h"/&\n#include "..\/tree.h"/' \
	doca_public_only
broken "a library that is not linked" lib/libsyncevent.pc.in 's/-lsyncevent//' pc_is_right
broken "an example with a wrong name" README.md 's/syncevent_wait(/syncevent_await(/' example

echo "1..$count"
exit $failed
