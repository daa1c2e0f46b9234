# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# harness.sh - test programs in sh, with the same TAP as harness.c. A test is a
# function of the file whose name is a sentence (three underscores or more);
# the file ends with `harness_run`. Each test runs in a subshell.
#
#	. "$(dirname "$0")/../harness/harness.sh"
#	loading_twice_says_file_exists() {
#		check insmod "$ko"
#		insmod "$ko" 2>err && fail "a second insmod succeeded"
#		grep -q "File exists" err || fail "insmod said: $(cat err)"
#	}
#	harness_run

harness_dir=$(mktemp -d)

# End the test: it failed, or what it needs is not here. Within a subshell, $() or a
# pipe the test goes on, and has failed.
fail() { echo "$*" >"$harness_dir/why"; exit 1; }
skip() { echo "$*" >"$harness_dir/skip"; exit 0; }

# Run a command; the test fails if it does.
check() {
	"$@" >"$harness_dir/out" 2>&1 ||
		fail "$*: status $?: $(head -c 300 "$harness_dir/out")"
}

# check_equal GOT WANT WHAT
check_equal() { [ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"; }

# Wait until a command succeeds. A hang is ended from outside, with the whole program.
await() { until "$@"; do sleep 0.1; done; }

# Until a pipe that nobody reads is full: other writers stand still then.
fill_pipe() {
	while dd if=/dev/zero of="$1" bs=4096 count=1 oflag=nonblock conv=notrunc 2>/dev/null; do
		sleep 0.1
	done
}

# Has the process ended, whether its parent has waited for it or not?
has_ended() { ! grep -qs '^State:[[:space:]]*[^XZ]' "/proc/$1/status"; }

# Has a process a child of this name that has run for a tick of the clock?
has_running_child() {
	for harness_pid in $(pgrep -P "$1" -x "$2"); do
		[ "$(cut -d' ' -f14 "/proc/$harness_pid/stat" 2>/dev/null || echo 0)" -eq 0 ] ||
			return 0
	done
	return 1
}

# limit SECONDS COMMAND...: of CPU time, for the command and each of its children, which
# a busy machine does not shorten
limit() {
	harness_cpu=$1
	shift
	prlimit --cpu="$harness_cpu" "$@"
}

# A program that awk does not understand tests nothing, and its status is soon lost.
awk() {
	command awk "$@" || {
		set -- $?
		[ "$1" -lt 2 ] || [ "$1" -gt 128 ] || fail "awk: status $1"
		return "$1"
	}
}

harness_line() { tr '\n\t' '  ' | sed 's/ *$//'; }

# The tests of the file; of these HARNESS_ONLY=text[,text...] picks some by their names.
harness_tests() {
	sed -n 's/^\([a-z0-9]*_[a-z0-9]*_[a-z0-9]*_[a-z0-9_]*\)() {.*/\1/p' "$0" |
		grep -F "$(echo "${HARNESS_ONLY:-}" | tr , '\n')"
}

# With HARNESS_COST set: millions of instructions of this machine so far, before each test
# and after the last.
harness_cost() {
	[ -z "${HARNESS_COST:-}" ] || echo "# cost $("$VM_TOP/build/vm/truth/vcost")"
}

harness_run() {
	# shellcheck disable=SC2046
	set -- $(harness_tests)
	echo "1..$#"
	harness_n=0
	for harness_t; do
		harness_n=$((harness_n + 1))
		echo "# plan $harness_n - $harness_t"
	done
	harness_n=0 harness_bad=0
	for harness_t; do
		harness_n=$((harness_n + 1))
		harness_cost
		rm -f "$harness_dir/why" "$harness_dir/skip"
		if (cd "$harness_dir" && "$harness_t") >&2 &&
				[ ! -e "$harness_dir/why" ]; then
			if [ -e "$harness_dir/skip" ]; then
				echo "ok $harness_n - $harness_t # SKIP $(harness_line <"$harness_dir/skip")"
			else
				echo "ok $harness_n - $harness_t"
			fi
		else
			harness_bad=1
			[ -s "$harness_dir/why" ] ||
				echo "its last command failed" >"$harness_dir/why"
			echo "not ok $harness_n - $harness_t # $(harness_line <"$harness_dir/why")"
		fi
	done
	harness_cost
	rm -rf "$harness_dir"
	exit $harness_bad
}
