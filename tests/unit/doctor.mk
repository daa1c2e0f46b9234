# SPDX-License-Identifier: BSD-2-Clause
# doctor.mk - what hwpmc doctor says of the files of machines that this one is not.

check-unit: check-unit-doctor

check-unit-doctor: tools
	BUILD=$(BUILD) $(TOP)/tests/unit/doctor

.PHONY: check-unit-doctor
