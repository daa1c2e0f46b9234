// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel.c - pure files of the module: the first byte chooses. What they say must be
 * within what their headers promise, whatever they are given.
 */
#include "backends/amd_encode.h"
#include "backends/intel_encode.h"
#include "debug/debugflags.h"
#include "log/buildid.h"
#include "fuzz.h"

static void build_id(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1), id[20];
	struct hwpmc_elf_entry entry;
	s32 slide;

	memcpy(exact, data, size);
	need(hwpmc_build_id(exact, size, id, sizeof(id)) <= sizeof(id),
	     "a build-id of more than its room");
	hwpmc_elf_slide(exact, size, 0x1000, &slide);
	hwpmc_elf_entry(exact, size, &entry);
	free(exact);
}

static void debugflags(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	u64 events = ~0ull, all = (1ull << hwpmc_debug_nevents) - 1;

	if (hwpmc_debugflags_parse(text, &events))
		need(events == ~0ull, "a refusal that changed the set");
	else
		need(!(events & ~all), "an event that does not exist");
	free(text);
}

struct words {
	u32 leaf[4], cputype, caps, flags, mode, ev, family;
	u64 config, config1;
};

static void check(const struct hwpmc_encoding *enc, int ret, unsigned int rows,
		  u64 reserved)
{
	if (ret) {
		need(enc->refusal.reason != 0, "a refusal without a reason");
		return;
	}
	need(!enc->rows || enc->select.sel, "a select that counts nothing");
	need(rows >= 64 || !(enc->rows >> rows), "a row that does not exist");
	need(!(enc->select.sel & reserved), "bits that fault when written");
}

static void encode(const uint8_t *data, size_t size, bool amd)
{
	struct hwpmc_intel_pmu intel = { .version = 0 };
	struct hwpmc_amd_pmu other = { .version = 0 };
	struct hwpmc_class cls = { .num = 0 };
	struct hwpmc_encoding enc = { .rows = 0 };
	struct hwpmc_request req;
	const char *why = NULL;
	struct words w = { .ev = 0 };

	memcpy(&w, data, size < sizeof(w) ? size : sizeof(w));
	req = (struct hwpmc_request){
		.caps = w.caps, .flags = w.flags, .mode = w.mode & 3, .ev = w.ev,
		.config = w.config, .config1 = w.config1,
	};
	/* As the caller does: neither means both. */
	if (!(req.caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)))
		req.caps |= HWPMC_CAP_USER | HWPMC_CAP_SYSTEM;
	if (amd) {
		if (hwpmc_amd_describe(&other, w.family, w.leaf[0] & 1, w.leaf[1],
				       w.leaf[2], &why))
			return;
		cls.num = other.num;
		cls.priv = &other;
		check(&enc, hwpmc_amd_encode(&cls, &req, &enc), cls.num,
		      0xfffffc0000000000ull);
		return;
	}
	if (hwpmc_intel_describe(&intel, w.leaf, w.cputype, w.ev & 1, &why))
		return;
	/* What the machine's registers say, and not CPUID. */
	intel.filtered = w.ev >> 1 & 7;
	intel.withheld = w.ev >> 1 & 8;
	cls.priv = &intel;
	cls.num = intel.gp_num;
	check(&enc, hwpmc_iap_encode(&cls, &req, &enc), cls.num, ~0xffffffffull);
	memset(&enc, 0, sizeof(enc));
	cls.num = intel.fixed_num;
	check(&enc, hwpmc_iaf_encode(&cls, &req, &enc), cls.num, ~0xffffffffull);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] & 3) {
	case 0:
		build_id(data + 1, size - 1);
		break;
	case 1:
		debugflags(data + 1, size - 1);
		break;
	default:
		encode(data + 1, size - 1, data[0] & 1);
	}
	return 0;
}
