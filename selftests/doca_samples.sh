#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#
# A program for DOCA is built by its own meson.build, with nothing but PKG_CONFIG_PATH, from
# what make install puts down: the samples are such programs. Then they run on the virtual
# pair, as two processes: set or add, with tasks or without, either of them the server.
# (TAP; needs no module)
#
# usage: doca_samples.sh
# environment: abs_top_srcdir, abs_top_builddir, MAKE, PKG_CONFIG, CC
set -u
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"
hang="timeout -k 10 120"
packages="doca-common doca-comch doca-argp doca-dma doca-rdma doca-dpa"

work=$(mktemp -d) || exit 1
server=
# shellcheck disable=SC2317	# by trap
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

log=$work/log
# shellcheck source=selftests/tap.sh
. "${abs_top_srcdir:?}/selftests/tap.sh"

echo "TAP version 13"
if ! command -v meson >/dev/null || ! command -v ninja >/dev/null; then
	skip "samples in DOCA style" "meson or ninja is not installed"
	echo "1..$number"
	exit 0
fi

# ---- what is installed ----------------------------------------------------------------

dest=$work/dest
{
	${MAKE:-make} -C "$abs_top_builddir/lib" install DESTDIR="$dest" &&
		${MAKE:-make} -C "$abs_top_builddir" install-includeHEADERS install-cellHEADERS \
			install-docaincludeHEADERS DESTDIR="$dest"
} >"$log" 2>&1
result $? "make install DESTDIR="

pc=$(find "$dest" -name doca-common.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$dest
LD_LIBRARY_PATH=$(dirname "$(find "$dest" -name libsyncevent-doca.so)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
pkgconfig=${PKG_CONFIG:-pkg-config}

# Not where a real DOCA would be found, too.
case $pc in
*/syncevent-doca/pkgconfig/doca-common.pc) true ;;
*) false ;;
esac
result $? "the packages are in a folder of their own"

version=$(sed -n 's/^AC_INIT(\[syncevent\], \[\(.*\)\])$/\1/p' "$abs_top_srcdir/configure.ac")
package_is_right() {
	"$pkgconfig" --atleast-version=2.7 "$1" && [ "$("$pkgconfig" --modversion "$1")" = 3.0.0 ] &&
		[ "$("$pkgconfig" --variable=syncevent_version "$1")" = "$version" ] &&
		[ -n "$version" ] || return 1
	"$pkgconfig" --libs "$1" | grep -q -- "-lsyncevent-doca" &&
		[ -e "$("$pkgconfig" --cflags-only-I "$1" | sed 's/^-I//; s/ .*//')/doca_sync_event.h" ]
}
for package in $packages; do
	package_is_right "$package" >"$log" 2>&1
	result $? "pkg-config knows $package, version 3.0.0"
done

# ---- building -----------------------------------------------------------------------------

# The folder of sources is not written to; what it is built from lies beside it.
cp -r "$abs_top_srcdir/samples/doca" "$work/src" && chmod -R u+w "$work/src"

build() {	# SAMPLE ROLE [FLAG]
	meson setup "$work/$1-$2" "$work/src/sync_event_$1_pci" -Dwerror=true ${3:+"-Dc_args=$3"} &&
		ninja -C "$work/$1-$2"
}
for sample in local remote; do
	build "$sample" client >"$log" 2>&1
	result $? "sync_event_${sample}_pci: meson, as the client"
	build "$sample" server -DDOCA_ARCH_DPU >"$log" 2>&1
	result $? "sync_event_${sample}_pci: meson, as the server"
done

for sample in local remote; do
	for role in "" -DDOCA_ARCH_DPU; do
		# shellcheck disable=SC2046,SC2086	# lists of words
		${CC:-cc} -std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Werror \
			-DDOCA_ALLOW_EXPERIMENTAL_API $role $($pkgconfig --cflags doca-common) -c -o /dev/null \
			-x c "$work/src/sync_event_${sample}_pci/sync_event_${sample}_pci_sample.c" >"$log" 2>&1
		result $? "sync_event_${sample}_pci: no warning $role"
	done
