/* SPDX-License-Identifier: BSD-2-Clause */
/* log.h - what the files of lib/log share. Nothing here is exported. */
#ifndef HWPMC_LIB_LOG_H
#define HWPMC_LIB_LOG_H

#include "libhwpmclog.h"

/* What a record of a type must be. */
struct record_rule {
	const char *name;
	uint16_t least;		/* bytes */
	uint16_t string;	/* where a string begins that ends within; 0: none */
};

/* NULL: a type that this library does not know. */
const struct record_rule *record_rule(uint8_t type);

#endif /* HWPMC_LIB_LOG_H */
