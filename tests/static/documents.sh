# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# documents.sh - checks of documents, for tests/static/run, which has files() and $work.

documents_name_paths_that_exist() {
	scripts/check-paths $(files '*.md')
}

documents_readme_is_short_and_links_resolve() {
	tests/static/front.py .
}

# Three programs for each job, in the order of the table's columns.
documents_coming_from_has_the_lines_of_its_programs() {
	for job in region threads profiler; do
		line="| | "
		for tool in hwpmc papi perf; do
			line="$line$(scripts/code-lines doc/examples/coming-from/${job}_$tool.c) | "
		done
		echo "${line#| | }"
	done | sed 's/ *|* *$//' >"$work/code-lines"
	sed -n 's/^| .* | lines | \(.*\) |$/\1/p' doc/coming-from.md | diff - "$work/code-lines"
}

# Of programs and scripts of all tests, and of what they call.
test_words() {
	grep -rhoE '\b[a-z0-9]+(_[a-z0-9]+){3,}\b' $(files 'tests/*') | sort -u >"$work/test-words"
}

documents_command_blocks_are_run_or_marked() {
	test_words
	tests/static/blocks . tests/static/blocks.tsv "$work/test-words"
}

documents_block_check_refuses_new_and_stale_blocks() {
	test_words
	rm -rf "$work/blocks"
	mkdir -p "$work/blocks"
	cp -r ./*.md doc "$work/blocks"
	check_blocks() { tests/static/blocks "$work/blocks" "$1" "$work/test-words" >"$work/blocks.log"; }
	check_blocks tests/static/blocks.tsv || { cat "$work/blocks.log"; return 1; }
	printf '\n    hwpmc new --option\n' >>"$work/blocks/doc/fleet.md"
	! check_blocks tests/static/blocks.tsv || { echo "accepted a new block"; return 1; }
	grep -q 'doc/fleet.md: 0 lines for the block: hwpmc new' "$work/blocks.log" || return 1
	cp doc/fleet.md "$work/blocks/doc/"
	sed 's/^\(doc.fleet.md\t\)echo/\1print/' tests/static/blocks.tsv >"$work/blocks.tsv"
	! check_blocks "$work/blocks.tsv" || { echo "accepted a stale line"; return 1; }
	grep -q 'no such block: print' "$work/blocks.log" || return 1
	sed 's/\tdemo_counts_equal/\tno_demo_counts_equal/' tests/static/blocks.tsv >"$work/blocks.tsv"
	! check_blocks "$work/blocks.tsv" || { echo "accepted a test that does not exist"; return 1; }
}

documents_internals_have_all_parts_and_live_names() {
	tests/static/internals doc/internals tests/static/comments.ignore $(files)
}

a_document_with_a_dead_path_is_refused() {
	# shellcheck disable=SC2016
	printf 'See `kmod/core/no_such_file.c` for it.\n' >"$work/dead.md"
	printf 'See `kmod/Kbuild`, `tests/` and `Makefile`.\n' >"$work/live.md"
	scripts/check-paths "$work/live.md" || return 1
	! scripts/check-paths "$work/dead.md" >"$work/dead.log" 2>&1 ||
		{ echo "accepted"; return 1; }
	grep -q no_such_file "$work/dead.log"
}

# front_page SED-COMMAND: a copy of the documents, changed
front_page() {
	rm -rf "$work/front"
	mkdir -p "$work/front/doc" "$work/front/man"
	cp -r ./*.md NEWS LICENSE "$work/front"
	cp -r doc man packaging "$work/front"
	sed -i "$1" "$work/front/README.md"
	tests/static/front.py "$work/front" >"$work/front.log"
}

documents_readme_check_refuses_length_links_figures() {
	front_page '' || { cat "$work/front.log"; return 1; }
	! front_page '1s/$/\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' || return 1
	grep -q 'lines, more than 150' "$work/front.log" || return 1
	! front_page 's,(doc/hybrid.md),(doc/none.md),' || return 1
	grep -qx 'README.md: no such target: doc/none.md' "$work/front.log" || return 1
	! front_page 's,install.md#secure-boot,install.md#no-boot,' || return 1
	grep -q 'no-boot' "$work/front.log" || return 1
	! front_page 's/costs 5,145/costs 5,146/' || return 1
	grep -qx 'README.md: 5,146 is not in doc/performance.md' "$work/front.log" || return 1
	! front_page 's/^## Why not perf?/## Why/' || return 1
}

# internals_with PAGE SED-COMMAND: what the check says of a copy in which a page is changed
internals_with() {
	rm -rf "$work/internals"
	cp -r doc/internals "$work/internals"
	sed -i "$2" "$work/internals/$1"
	tests/static/internals "$work/internals" tests/static/comments.ignore $(files) \
		>"$work/internals.log"
}

documents_internals_check_refuses_dead_names_and_parts() {
	internals_with owner.md '' || { cat "$work/internals.log"; return 1; }
	! internals_with owner.md 's/drop_work()/drop_no_work()/' || return 1
	grep -q 'no such function: drop_no_work()' "$work/internals.log" || return 1
	! internals_with owner.md 's/struct hwpmc_owner/struct hwpmc_no_owner/' || return 1
	grep -q 'no such structure: hwpmc_no_owner' "$work/internals.log" || return 1
	! internals_with owner.md 's,pmc/owner.c,pmc/no_owner.c,' || return 1
	! internals_with owner.md '/^## Invariants/d' || return 1
	! internals_with owner.md 's/^      .*//' || return 1
	! internals_with owner.md '1s/$/\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' || return 1
	! internals_with README.md '/owner.md/d' || return 1
	grep -q 'owner.md: the index does not link it' "$work/internals.log"
}
