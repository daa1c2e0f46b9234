#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_boot - what loads the module: an open of its node, which the programs of the boot
# make, /etc/modules-load.d, modprobe; and where its parameters come from. The module is
# installed as dkms does, into /lib/modules, on file systems mounted over the host's.
. "$VM_TOP/tests/harness/harness.sh"
release=$(uname -r)
modules=/lib/modules/$release
examples=$VM_TOP/doc/examples
control=$VM_TOP/build/tools/hwpmc

# writable DIR: what is written below it goes to memory
writable() {
	top=/tmp/boot/$(echo "$1" | tr / _)
	mkdir -p "$top/upper" "$top/work"
	mount -t overlay -o "lowerdir=$1,upperdir=$top/upper,workdir=$top/work" overlay "$1"
}

install_module() {
	mkdir -p "$modules/updates/dkms"
	cp "$VM_TOP/build/kmod/$release/hwpmc.ko" "$modules/updates/dkms/"
	cp "$VM_KERNEL/lib/modules/$release"/modules.builtin* "$modules/"
	touch "$modules/modules.order"
	depmod -a 2>/tmp/boot/depmod.err
}

modprobe -d "$VM_KERNEL" overlay && writable /usr/lib && writable /etc && install_module ||
	{ echo "Bail out! cannot install the module"; exit 1; }

loaded() { [ -d /sys/module/hwpmc ]; }

unload() {
	loaded || return 0
	check rmmod hwpmc
}

# What the two services do at boot.
make_nodes() {
	check kmod static-nodes --format=tmpfiles --output=/tmp/boot/nodes.conf
	check systemd-tmpfiles --prefix=/dev --create --boot /tmp/boot/nodes.conf
}

# anew: no module, no node, no file of the administrator's
anew() {
	unload
	rm -f /dev/hwpmc /etc/modules-load.d/hwpmc.conf /etc/modprobe.d/hwpmc.conf
}

tunable() { cat "/proc/sys/kern/hwpmc/$1"; }

depmod_takes_the_aliases_without_a_word() {
	check_equal "$(cat /tmp/boot/depmod.err)" "" "depmod's errors"
	check grep -qx 'hwpmc hwpmc c10:246' "$modules/modules.devname"
}

opening_the_node_that_the_boot_makes_loads_the_module() {
	anew
	make_nodes
	check_equal "$(stat -c '%F %t:%T %a %u' /dev/hwpmc)" \
		"character special file a:f6 600 0" "the node"
	loaded && fail "it is loaded before the open"
	check "$control" stat -e instructions:u -- true
	loaded || fail "it is not loaded"
	# The node is not the module's, and stays.
	unload
	check "$control" control -l
	loaded || fail "it is not loaded a second time"
}

a_user_who_may_not_open_the_node_does_not_load_the_module() {
	anew
	make_nodes
	chroot --userspec=65534:65534 / "$control" control -l >/dev/null 2>&1 &&
		fail "the node could be opened"
	loaded && fail "it is loaded"
	# As a rule of udev's would have it.
	chmod 666 /dev/hwpmc
	check chroot --userspec=65534:65534 / "$control" control -l
	loaded || fail "it is not loaded"
}

a_node_that_the_module_makes_has_the_same_number_and_goes_with_it() {
	anew
	check modprobe hwpmc
	check_equal "$(stat -c '%t:%T %a' /dev/hwpmc)" "a:f6 660" "the node"
	unload
	[ ! -e /dev/hwpmc ] || fail "the node stays"
}

the_example_of_modules_load_d_loads_the_module() {
	anew
	mkdir -p /etc/modules-load.d
	cp "$examples/modules-load.d/hwpmc.conf" /etc/modules-load.d/
	check /lib/systemd/systemd-modules-load
	loaded || fail "it is not loaded"
}

the_kernels_command_line_sets_parameters() {
	anew
	check modprobe hwpmc
	check_equal "$(tunable mincount) $(tunable callchaindepth)" "2345 77" "tunables"
	# They come before those of the command itself.
	unload
	check modprobe hwpmc mincount=4711
	check_equal "$(tunable mincount) $(tunable callchaindepth)" "4711 77" "tunables"
}

the_example_of_modprobe_d_sets_parameters() {
	anew
	cp "$examples/modprobe.d/hwpmc.conf" /etc/modprobe.d/
	check modprobe hwpmc
	# Those of the command line override them.
	check_equal "$(tunable mincount) $(tunable callchaindepth)" "2345 77" "tunables"
	# A machine without them: the file alone.
	unload
	sed 's/hwpmc\.[a-z]*=[0-9]*//g' /proc/cmdline >/tmp/boot/cmdline
	check mount --bind /tmp/boot/cmdline /proc/cmdline
	modprobe hwpmc || why=failed
	umount /proc/cmdline
	check_equal "${why:-} $(tunable mincount) $(tunable callchaindepth)" " 10000 64" \
		"tunables of the file"
}

node() { stat -c '%a %G' /dev/hwpmc; }

# The rule, and the group as the package makes it; udev as the machine of a user has it.
udev_gives_the_node_to_the_group_unless_the_administrator_decides() {
	anew
	check systemd-sysusers "$VM_TOP/system/hwpmc.conf"
	mkdir -p /run/udev/rules.d
	cp "$VM_TOP/system/60-hwpmc.rules" /run/udev/rules.d/
	check /lib/systemd/systemd-udevd --daemon
	check modprobe hwpmc
	check udevadm settle
	check_equal "$(node)" "660 hwpmc" "the node"
	check setpriv --reuid 65534 --regid 65534 --groups "$(getent group hwpmc | cut -d: -f3)" \
		"$control" control -l
	setpriv --reuid 65534 --regid 65534 --clear-groups "$control" control -l >/dev/null 2>&1 &&
		fail "another user may open it"
	for decided in gid=65534:"660 nogroup" mode=0600:"600 root" mode=0666:"666 root"; do
		unload
		check modprobe hwpmc "${decided%%:*}"
		check udevadm settle
		check_equal "$(node)" "${decided#*:}" "the node with ${decided%%:*}"
	done
	unload
	udevadm control --exit
}

a_blacklisted_module_is_loaded_by_its_name_alone() {
	anew
	make_nodes
	sed 's/^#blacklist/blacklist/' "$examples/modprobe.d/hwpmc.conf" >/etc/modprobe.d/hwpmc.conf
	check grep -q '^blacklist hwpmc' /etc/modprobe.d/hwpmc.conf
	"$control" control -l >/dev/null 2>&1 && fail "the device was opened"
	loaded && fail "an open loads it"
	check modprobe hwpmc
	check "$control" control -l
}

a_minor_that_is_taken_costs_the_loading_by_an_open_alone() {
	anew
	check insmod "$VM_TOP/build/vm/kmods/$release/minormod.ko"
	dmesg -C
	check modprobe hwpmc
	dmesg | grep -q 'hwpmc: another driver has misc minor 246: opening the device does not load' ||
		fail "it does not say so: $(dmesg | tail -n 3)"
	[ "$(stat -c %T /dev/hwpmc)" != f6 ] || fail "it has the minor"
	check "$control" stat -e instructions:u -- true
	unload
	check rmmod minormod
	check modprobe hwpmc
	check_equal "$(stat -c %T /dev/hwpmc)" f6 "minor"
	anew
}

harness_run
