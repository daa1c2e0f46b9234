#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_fuzz.sh - a few seeds of the fuzzer of the device, always the same ones, and that
# its seeds are what it says: the same sequence each time, also as a program in C.
# FUZZ_SEEDS=n: so many seeds (6); `make fuzz` takes others, for as long as one likes.
. "$(dirname "$0")/../../harness/harness.sh"

out=/tmp/kmod_fuzz
fuzz=$VM_TOP/build/vm/fuzz/ioctl
again="--seed 9 --ops 400 --model intel"

# With short grace periods there are more operations.
short_grace_periods() { echo "$1" >/sys/kernel/rcu_expedited; }

# The programs that it runs are named from the tree.
fuzz() {
	cd "$VM_TOP" || fail "no tree"
	"$fuzz" "$@" >"$out" 2>&1 ||
		fail "$(grep -A4 FAILED "$out" || tail -n 3 "$out")"
	tail -n 1 "$out"
}

a_seed_is_the_same_sequence_each_time() {
	one=$("$fuzz" --seed 77 --ops 5000 --print)
	check_equal "$("$fuzz" --seed 77 --ops 5000 --print)" "$one" "the same seed"
	other=$("$fuzz" --seed 78 --ops 5000 --print)
	[ "${other##* }" != "${one##* }" ] || fail "two seeds are one sequence"
}

random_sequences_leave_the_driver_as_it_was() {
	fuzz --seed 3 --seeds "${FUZZ_SEEDS:-6}" --ops 700
}

# One thread, so that what a refusal changed would be its own doing.
random_refusals_change_no_row_and_no_argument() {
	fuzz --seed 2 --ops 500
	grep -q ' alone: ' "$out" || fail "the seed has several threads"
}

# Whether a flush is interrupted is a matter of time.
a_sequence_as_a_program_answers_the_same() {
	# shellcheck disable=SC2086
	fuzz $again --trace
	sed -n 's/^seed.*alone: //; /^[0-9]* nr /p' "$out" |
		grep -v ' nr 1:' >"$out.fuzzer"
	[ "$(wc -l <"$out.fuzzer")" -gt 200 ] || fail "a short sequence"
	"$VM_TOP/build/vm/fuzz/again" -v | grep -v ' nr 1:' >"$out.program"
	# A process may have ended or not when it is named: that is not repeatable.
	diff "$out.fuzzer" "$out.program" >"$out.diff" || true
	[ "$(grep -c '^[<>]' "$out.diff")" -le 10 ] ||
		fail "$(head -n 12 "$out.diff")"
}

short_grace_periods 1
status=0
(harness_run) || status=$?
short_grace_periods 0
exit $status
