#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_annotate - hwpmc annotate: samples of instructions, of programs and of the
# kernel, that add up in each form, and why what cannot be shown cannot. And the
# pager, which other commands have too.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

logs=$(mktemp -d)
cp "$VM_TOP/build/vm/progs/hot3" "$logs/hot3"
"$hwpmc" record -q -e instructions:u -c 10007 -o "$logs/hot.log" -- "$logs/hot3"
"$hwpmc" record -q -e instructions:u,branches:u -c 10007 -o "$logs/two.log" -- "$logs/hot3"
"$hwpmc" record -q -a -e instructions -c 20011 -o "$logs/all.log" -- \
	sh -c "$logs/hot3; ls -lR /proc/self >/dev/null"

# samples FILE: of a log, by hwpmc report
samples() { "$hwpmc" report -i "$1" -s pid --kallsyms /dev/null --format csv | awk -F, '{ n += $2 } END { print n }'; }
# sum FILE: of the rows of a CSV
sum() { awk -F, '{ n += $2 } END { print n }' "$1"; }
# json_sum FILE
json_sum() { sed -n 's/.*"samples":\([0-9]*\),.*/\1/p' "$1" | awk '{ n += $1 } END { print n }'; }

refused() {
	want=$1 text=$2
	shift 2
	status=0
	"$@" >refused.out 2>&1 || status=$?
	check_equal "$status" "$want" "status of $*"
	check grep -qF -- "$text" refused.out
	check_equal "$(grep -c '^hwpmc annotate: ' refused.out)" 1 "lines of $*"
}

annotate_finds_the_loop_of_a_function() {
	check "$hwpmc" annotate -i "$logs/hot.log" --format csv -o out.csv hot_sixty
	# Nine of ten are in its three instructions.
	awk -F, '$5 == "hot_sixty" { all += $2 }
		$5 == "hot_sixty" && /,"?(addq|decl|jne) / { loop += $2 }
		END { exit !(all > 1500 && loop > 0.98 * all) }' out.csv ||
		fail "the loop is not hot: $(cat out.csv)"
	check grep -q 'jne .*<hot_sixty+0x9>' out.csv
	"$hwpmc" annotate -i "$logs/hot.log" --intel --asm hot_sixty >out.txt
	check grep -Eq '^ *[0-9.]+% +[0-9]+ +401009:  add +rdx, 1$' out.txt
}

annotate_shows_the_lines_of_the_source() {
	cat >lines.s <<-'EOF'
		.globl _start
		.type _start, @function
		_start:	mov $1000000, %ecx
		again:	add $1, %rdx	# "quoted"
			dec %ecx
			jnz again
			mov $60, %eax
			xor %edi, %edi
			syscall
		.size _start, . - _start
		.section .note.GNU-stack, "", @progbits
	EOF
	check gcc -g -nostdlib -static -no-pie -o lines "$PWD/lines.s"
	check "$hwpmc" record -q -e instructions:u -c 10007 -o lines.log -- ./lines
	"$hwpmc" annotate -i lines.log --source _start >out.txt
	check grep -Eq '^ *[0-9.]+% +[0-9]+ +4  again:.*# "quoted"$' out.txt
	# 3,000,004 instructions.
	check_equal "$(awk '$1 ~ /%$/ { n += $2 } END { print n }' out.txt)" 299 \
		"samples of all lines"
	check "$hwpmc" annotate -i lines.log --format csv -o out.csv _start
	check_equal "$(awk -F, '$(NF - 2) ~ /lines.s$/ && $(NF - 1) >= 4 &&
		$(NF - 1) <= 6 { n += $2 } END { print n }' out.csv)" 299 \
		"samples of the loop's lines"
	"$hwpmc" annotate -i lines.log _start >out.txt
	check grep -q '  lines.s:6  ' out.txt
	rm lines.s
	"$hwpmc" annotate -i lines.log --source _start >out.txt
	check grep -q '^# percent .*  (source file not found)$' out.txt
	check_equal "$(grep -c 'source file not found' out.txt)" 1 "lines about the source"
	check grep -Eq '[0-9.]+% +[0-9]+ +4 +$' out.txt
	"$hwpmc" annotate -i "$logs/hot.log" --source hot_ten >out.txt
	check grep -q '^# no source lines: it has no debugging information' out.txt
}

