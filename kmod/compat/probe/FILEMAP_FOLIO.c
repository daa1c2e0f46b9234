// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 5.16: the page cache is asked for folios. */
#include <linux/pagemap.h>

struct folio *probe(struct address_space *mapping);
struct folio *probe(struct address_space *mapping)
{
	return filemap_get_folio(mapping, 0);
}
