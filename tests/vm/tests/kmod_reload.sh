#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_reload - the module comes and goes under load, STORM_CYCLES times (200), and more
# where that does not tell: no leak, no splat (the VM's kernel messages are
# looked at after). kmod_clean comes after it.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
hwpmc=$VM_TOP/build/tools/hwpmc
CYCLES=${STORM_CYCLES:-200}
# By then caches have what they keep: on Linux 7.3 they grow for a hundred lives.
WARM=$((CYCLES / 2))

# Forks, switches and faults, on all CPUs, until it is killed; with all that a CPU does where
# the lives are many.
slowly=$VM_TOP/tests/harness/slowly
[ $CYCLES -le 20 ] || slowly=
load='while :; do
	/bin/true | /bin/true
	dd if=/dev/zero of=/dev/null bs=256k count=4 2>/dev/null
done'

# KiB of what a module can keep: objects of kmalloc, of tasks that it holds, memory of each
# CPU, and vmalloc's without the stacks that the kernel has ready for the next process. What
# the kernel keeps of files that have been read, and of processes that have ended, moves by
# 100 KiB from reading to reading.
kernel_memory() {
	awk 'FILENAME ~ /slabinfo/ && /^(kmalloc-|task_struct|pid |cred_jar|hwpmc)/ { n += $2 * $4 / 1024 }
		FILENAME ~ /meminfo/ && /^Percpu:/ { n += $2 }
		FILENAME ~ /vmallocinfo/ && !/unpurged|ioremap|stack|dup_task_struct|clone/ { n += $2 / 1024 }
		END { print int(n) }' /proc/slabinfo /proc/meminfo /proc/vmallocinfo
}

# KiB of page tables, of a process that ended too while something holds its memory: 20 and more.
page_tables() { awk '/^PageTables:/ { print $2 }' /proc/meminfo; }

# KiB of modules: what insmod took, rmmod gives back.
module_memory() {
	awk '/ (load_module|module_alloc|layout_and_allocate|move_module|execmem_)/ { n += $2 / 1024 } END { print n + 0 }' /proc/vmallocinfo
}

# One life of the module, of four kinds, and its end in one of three ways.
cycle() {
	insmod "$ko" || return 1
	case $(($1 % 8)) in
	0)
		"$hwpmc" record -q -a -g -e instructions,page-faults -c 20000 -o log -- sleep 5 2>/dev/null &
		sleep 0.1
		"$hwpmc" unload -w 60 2>err || return 1
		wait $!
		;;
	3)
		"$hwpmc" stat -a -e instructions,page-faults,cpu-migrations,sched:sched_wakeup -- true 2>err || return 1
		"$hwpmc" unload -w 60 2>err || return 1
		;;
	5)
		"$hwpmc" record -q -g -e instructions,context-switches -c 20000 -o log -- /bin/true 2>err || return 1
		rmmod hwpmc 2>err || return 1
		;;
	*)
		rmmod hwpmc 2>err || return 1
		;;
	esac
	! grep -q '^hwpmc ' /proc/modules
}

# The load ends, and the kernel gives back what it can: $after and $tables, the least of
# several readings, all on one CPU: what a CPU has begun to use of a cache counts as used.
settle() {
	kill $loads
	wait $loads 2>/dev/null
	sync
	taskset -p 1 $$ >/dev/null
	after= tables=
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 0.5
		echo 3 >/proc/sys/vm/drop_caches
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 >"$cache"
		done
		now=$(kernel_memory)
		[ "${after:-$now}" -lt "$now" ] || after=$now
		now=$(page_tables)
		[ "${tables:-$now}" -lt "$now" ] || tables=$now
	done
	taskset -p ffffffff $$ >/dev/null
}

# So many lives more, under load; then at rest.
live() {
	$slowly sh -c "$load" & loads=$!
	end=$((lives + $1))
	while [ $lives -lt $end ]; do
		cycle $lives || { kill $loads; fail "cycle $lives: $(cat err)"; }
		lives=$((lives + 1))
	done
	settle
}

# Did what the kernel has grow in so many lives? One forgotten page a life is 3 KiB and more
# of growth each, a ring 512 KiB.
grew_in() {
	before=$after tables_before=$tables
	live "$1"
	echo "$lives loads and unloads: kernel memory $before -> $after KiB, page tables $tables_before -> $tables KiB, of modules $modules -> $(module_memory) KiB"
	check_equal "$(module_memory)" "$modules" "memory of modules"
	[ $((after - before)) -ge $(($1 * 3 / 2)) ] ||
		[ $((tables - tables_before)) -ge $(($1 * 8)) ]
}

# Two readings may still differ by 100 KiB where nothing was left. What a life leaves behind
# grows in each of three stretches.
the_module_comes_and_goes_under_load_and_leaves_nothing() {
	rmmod hwpmc 2>/dev/null
	lives=0
	live $WARM
	modules=$(module_memory)
	grew_in $((CYCLES - WARM)) || return 0
	grew_in $((3 * (CYCLES - WARM))) || return 0
	! grew_in $((3 * (CYCLES - WARM))) || fail "the kernel's memory grew to $after KiB, by $((after - before)) in the last lives, page tables by $((tables - tables_before))"
}

the_module_still_counts_exactly_after_all_its_lives() {
	check insmod "$ko"
	"$hwpmc" stat -e instructions:u --csv -o out -- "$VM_TOP/build/vm/progs/loop" 1000 || fail "$(cat out)"
	grep -q 'instructions:u,counted,3036,' out || fail "counted: $(cat out)"
	check rmmod hwpmc
}

harness_run
