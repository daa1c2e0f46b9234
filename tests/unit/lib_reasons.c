/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_reasons.c - refusals in words: each reason has its sentence, a failure
 * names what was attempted, and belongs to one handle and one thread. A pipe
 * stands where the device would be: its ioctl is a real refusal of the kernel.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "internal.h"

static struct hwpmc *handle_on_pipe(void)
{
	struct hwpmc *h = calloc(1, sizeof(*h));
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	close(fds[1]);
	h->fd = fds[0];
	h->pid = getpid();
	h->info.ncpu = 2;
	h->info.npmc = 8;
	h->info.nclass = 2;
	h->info.classes[0] = (struct hwpmc_classinfo) {
		.class = HWPMC_CLASS_TSC, .num = 1, .width = 64,
	};
	h->info.classes[1] = (struct hwpmc_classinfo) {
		.class = HWPMC_CLASS_IAP, .num = 4, .first = 1, .width = 48,
	};
	return h;
}

START_TEST(every_reason_has_a_name_and_a_sentence)
{
	char sentence[400];
	uint32_t why;

	for (why = 0; why < HWPMC_WHY__COUNT; why++) {
		ck_assert_msg(hwpmc_name_of_reason(why), "%u has no name", why);
		ck_assert_msg(hwpmc_reason_text(why), "%u has no text", why);
		ck_assert_uint_gt(strlen(hwpmc_reason_text(why)), 10);
		reason_sentence(why, 7, "the NMI watchdog", "do this", sentence,
				sizeof(sentence));
		ck_assert_uint_gt(strlen(sentence), 10);
		ck_assert_msg(strlen(sentence) < ERROR_TEXT / 2,
			      "%s is too long for a record", sentence);
		ck_assert_ptr_null(strstr(sentence, "(null)"));
	}
}
END_TEST

START_TEST(a_refusal_of_a_class_that_is_missing_has_the_modules_reason)
{
	struct hwpmc_classnote note = {
		.class = HWPMC_CLASS_IAP, .reason = HWPMC_WHY_EVENT_FILTERED, .detail = 0xc4,
	};
	struct hwpmc_hdr hdr = { .reason = HWPMC_WHY_CLASS, .detail = HWPMC_CLASS_RAPL };
	struct hwpmc *h = handle_on_pipe();
	char text[200];

	h->info.nnotes = 1;
	h->info.notes[0] = (struct hwpmc_classnote){
		.class = HWPMC_CLASS_RAPL, .reason = HWPMC_WHY_CLASS_GUEST,
	};
	errno = EINVAL;
	error_from_call(h, &hdr, "count");
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "; RAPL: the hypervisor gives"));
	hdr.detail = HWPMC_CLASS_PERF;
	errno = EINVAL;
	error_from_call(h, &hdr, "count");
	ck_assert_ptr_null(strstr(hwpmc_error(h), "RAPL"));
	hwpmc_note_text(&note, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "filters it (event 0xc4)"));
	ck_assert_ptr_null(strstr(text, "count another"));
	note.reason = HWPMC_WHY__COUNT + 7;
	hwpmc_note_text(&note, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "of a newer module"));
	hwpmc_close(h);
}
END_TEST

START_TEST(no_two_reasons_have_the_same_words)
{
	uint32_t a, b;

	for (a = 0; a < HWPMC_WHY__COUNT; a++)
		for (b = a + 1; b < HWPMC_WHY__COUNT; b++) {
			ck_assert_str_ne(hwpmc_name_of_reason(a),
					 hwpmc_name_of_reason(b));
			ck_assert_str_ne(hwpmc_reason_text(a),
					 hwpmc_reason_text(b));
		}
}
END_TEST

START_TEST(reason_of_a_newer_module_is_told_by_its_number)
{
	char sentence[200];

	ck_assert_ptr_null(hwpmc_name_of_reason(HWPMC_WHY__COUNT));
	ck_assert_ptr_null(hwpmc_reason_text(UINT32_MAX));
	reason_sentence(4711, 0, NULL, NULL, sentence, sizeof(sentence));
	ck_assert_str_eq(sentence, "reason 4711 of a newer module");
}
END_TEST