annotate_counts_each_sample_of_the_log_once() {
	# Reading the symbols of the kernel takes long here.
	cat /proc/kallsyms >symbols
	for log in hot two all; do
		[ $log = hot ] && limits="0 1 30" || limits=1
		want=$(samples "$logs/$log.log")
		for limit in $limits; do
			check "$hwpmc" annotate -i "$logs/$log.log" --kallsyms symbols -l $limit \
				--format csv -o out.csv
			check_equal "$(sum out.csv)" "$want" "$log: -l $limit: csv"
			check "$hwpmc" annotate -i "$logs/$log.log" --kallsyms symbols -l $limit \
				--format json -o out.json
			check_equal "$(json_sum out.json)" "$want" "$log: -l $limit: json"
			check "$hwpmc" annotate -i "$logs/$log.log" --kallsyms symbols -l $limit -o out.txt
			check_equal "$(sed -n 's/^# .*: \([0-9]*\) samples, .*% of all$/\1/p' \
				out.txt | awk '{ n += $1 } END { print n }')" \
				"$want" "$log: -l $limit: text"
		done
		check "$hwpmc" annotate -i "$logs/$log.log" --kallsyms symbols --format csv -o out.csv -l 0 \
			hot_ten
		check_equal "$(sum out.csv)" "$want" "$log: hot_ten"
	done
}

annotate_reads_the_code_of_the_running_kernel() {
	check "$hwpmc" annotate -i "$logs/all.log" -l 0 --image '[kernel]' \
		--format csv -o out.csv
	check grep -q '^instructions,[1-9][0-9]*,[0-9.]*,\[kernel\],[a-z_0-9.]*,0xffffffff' \
		out.csv
	"$hwpmc" annotate -i "$logs/all.log" -l 0 --image '[kernel]' >out.txt
	check grep -q '^# code: /proc/kcore$' out.txt
}

# hot LOG FUNCTION: nearly all samples of the function are in instructions that are
# shown, and add up.
hot() {
	check "$hwpmc" annotate -i "$1.log" --csv -o out.csv "$2"
	check_equal "$(sum out.csv)" "$(samples "$1.log")" "$1: samples"
	awk -F, -v f="$2" '$5 == f { all += $2 } $5 == f && $6 { shown += $2 }
		END { exit !(all > 100 && shown == all) }' out.csv ||
		fail "$1: $2: $(head -n 20 out.csv)"
}

annotate_reads_code_from_wherever_it_ran() {
	progs=$VM_TOP/build/vm/progs
	[ -e /sys/kernel/debug/hotmod ] || check insmod "$VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko"
	"$hwpmc" record -q -e instructions:u -c 10007 -o user.log -- sh -c \
		"$progs/hot -n 3000 -d 3000 -j 3000; $progs/hot -c 100000"
	hot user hot_sixty
	hot user lib_sixty
	hot user __vdso_clock_gettime
	"$hwpmc" annotate -i user.log __vdso_clock_gettime >out.txt
	check grep -q '^# code: \[vdso\]' out.txt
	refused 1 "//anon: generated code: its instructions are not in a file" \
		"$hwpmc" annotate -i user.log jit_sixty
	"$hwpmc" record -q -e instructions:k -c 10007 -o kernel.log -- \
		"$progs/hot" -m 3000
	hot kernel mod_sixty
	"$hwpmc" annotate -i kernel.log mod_sixty >out.txt
	check grep -q '^# code: /proc/kcore$' out.txt
	# The same instructions as in the file.
	check grep -q '\baddq\b.*%r[a-z0-9]*' out.txt
}

annotate_says_why_it_cannot_show_a_function() {
	refused 1 "no sample hit a function 'nonesuch'" \
		"$hwpmc" annotate -i "$logs/hot.log" nonesuch
	refused 1 "no sample hit 'libnone.so'" \
		"$hwpmc" annotate -i "$logs/hot.log" --image libnone.so
	refused 2 "invalid percentage 'x'" "$hwpmc" annotate -l x
	refused 2 "cannot be combined" "$hwpmc" annotate --asm --source
	refused 1 "cannot open 'nonesuch'" "$hwpmc" annotate -i nonesuch
	# Gone.
	cp "$logs/hot3" gone && chmod +x gone
	check "$hwpmc" record -q -e instructions:u -c 100003 -o gone.log -- ./gone
	rm gone
	refused 1 "gone: no function found: the file does not exist" \
		"$hwpmc" annotate -i gone.log '[unknown]'
	# Stripped.
	strip -R .eh_frame -R .eh_frame_hdr -o bare "$logs/hot3"
	check "$hwpmc" record -q -e instructions:u -c 100003 -o bare.log -- ./bare
	refused 1 "bare: no function found: it has no symbols; install its package of debugging symbols" \
		"$hwpmc" annotate -i bare.log '[unknown]'
	# Another one in its place.
	for n in 1 2; do
		check gcc -nostdlib -static -no-pie -Wl,--build-id=0x$n$n$n$n -o same \
			"$VM_TOP/tests/vm/progs/hot3.S"
		[ $n = 2 ] || check "$hwpmc" record -q -e instructions:u -c 100003 \
			-o same.log -- ./same
	done
	refused 1 "its build-id differs from the log" \
		"$hwpmc" annotate -i same.log '[unknown]'
}