done

# ---- running ----------------------------------------------------------------------------------

program() {	# SAMPLE ROLE
	echo "$work/$1-$2/doca_sync_event_$1_pci"
}

SYNCEVENT_DOCA_DOMAIN=samples.$$
export SYNCEVENT_DOCA_DOMAIN

# Both programs, the server first. Their flags are the same but for the devices.
pair() {	# SERVER CLIENT FLAG...
	serves=$1 asks=$2
	shift 2
	: >"$work/server.log"
	$hang "$(program "$serves" server)" -d 03:00.0 -r 01:00.0 "$@" >"$work/server.log" 2>&1 &
	server=$!
	until grep -q 'Waiting for the client' "$work/server.log"; do
		kill -0 $server 2>/dev/null || break
	done
	$hang "$(program "$asks" client)" -d 0000:01:00.0 "$@" >"$work/client.log" 2>&1
	client_status=$?
	wait $server
	server_status=$?
	server=
	cat "$work/server.log" "$work/client.log" >"$log"
	[ $client_status -eq 0 ] && [ $server_status -eq 0 ]
}

# What the local one saw, and whether the remote one added.
saw() {	# VALUE
	grep -q "\[INF\].*The event has value $1\$" "$log" &&
		[ "$(grep -c '\[INF\].*The sample succeeded$' "$log")" -eq 2 ] &&
		! grep -q '\[ERR\]\|\[WRN\]' "$log"
}

for serves in local remote; do
	[ $serves = local ] && asks=remote || asks=local
	pair "$serves" "$asks" && saw 1 && ! grep -q 'The event had value' "$log"
	result $? "$serves is the server: set"
	pair "$serves" "$asks" --atomic && saw 1 && grep -q 'The event had value 0$' "$log"
	result $? "$serves is the server: add"
	pair "$serves" "$asks" --async --async-num-tasks 5 && saw 5
	result $? "$serves is the server: set by tasks"
	pair "$serves" "$asks" --async --atomic --async_num_tasks 5 && saw 5
	result $? "$serves is the server: add by tasks"
done

cat >"$work/flags.json" <<'END'
{
	"doca_general_flags": { "log-level": 50, "sdk-log-level": 40 },
	"doca_program_flags": {
		"async": true,
		"async-num-tasks": 2,
		"atomic": true
	}
}
END
pair local remote -j "$work/flags.json" && saw 2
result $? "flags from a JSON file"

# ---- their words ----------------------------------------------------------------------------------

says() {	# STATUS TEXT PROGRAM FLAG...
	wanted=$1 text=$2
	shift 2
	$hang "$@" >"$log" 2>&1
	[ $? -eq "$wanted" ] && grep -q -- "$text" "$log"
}
for sample in local remote; do
	client=$(program "$sample" client) server_program=$(program "$sample" server)
	says 0 "-r, --rep-pci <address>" "$server_program" -h
	result $? "$sample: -h"
	says 0 "DOCA 3.0.0 (libsyncevent-doca $version)" "$client" --version
	result $? "$sample: --version"
	says 1 "--pci-addr is missing" "$client"
	result $? "$sample: no device"
	says 1 "no such flag, or the beginning of several: --rdma" "$client" -d 01:00.0 --rdma
	result $? "$sample: an unknown flag"
	says 1 "Failed to open device ff:00.0: not found" "$client" -d ff:00.0
	result $? "$sample: an unknown device"
	says 1 "Failed to open the other side, 02:00.0: not found" \
		"$server_program" -d 03:00.0 --rep-pci-addr 02:00.0
	result $? "$sample: an unknown other side"
	says 1 "The server needs --rep-pci" "$server_program" -d 03:00.0
	result $? "$sample: a server without the other side"
	says 1 "The number of tasks is at least 1" "$client" -d 01:00.0 --async-num-tasks 0
	result $? "$sample: no tasks"
done
echo "1..$number"
exit $failed