START_TEST(who_counts_a_process_already_is_told_by_number_and_name)
{
	char sentence[300], want[100];

	reason_sentence(HWPMC_WHY_TARGET_ROW, getpid(), NULL, NULL, sentence,
			sizeof(sentence));
	snprintf(want, sizeof(want), "same counter (of process %d, lib_reasons); ", getpid());
	ck_assert_msg(strstr(sentence, want), "%s", sentence);
	/* None can have this number. */
	reason_sentence(HWPMC_WHY_TARGET_ROW, INT32_MAX, NULL, NULL, sentence,
			sizeof(sentence));
	ck_assert_msg(strstr(sentence, "(of process 2147483647); "), "%s", sentence);
	reason_sentence(HWPMC_WHY_TARGET_ROW, 0, NULL, NULL, sentence, sizeof(sentence));
	ck_assert_msg(strstr(sentence, "same counter; "), "%s", sentence);
}
END_TEST

START_TEST(details_are_told_in_their_own_form)
{
	static const struct {
		uint32_t why;
		int32_t detail;
		const char *words;
	} cases[] = {
		{ HWPMC_WHY_CPU_RANGE, 3, "(the highest is 3)" },
		{ HWPMC_WHY_FLAGS, 0x40000000, "(bits 0x40000000)" },
		{ HWPMC_WHY_CLASS, HWPMC_CLASS_K8, "(class K8)" },
		{ HWPMC_WHY_CLASS, 0x7e, "(class ?)" },
		{ HWPMC_WHY_CAPS, HWPMC_CAP_EDGE | HWPMC_CAP_INVERT,
		  "(missing EDGE INVERT)" },
		{ HWPMC_WHY_LOG_ERROR, ENOSPC, "(No space left on device)" },
		{ HWPMC_WHY_PMU_RUNNING, 0x186, "(MSR 0x186)" },
		{ HWPMC_WHY_PMU_REFUSED, 0x186, "(MSR 0x186)" },
		{ HWPMC_WHY_PMU_REFUSED, (int32_t)0xc0010200, "(MSR 0xc0010200)" },
		{ HWPMC_WHY_PMU_REFUSED, HWPMC_FAULT_RDPMC | 0x40000001,
		  "(RDPMC 0x40000001)" },
	};
	char sentence[400];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		reason_sentence(cases[i].why, cases[i].detail, NULL, NULL,
				sentence, sizeof(sentence));
		ck_assert_msg(strstr(sentence, cases[i].words), "%s", sentence);
	}
}
END_TEST

START_TEST(remedy_for_any_thread_is_told_for_its_bit_alone)
{
	char sentence[400];

	for (int bit = 0; bit < 64; bit++) {
		reason_sentence(HWPMC_WHY_EVENT_BITS, bit, NULL, NULL, sentence,
				sizeof(sentence));
		ck_assert_int_eq(!!strstr(sentence, "system scope only"),
				 bit == 21);
	}
}
END_TEST

START_TEST(a_refusal_of_system_scope_names_the_tunable_as_a_remedy_for_counting)
{
	const char *tunable = "sysctl kern.hwpmc.unprivileged_syspmcs=1";
	char sentence[400];

	reason_sentence(HWPMC_WHY_PRIV_SYSTEM, 0, NULL, NULL, sentence,
			sizeof(sentence));
	ck_assert_ptr_nonnull(strstr(sentence, tunable));
	reason_sentence(HWPMC_WHY_PRIV_SYSTEM, 1, NULL, NULL, sentence,
			sizeof(sentence));
	ck_assert_ptr_null(strstr(sentence, tunable));
	ck_assert_ptr_nonnull(strstr(sentence, "needs CAP_PERFMON; run it as root"));
}
END_TEST

