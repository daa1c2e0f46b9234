#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_doctor - hwpmc doctor on a kernel that has each fault, and what it says mends it.
# The order matters: the last test locks the kernel down.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko

load() { check insmod "$ko" "$@"; }
unload() { [ ! -d /sys/module/hwpmc ] || check rmmod hwpmc; }

# doctor STATUS [COMMAND...]: its report in `got`
doctor() {
	status=$1
	shift
	"$@" "$hwpmc" doctor >got 2>&1
	check_equal $? "$status" "status: $(cat got)"
}

# finds VERDICT NAME TEXT [COMMAND]
finds() {
	grep -A1 "^$1 *$2 .*$3" got >found || fail "no $1 $2 '$3' in: $(cat got)"
	[ $# -eq 3 ] || grep -qxF "                    to do: $4" found ||
		fail "not to do '$4': $(cat found)"
}

doctor_names_what_is_missing_without_the_module() {
	unload
	doctor 1
	finds note module "the module is not loaded, and not installed for kernel $(uname -r)"
	finds WRONG dkms "no module is installed" "apt-get install hwpmc-dkms"
	finds note pmu "the processor lists counters" "modprobe hwpmc, and run this again"
}

# The kernel would run its helper for the number of the node.
doctor_does_not_load_the_module_by_opening_the_node() {
	unload
	rm -f /dev/hwpmc
	check mknod /dev/hwpmc c 10 246
	printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$PWD" >helper
	chmod +x helper
	cat /proc/sys/kernel/modprobe >before
	echo "$PWD/helper" >/proc/sys/kernel/modprobe
	doctor 1
	[ ! -e asked ] || fail "the kernel was asked for: $(cat asked)"
	# That the trap works at all:
	cat /dev/hwpmc 2>/dev/null
	cat before >/proc/sys/kernel/modprobe
	check grep -q 'char-major-10-246' asked
	rm /dev/hwpmc
}

doctor_is_content_with_the_loaded_module_and_changes_nothing() {
	load
	doctor 0
	finds ok module "is loaded, contract"
	finds ok node "/dev/hwpmc has mode 0660, group root: this user can open it"
	finds ok holder "the counters are free"
	finds ok watchdog "off"
	check grep -qx 'hwpmc can count here' got
	"$hwpmc" doctor --json >report || fail "status $?"
	check_equal "$(python3 -c '
import json
r = json.load(open("report"))
print(r["can_count"], [f["name"] for f in r["findings"] if f["verdict"] == "wrong"])')" \
		"True []" "the report"
	unload
}

doctor_names_the_process_that_counts_with_perf() {
	load
	perf stat -e instructions sleep 1000 2>/dev/null &
	perf=$!
	holder=$perf
	await has_event
	doctor 1
	kill $perf
	pkill -P $perf 2>/dev/null
	wait $perf
	finds WRONG holder "held by perf (process $holder, perf" "wait for it or end it"
	await free
	unload
}
has_event() { find "/proc/$perf/fd" -lname '*perf_event*' | grep -q .; }
free() { "$hwpmc" control | grep -q 'free$'; }

doctor_names_the_watchdog_and_its_command_works() {
	load
	check sysctl -q kernel.nmi_watchdog=1
	doctor 1
	finds WRONG watchdog "holds a counter" "sysctl kernel.nmi_watchdog=0"
	check sh -c "$(sed 's/.*to do: //;2q;d' found)"
	doctor 0
	# Switched on beside hwpmc it does not start.
	"$hwpmc" stat -e instructions:u sleep 1000 >/dev/null 2>&1 &
	counting=$!
	await in_use
	sysctl -q kernel.nmi_watchdog=1
	doctor 0
	finds note watchdog "does not run: hwpmc holds the counters"
	sysctl -q kernel.nmi_watchdog=0
	pkill -P $counting
	wait $counting
	unload
}
in_use() { "$hwpmc" control | grep -q 'in use by hwpmc'; }

doctor_tells_a_user_which_group_to_join_and_that_helps() {
	load gid=65500
	doctor 1 setpriv --reuid 65534 --regid 65534 --clear-groups
	finds WRONG node "mode 0660, group 65500: this user is not in" \
		"sudo usermod -aG 65500 nobody"
	doctor 0 setpriv --reuid 65534 --regid 65534 --groups 65500
	unload
	load
	doctor 1 setpriv --reuid 65534 --regid 65534 --clear-groups
	finds WRONG node "mode 0660, group root: only root can open it" \
		"sudo modprobe -r hwpmc && sudo modprobe hwpmc gid=GROUP"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$hwpmc" stat true >said 2>&1
	check grep -q "sudo modprobe -r hwpmc && sudo modprobe hwpmc gid=GROUP$" said
	unload
}

doctor_tells_that_a_container_has_no_node() {
	load
	cat >contained <<-END
	mount -t tmpfs tmpfs /dev && mount -t tmpfs tmpfs /run &&
	mkdir /run/systemd && echo docker >/run/systemd/container
	exec "$hwpmc" doctor
	END
	unshare -m -p -f --mount-proc sh contained >got 2>&1
	check_equal $? 1 "status: $(cat got)"
	finds WRONG node "this container has no /dev/hwpmc" "docker run --device /dev/hwpmc ..."
	finds ok container "this is a container"
	unload
}

doctor_notes_a_loaded_module_of_another_version() {
	version=$("$hwpmc" --version | cut -d' ' -f2)
	# One byte of the text that modinfo prints: 0.1.0 becomes 0.1.x.
	LC_ALL=C sed "s/\\x00version=${version%?}./\\x00version=${version%?}x/" "$ko" >other.ko
	check insmod other.ko
	doctor 0
	finds note module "version ${version%?}x is loaded, the tools are $version: they are compatible" \
		"modprobe -r hwpmc && modprobe hwpmc"
	check_equal "$("$hwpmc" stat --csv -e instructions:u -- \
		"$VM_TOP/build/vm/progs/loop" 1000000 2>&1 |
		awk -F, '$4 == "instructions:u" { print $6 }')" 3000057 "what they count"
	unload
}

doctor_says_that_a_locked_down_kernel_takes_no_unsigned_module() {
	unload
	mkdir -p "root/lib/modules/$(uname -r)/updates" root/sys/kernel/security root/proc
	cp "$ko" "root/lib/modules/$(uname -r)/updates/"
	echo "updates/hwpmc.ko:" >"root/lib/modules/$(uname -r)/modules.dep"
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
	echo integrity >/sys/kernel/security/lockdown || skip "this kernel has no lockdown"
	insmod "$ko" 2>/dev/null && fail "the kernel took it"
	doctor 1
	finds ok lockdown "integrity: modules must be signed"
	finds note signature "this kernel requires signed modules"
	# The files of an installed module beside what this kernel says of itself.
	cp /sys/kernel/security/lockdown root/sys/kernel/security/
	cp /proc/cpuinfo root/proc/
	"$hwpmc" doctor --root root >got && fail "status 0: $(cat got)"
	finds note signature "the installed module is unsigned"
	finds WRONG key "DKMS has no key" \
		"dkms install --force hwpmc/$("$hwpmc" --version | cut -d' ' -f2) -k $(uname -r)"
}

harness_run
