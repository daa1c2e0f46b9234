#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# lib_examples_rust - the program in Rust of doc/examples/library that counts itself; rustc takes
# long in a guest, and `make check` compiles marks.rs (lib_examples).
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
sysctl -q kernel.nmi_watchdog=0

example_in_rust_counts_itself() {
	rustc -O --edition 2021 -L "$VM_TOP/build/lib" -o program \
		"$VM_TOP/doc/examples/library/counter.rs" >out 2>&1 || fail "rustc: $(cat out)"
	./program >out 2>&1 || fail "$(cat out)"
	n=$(sed -n 's/^sum [0-9]*: \([0-9]*\) instructions$/\1/p' out)
	[ "${n:-0}" -ge 1000 ] && [ "$n" -le 100000 ] || fail "$(cat out)"
}

harness_run