START_TEST(reserved_counters_name_their_holder_and_the_remedy)
{
	char sentence[200];

	reason_sentence(HWPMC_WHY_PMU_RESERVED, 0x186,
			"perf or the NMI watchdog",
			"while you measure, as root: sysctl kernel.nmi_watchdog=0 (then =1)",
			sentence, sizeof(sentence));
	ck_assert_str_eq(sentence,
			 "perf or the NMI watchdog holds the counters; while "
			 "you measure, as root: sysctl kernel.nmi_watchdog=0 (then =1)");
}
END_TEST

START_TEST(long_sentences_are_cut_at_the_buffer)
{
	char sentence[16];
	uint32_t why;

	for (why = 0; why < HWPMC_WHY__COUNT; why++) {
		memset(sentence, 'x', sizeof(sentence));
		reason_sentence(why, -1, "h", "r", sentence, sizeof(sentence));
		ck_assert_uint_lt(strlen(sentence), sizeof(sentence));
	}
}
END_TEST

START_TEST(holder_is_named_even_where_it_is_unknown)
{
	char who[8], remedy[8], whole[200];

	hwpmc_pmu_holder(who, sizeof(who), remedy, sizeof(remedy));
	ck_assert_uint_gt(strlen(who), 0);
	ck_assert_uint_lt(strlen(who), sizeof(who));
	ck_assert_uint_gt(strlen(remedy), 0);
	hwpmc_pmu_holder(whole, sizeof(whole), NULL, 0);
	ck_assert_uint_gt(strlen(whole), 3);
}
END_TEST

/* ------------------------------------------------------------------------ */

START_TEST(failed_calls_say_what_was_attempted_on_what)
{
	struct hwpmc *h = handle_on_pipe();
	uint32_t tc = HWPMC_ID_MAKE(0xfff, HWPMC_MODE_TC, HWPMC_CLASS_IAP, 3);
	uint32_t sc = HWPMC_ID_MAKE(1, HWPMC_MODE_SC, HWPMC_CLASS_IAP, 1);
	const struct hwpmc_event event = {
		.name = "instructions:u", .ncode = 1,
	};
	uint32_t id;

	ck_assert_str_eq(hwpmc_error(h), "");
	ck_assert_int_eq(hwpmc_start(h, tc), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "cannot start PMC 0x"));
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "(IAP-2, process scope)"));
	ck_assert_int_eq(hwpmc_stop(h, sc), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "(IAP-0, CPU 1)"));
	ck_assert_int_eq(hwpmc_attach(h, tc, 4711), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "to process 4711: "));
	ck_assert_int_eq(hwpmc_admin(h, 1, 3, HWPMC_STATE_DISABLED), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h),
				     "cannot disable row 3 on CPU 1"));
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_SC, 0, 1,
					      0, &id), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h),
				     "cannot count 'instructions:u' on CPU 1"));
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, 0,
					      HWPMC_CPU_ANY, 0, &id), -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h),
				     "cannot sample 'instructions:u': "));
	hwpmc_close(h);
}
END_TEST

START_TEST(failed_batches_say_what_was_attempted_and_on_which_pmc)
{
	struct hwpmc *h = handle_on_pipe();
	struct hwpmc_batch_entry entry[3] = {
		{ .pmcid = HWPMC_ID_MAKE(0xfff, HWPMC_MODE_TC, HWPMC_CLASS_IAP, 3) },
		{ .pmcid = HWPMC_ID_MAKE(1, HWPMC_MODE_SC, HWPMC_CLASS_IAP, 1),
		  .error = ENXIO, .hdr = { HWPMC_WHY_CPU_OFFLINE, 1 } },
	};

	ck_assert_int_eq(hwpmc_batch_error(h, HWPMC_BATCH_STOP, &entry[1]), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_CPU_OFFLINE);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "cannot stop PMC 0x"));
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "(IAP-0, CPU 1)"));
	ck_assert_int_eq(hwpmc_batch(h, HWPMC_BATCH_READ, entry, 3), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "cannot read 3 PMCs: "));
	/* No entry was done, so none has a result of earlier. */
	ck_assert_int_eq(entry[1].error, 0);
	ck_assert_int_eq(hwpmc_batch(h, HWPMC_BATCH_START, entry, 0), 0);
	hwpmc_close(h);
}
END_TEST