# As where the library is not installed: the program looks for a name that no file has.
annotate_without_libcapstone_names_the_package_and_all_else_works() {
	sed 's/libcapstone\.so/libcapstonf.so/' "$hwpmc" >without
	chmod +x without
	cmp -s without "$hwpmc" && fail "the name of the library is not in hwpmc"
	refused 1 'install libcapstone' ./without annotate -i "$logs/hot.log" hot_sixty
	check_equal "$(./without report -i "$logs/hot.log" -s pid --format csv)" \
		"$("$hwpmc" report -i "$logs/hot.log" -s pid --format csv)" "a report"
}

report_on_a_terminal_goes_through_the_pager_in_colour() {
	screen=$VM_TOP/tests/harness/screen.py
	# A pager that waits for a key, and shows what commands the terminal.
	cat >less <<-'EOF'
		#!/bin/sh
		cat -v >paged
		head -n 3 paged
		echo "(paged)"
		read -r line </dev/tty
	EOF
	chmod +x less
	export PATH="$PWD:$PATH"
	unset PAGER NO_COLOR
	for command in report annotate "report --tree"; do
		check "$screen" "$hwpmc" $command -i "$logs/hot.log" <<-'EOF'
			see ^# event instructions:u
			see ^\(paged\)
			keys \n
			end
		EOF
		check grep -q '\^\[\[31m' paged
	done
	rm paged
	check env NO_COLOR=1 "$screen" "$hwpmc" report -i "$logs/hot.log" <<-'EOF'
		see ^\(paged\)
		keys \n
		end
	EOF
	! grep -q '\^\[' paged || fail "colours in spite of NO_COLOR"
	rm paged
	check "$screen" "$hwpmc" report --stdio -i "$logs/hot.log" <<-'EOF'
		see hot_sixty
		end
	EOF
	check env PAGER=nonesuch "$screen" "$hwpmc" report -i "$logs/hot.log" <<-'EOF'
		see hot_sixty
		end
	EOF
	"$hwpmc" report -i "$logs/hot.log" >out.txt
	check grep -q hot_sixty out.txt
	[ ! -e paged ] || fail "paged what should not be"
	# Left before all is read.
	printf '#!/bin/sh\nhead -n 1\n' >less
	check "$screen" "$hwpmc" report -i "$logs/all.log" -s address <<-'EOF'
		see ^# event
		end
	EOF
}

numbers_in_data_have_points_whatever_the_locale() {
	printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n' \
		>source
	# It misses the other categories, and makes this one.
	localedef -c -i ./source ./xx_XX >/dev/null 2>&1
	unset LC_ALL
	export LOCPATH="$PWD" LC_NUMERIC=xx_XX
	check_equal "$(bash -c 'printf %.1f 1,5')" "1,5" "the locale"
	for command in "report --csv --limit 0.5" "report --json" "annotate --csv" \
		"report --tree --csv"; do
		check "$hwpmc" $command -i "$logs/hot.log" -o here
		env -u LC_NUMERIC "$hwpmc" $command -i "$logs/hot.log" -o there
		check cmp here there
	done
	check "$hwpmc" stat --csv -o here -e instructions:u,branches:u "$logs/hot3"
	awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' here ||
		fail "stat: $(cat here)"
}

# told FILE REGEX: reading it says how far it is
told() {
	printf 'see %s\nend\n' "$2" | "$VM_TOP/tests/harness/screen.py" \
		"$VM_TOP/tests/harness/slowly" sh -c "$hwpmc report -i $1 --csv -s pid -o out.csv" 2>err
}

reading_a_large_log_tells_how_far_it_is() {
	# One record of a sample many times; packed, it is next to nothing.
	cat >grow.py <<-'EOF'
		import struct, sys
		log = open(sys.argv[1], "rb").read()
		at = 0
		while log[at + 2] != 16:
		    at += struct.unpack_from("<H", log, at)[0]
		size = struct.unpack_from("<H", log, at)[0]
		sys.stdout.buffer.write(log[:at])
		for _ in range(int(sys.argv[2])):
		    sys.stdout.buffer.write(log[at:at + size] * 10000)
		sys.stdout.buffer.write(log[at + size:])
	EOF
	# It tells nothing of what is read at once: what is large depends on the machine.
	seen=
	for size in 30 80 250 1000; do
		/usr/bin/python3 grow.py "$logs/hot.log" $size |
			tee large.log | zstd -q -o large.log.zst -f
		mib=$(($(stat -c %s large.log) >> 20))
		! told large.log "^reading the log: [0-9]+ MiB of $mib" || { seen=1; break; }
	done
	[ "$seen" ] || fail "a log of $mib MiB: $(cat err)"
	told large.log.zst '^reading the log: [0-9]+ MiB *$' || fail "$(cat err)"
	[ "$(sum out.csv)" -gt $((size * 10000)) ] || fail "samples: $(cat out.csv)"
	"$hwpmc" report -i large.log.zst --csv -s pid -o out.csv 2>err
	check_equal "$(cat err)" "" "progress where there is no terminal"
}

harness_run
