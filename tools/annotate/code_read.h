/* SPDX-License-Identifier: BSD-2-Clause */
/* code_read.h - what code.c and code_kernel.c share: reading the bytes of a function. */
#ifndef TOOLS_CODE_READ_H
#define TOOLS_CODE_READ_H

#include <libhwpmcstat.h>

#include "code.h"

/* "what: why" into err; -1. */
int code_refuse(char *err, size_t size, const char *what, const char *why);
/* So many bytes of a file: c->bytes. */
int code_read_bytes(struct code *c, int fd, uint64_t offset, uint64_t size,
		    char *err, size_t errsize);
/* From an ELF file below root, c->from, if it is the image's by its build-id. */
int code_read_elf(struct code *c, const char *root, const char *path,
		  const struct hwpmc_image *image, uint64_t size,
		  char *err, size_t errsize);
int code_read_kernel(struct code *c, const struct hwpmc_symbol *s,
		     uint64_t size, char *err, size_t errsize);

#endif