START_TEST(bad_specification_is_shown_with_its_column)
{
	struct hwpmc *h = handle_on_pipe();
	uint32_t id;

	ck_assert_int_eq(hwpmc_allocate(h, "branches,usx", HWPMC_MODE_TC, 0,
					HWPMC_CPU_ANY, 0, &id), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_NONE);
	ck_assert_str_eq(hwpmc_error(h), "bad event 'branches,usx', column 10: "
			 "unknown qualifier 'usx', perhaps 'usr'");
	hwpmc_close(h);
}
END_TEST

START_TEST(missing_result_pointer_is_einval)
{
	struct hwpmc *h = handle_on_pipe();

	ck_assert_int_eq(hwpmc_read(h, 0, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_rw(h, 0, 0, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_width(h, 0, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	hwpmc_close(h);
}
END_TEST

START_TEST(width_comes_from_the_class_of_the_id)
{
	struct hwpmc *h = handle_on_pipe();
	uint32_t bits;

	ck_assert_int_eq(hwpmc_width(h, HWPMC_ID_MAKE(0xfff, HWPMC_MODE_TC,
						      HWPMC_CLASS_IAP, 4),
				     &bits), 0);
	ck_assert_uint_eq(bits, 48);
	ck_assert_int_eq(hwpmc_width(h, HWPMC_ID_MAKE(0xfff, HWPMC_MODE_TC,
						      HWPMC_CLASS_IAP, 5),
				     &bits), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_width(h, HWPMC_ID_INVALID, &bits), -1);
	hwpmc_close(h);
}
END_TEST

/* ------------------------------------------------------------------------ */

START_TEST(handles_keep_their_failures_apart)
{
	struct hwpmc *a = handle_on_pipe(), *b = handle_on_pipe();

	hwpmc_flush_log(a);
	hwpmc_close_log(b);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(a), "flush the log"));
	ck_assert_ptr_nonnull(strstr(hwpmc_error(b), "close the log"));
	hwpmc_close(a);
	hwpmc_close(b);
}
END_TEST

struct thread {
	pthread_t id;
	struct hwpmc *h;
	unsigned int row;
	int wrong;
};

static void *fail_again_and_again(void *arg)
{
	struct thread *t = arg;
	char want[64];
	int i;

	t->wrong = strcmp(hwpmc_error(t->h), "") != 0;
	snprintf(want, sizeof(want), "cannot disable row %u on CPU 0", t->row);
	for (i = 0; i < 2000; i++) {
		hwpmc_admin(t->h, 0, t->row, HWPMC_STATE_DISABLED);
		t->wrong += !strstr(hwpmc_error(t->h), want);
	}
	return NULL;
}

START_TEST(threads_keep_their_failures_apart)
{
	struct hwpmc *h = handle_on_pipe();
	struct thread threads[16];
	unsigned int i;

	hwpmc_flush_log(h);
	for (i = 0; i < ARRAY_LEN(threads); i++) {
		threads[i] = (struct thread) { .h = h, .row = i };
		pthread_create(&threads[i].id, NULL, fail_again_and_again,
			       &threads[i]);
	}
	for (i = 0; i < ARRAY_LEN(threads); i++) {
		pthread_join(threads[i].id, NULL);
		ck_assert_int_eq(threads[i].wrong, 0);
	}
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "flush the log"));
	hwpmc_close(h);
}
END_TEST

