#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vpmu_pti - this VM is what its group wants it to be.
. "$VM_TOP/tests/harness/harness.sh"

kernel_isolates_its_page_tables() {
	dmesg | grep -q "page tables isolation: enabled" ||
		fail "$(dmesg | grep -i isolation)"
}

harness_run
