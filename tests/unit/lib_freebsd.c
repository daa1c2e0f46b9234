/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_freebsd.c - source as it is written for FreeBSD: headers, types, macros,
 * the older pmc_allocate() of five arguments, and what calls answer where there
 * is no module. What they count is tested in a virtual machine.
 */
#include <sys/types.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PMC_ALLOCATE_WITHOUT_COUNT
#include <pmc.h>

#include "harness.h"

START_TEST(freebsd_calls_before_pmc_init_are_enxio)
{
	pmc_value_t value;
	pmc_id_t id;

	ck_assert_int_eq(pmc_allocate("instructions", PMC_MODE_TC,
				      PMC_F_DESCENDANTS, PMC_CPU_ANY, &id), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_int_eq(pmc_read(0, &value), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_int_eq(pmc_ncpu(), -1);
	ck_assert_int_eq(errno, ENXIO);
}
END_TEST

START_TEST(freebsd_pmc_init_without_module_is_enoent)
{
	if (!access("/dev/hwpmc", F_OK))
		SKIP("this machine has the module loaded");
	ck_assert_int_eq(pmc_init(), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_nonnull(strstr(pmc_error(), "modprobe hwpmc"));
}
END_TEST

START_TEST(freebsd_errors_have_linux_numbers)
{
	ck_assert_int_eq(EDOOFUS, EBADFD);
	ck_assert_int_eq(EPROGMISMATCH, EPROTONOSUPPORT);
}
END_TEST

START_TEST(freebsd_mode_macros_sort_the_modes)
{
	enum pmc_mode m;
	int system = 0, sampling = 0;

	for (m = PMC_MODE_FIRST; m <= PMC_MODE_LAST; m++) {
		system += PMC_IS_SYSTEM_MODE(m);
		sampling += PMC_IS_SAMPLING_MODE(m);
		ck_assert_int_ne(PMC_IS_SYSTEM_MODE(m), PMC_IS_VIRTUAL_MODE(m));
		ck_assert_int_ne(PMC_IS_SAMPLING_MODE(m),
				 PMC_IS_COUNTING_MODE(m));
	}
	ck_assert_int_eq(system, 2);
	ck_assert_int_eq(sampling, 2);
}
END_TEST

START_TEST(freebsd_id_macros_take_an_id_apart)
{
	pmc_id_t id = PMC_ID_MAKE_ID(5, PMC_MODE_SC, PMC_CLASS_IAP, 9);

	ck_assert_uint_eq(id, 0x00510709);
	ck_assert_uint_eq(PMC_ID_TO_CPU(id), 5);
	ck_assert_uint_eq(PMC_ID_TO_MODE(id), PMC_MODE_SC);
	ck_assert_uint_eq(PMC_ID_TO_CLASS(id), PMC_CLASS_IAP);
	ck_assert_uint_eq(PMC_ID_TO_ROWINDEX(id), 9);
}
END_TEST

START_TEST(freebsd_names_are_null_and_einval_where_unknown)
{
	ck_assert_str_eq(pmc_name_of_class(PMC_CLASS_TSC), "TSC");
	ck_assert_str_eq(pmc_name_of_mode(PMC_MODE_TC), "TC");
	ck_assert_str_eq(pmc_name_of_state(PMC_STATE_RUNNING), "RUNNING");
	ck_assert_str_eq(pmc_name_of_disposition(PMC_DISP_THREAD), "THREAD");
	ck_assert_str_eq(pmc_name_of_capability(PMC_CAP_EDGE), "EDGE");
	ck_assert_str_eq(pmc_name_of_cputype(PMC_CPU_AMD_K8), "AMD_K8");
	ck_assert_str_eq(pmc_name_of_event(PMC_EV_TSC_TSC), "TSC");
	errno = 0;
	ck_assert_ptr_null(pmc_name_of_event(PMC_EV_NONE));
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_ptr_null(pmc_name_of_class((enum pmc_class)0x7f));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

int main(void)
{
	harness_add(freebsd_calls_before_pmc_init_are_enxio);
	harness_add(freebsd_pmc_init_without_module_is_enoent);
	harness_add(freebsd_errors_have_linux_numbers);
	harness_add(freebsd_mode_macros_sort_the_modes);
	harness_add(freebsd_id_macros_take_an_id_apart);
	harness_add(freebsd_names_are_null_and_einval_where_unknown);
	return harness_run();
}