/* Threads that end leave no failure to those that get their memory. */
START_TEST(a_new_thread_starts_without_failures)
{
	struct hwpmc *h = handle_on_pipe();
	struct error_record *r;
	struct thread t;
	unsigned int i, records = 0;

	for (i = 0; i < 200; i++) {
		t = (struct thread) { .h = h, .row = i };
		pthread_create(&t.id, NULL, fail_again_and_again, &t);
		pthread_join(t.id, NULL);
		ck_assert_int_eq(t.wrong, 0);
	}
	for (r = atomic_load(&h->errors); r; r = r->next)
		records++;
	ck_assert_uint_le(records, 8);
	hwpmc_close(h);
}
END_TEST

START_TEST(opening_without_module_says_how_to_load_it)
{
	struct hwpmc *h = (void *)1;

	if (!access(HWPMC_DEVICE, F_OK))
		SKIP("this machine has the module loaded");
	ck_assert_int_eq(hwpmc_open(&h), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(h);
	ck_assert_str_eq(hwpmc_error(NULL), "cannot open /dev/hwpmc: the module "
			 "is not loaded; load it with: modprobe hwpmc");
}
END_TEST

START_TEST(names_exist_for_all_numbers_of_the_contract)
{
	uint32_t n;

	for (n = 0; n <= HWPMC_MODE_TC; n++)
		ck_assert_ptr_nonnull(hwpmc_name_of_mode(n));
	for (n = 0; n <= HWPMC_STATE_DELETED; n++)
		ck_assert_ptr_nonnull(hwpmc_name_of_state(n));
	for (n = 0; n <= HWPMC_DISP_UNKNOWN; n++)
		ck_assert_ptr_nonnull(hwpmc_name_of_disposition(n));
	for (n = 0; n <= HWPMC_PMU_HELD; n++)
		ck_assert_ptr_nonnull(hwpmc_name_of_pmu_state(n));
	for (n = 1; n <= HWPMC_CAP_ALL; n <<= 1)
		ck_assert_ptr_nonnull(hwpmc_name_of_capability(n));
	ck_assert_str_eq(hwpmc_name_of_class(HWPMC_CLASS_IAP), "IAP");
	ck_assert_str_eq(hwpmc_name_of_cputype(0x98), "INTEL_SKYLAKE");
	ck_assert_ptr_null(hwpmc_name_of_mode(HWPMC_MODE_TC + 1));
	ck_assert_ptr_null(hwpmc_name_of_capability(3));
	ck_assert_ptr_null(hwpmc_name_of_class(0x7f));
}
END_TEST

int main(void)
{
	harness_add(every_reason_has_a_name_and_a_sentence);
	harness_add(a_refusal_of_a_class_that_is_missing_has_the_modules_reason);
	harness_add(no_two_reasons_have_the_same_words);
	harness_add(reason_of_a_newer_module_is_told_by_its_number);
	harness_add(who_counts_a_process_already_is_told_by_number_and_name);
	harness_add(details_are_told_in_their_own_form);
	harness_add(remedy_for_any_thread_is_told_for_its_bit_alone);
	harness_add(a_refusal_of_system_scope_names_the_tunable_as_a_remedy_for_counting);
	harness_add(reserved_counters_name_their_holder_and_the_remedy);
	harness_add(long_sentences_are_cut_at_the_buffer);
	harness_add(holder_is_named_even_where_it_is_unknown);
	harness_add(failed_calls_say_what_was_attempted_on_what);
	harness_add(failed_batches_say_what_was_attempted_and_on_which_pmc);
	harness_add(bad_specification_is_shown_with_its_column);
	harness_add(missing_result_pointer_is_einval);
	harness_add(width_comes_from_the_class_of_the_id);
	harness_add(handles_keep_their_failures_apart);
	harness_add(threads_keep_their_failures_apart);
	harness_add_timed(a_new_thread_starts_without_failures, 60);
	harness_add(opening_without_module_says_how_to_load_it);
	harness_add(names_exist_for_all_numbers_of_the_contract);
	return harness_run();
}
