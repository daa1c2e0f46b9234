/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flamegraph.js - draws the stacks of the page that it is in. Names reach the page
 * as text and canvas only, never as markup. No library, nothing from elsewhere.
 */
"use strict";
(() => {
const data = JSON.parse(document.getElementById("profile").textContent);
const ROW = 19;			/* pixels a frame is high */
const NARROW = 0.4;		/* what has less width is not drawn */
const PROCESS = 0, KERNEL = 2, JIT = 3, UNKNOWN = 4, INLINED = 5;
const FONT = "12px system-ui, sans-serif";
const dark = matchMedia("(prefers-color-scheme: dark)");

let event = 0;
let tree;			/* of the event: arrays by node */
let zoom = -1;			/* node that has the whole width; -1: all */
let hits = null;		/* of each frame: does the search match? or null */
let icicle = false;
let hover = null;

/* ---- elements ----------------------------------------------------------- */

function element(tag, properties, ...children) {
	const e = Object.assign(document.createElement(tag), properties);
	e.append(...children);
	return e;
}

const search = element("input", { type: "search", id: "search",
	placeholder: "Search: regular expression  ( / )", spellcheck: false });
search.setAttribute("aria-label", "Search functions by regular expression");
const matched = element("output", { id: "matched" });
const reset = element("button", { id: "reset", textContent: "Reset zoom",
	disabled: true });
const chooser = element("select", { id: "event" });
chooser.setAttribute("aria-label", "Event");
const upside = element("input", { type: "checkbox", id: "icicle" });
const facts = element("div", { className: "facts", id: "facts" });
const warnings = element("div", { className: "warnings", id: "warnings" });
const canvas = element("canvas", { id: "graph" });
canvas.setAttribute("role", "img");
canvas.setAttribute("aria-label", "Flame graph: the text below lists its frames");
const area = element("main", {}, canvas);
const details = element("div", { id: "details" });
details.setAttribute("aria-live", "polite");

/* ---- numbers ------------------------------------------------------------ */

const group = n => n.toLocaleString("en");
const percent = (n, of) => of ? (100 * n / of).toFixed(2) + "%" : "0%";

function plural(n, word) {
	return group(n) + " " + word + (n === 1 ? "" : "s");
}

/* What an event is counted in: those with a frequency have samples of several periods. */
function unit(e) {
	return e && e.taken !== undefined ? "event" : "sample";
}

const label = frame => data.frames[frame][0];

/* ---- the tree ----------------------------------------------------------- */

function by_label(a, b) {
	const x = label(tree.frame[a]), y = label(tree.frame[b]);
	return x < y ? -1 : x > y ? 1 : a - b;
}

/* Parents have smaller numbers than their children. */
function grow(index) {
	const e = data.events[index], n = e ? e.self.length : 0;
	const total = e ? e.self.slice() : [];
	const children = Array.from({ length: n + 1 }, () => []);
	const depth = new Array(n);

	for (let i = n; i-- > 0; ) {
		if (e.parent[i])
			total[e.parent[i] - 1] += total[i];
		children[e.parent[i]].push(i);
	}
	tree = { n, total, children, depth, self: e ? e.self : [],
		frame: e ? e.frame : [], parent: e ? e.parent : [],
		left: new Array(n), deepest: 0,
		all: children[0].reduce((sum, i) => sum + total[i], 0) };
	for (let i = 0; i < n; i++) {
		depth[i] = tree.parent[i] ? depth[tree.parent[i] - 1] + 1 : 1;
		tree.deepest = Math.max(tree.deepest, depth[i]);
	}
	place(0, 0);
	for (let i = 0; i < n; i++)
		place(i + 1, tree.left[i]);
}

/* Where children begin, in samples from the left. */
function place(parent, left) {
	for (const child of tree.children[parent].sort(by_label)) {
		tree.left[child] = left;
		left += tree.total[child];
	}
}

const total_of = node => node < 0 ? tree.all : tree.total[node];
const left_of = node => node < 0 ? 0 : tree.left[node];
const depth_of = node => node < 0 ? 0 : tree.depth[node];

/* Samples with a match on their stack, each once; within what is zoomed. */
function count_matches() {
	const inside = new Array(tree.n).fill(false);
	let sum = 0;

	for (let i = 0; i < tree.n; i++) {
		const parent = tree.parent[i] - 1;

		inside[i] = parent >= 0 && inside[parent];
		if (inside[i] || !hits[tree.frame[i]])
			continue;
		inside[i] = true;
		sum += overlap(i);
	}
	return sum;
}

/* How many of a node's samples are within what is zoomed. */
function overlap(node) {
	const from = Math.max(left_of(node), left_of(zoom));
	const to = Math.min(left_of(node) + total_of(node),
			    left_of(zoom) + total_of(zoom));
	return Math.max(0, to - from);
}

/* ---- drawing ------------------------------------------------------------ */

function hash(text) {
	let h = 7;
	for (let i = 0; i < text.length; i++)
		h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return h;
}

/* By kind, and a little by image and name, so that neighbours differ. */
function colour(frame, dim) {
	const [name, image, kind] = data.frames[frame];
	const spread = hash(name) % 16, light = dark.matches ? 34 : 70;
	const fade = dim ? (dark.matches ? -12 : 16) : 0;
	const hsl = (h, s, l) => `hsl(${h} ${s}% ${l + fade}%)`;

	if (hits && hits[frame])
		return dark.matches ? "#b03bc4" : "#e77bf7";
	switch (kind) {
	case PROCESS: return hsl(215, 22, light - 2 + spread / 4);
	case KERNEL: return hsl(14 + spread, 78, light - 4 + spread / 3);
	case JIT: return hsl(135 + spread, 42, light - 6 + spread / 3);
	case UNKNOWN: return hsl(0, 0, light);
	default: return hsl(38 + hash(image) % 22, 86,
			    light - 10 + spread / 2);
	}
}

/* What is drawn of a node, in pixels of the page; null: nothing. */
function box(node, width) {
	const across = total_of(zoom) || 1;
	const x = (left_of(node) - left_of(zoom)) / across * width;
	const w = total_of(node) / across * width;
	const from = Math.max(0, x), to = Math.min(width, x + w);

	if (to - from < NARROW)
		return null;
	return { x: from, w: to - from, y: row_top(depth_of(node)),
		outer: depth_of(node) < depth_of(zoom) };
}

function row_top(depth) {
	return (icicle ? depth : tree.deepest - depth) * ROW;
}

function shorten(context, text, width) {
	if (context.measureText(text).width <= width)
		return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(text.slice(0, middle) + "…").width <= width)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 1 ? text.slice(0, low) + "…" : "";
}

function draw_box(context, b, fill, text) {
	const w = Math.max(b.w - 1, Math.min(b.w, 1));

	context.fillStyle = fill;
	context.fillRect(b.x, b.y, w, ROW - 1);
	if (w < 22)
		return;
	context.fillStyle = dark.matches ? "#f4f4f6" : "#17171a";
	context.globalAlpha = b.outer ? 0.6 : 1;
	context.fillText(shorten(context, text, w - 8), b.x + 4, b.y + 13.5);
	context.globalAlpha = 1;
}

/* What is narrow has no children that are not: most of a large tree is never seen. */
function lay_out(node, width) {
	const b = box(node, width);

	if (!b)
		return;
	tree.drawn.push([node, b]);
	for (const child of tree.children[node + 1])
		lay_out(child, width);
}

function draw() {
	const width = canvas.clientWidth, height = (tree.deepest + 1) * ROW;
	const scale = Math.min(devicePixelRatio || 1, 32000 / height);
	const context = canvas.getContext("2d");

	canvas.style.height = height + "px";
	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(height * scale);
	context.scale(scale, scale);
	context.font = FONT;
	tree.drawn = [];
	lay_out(-1, width);
	for (const [node, b] of tree.drawn)
		draw_box(context, b,
			 node < 0 ? (dark.matches ? "#4a4a54" : "#cfcfd6") :
			 colour(tree.frame[node], b.outer),
			 node < 0 ? "all" : label(tree.frame[node]));
	outline(context);
}

function outline(context) {
	const found = tree.drawn.find(([node]) => node === hover);

	if (!found)
		return;
	const b = found[1];
	context.strokeStyle = dark.matches ? "#fff" : "#000";
	context.strokeRect(b.x + 0.5, b.y + 0.5, Math.max(b.w - 2, 1), ROW - 2);
}

/* The node at a point, or null. */
function node_at(x, y) {
	for (const [node, b] of tree.drawn)
		if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + ROW)
			return node;
	return null;
}

/* ---- text --------------------------------------------------------------- */

function describe(node) {
	if (node === null) {
		details.textContent = "Click a frame to zoom, Esc to go back, / to search.";
		return;
	}
	if (node < 0) {
		details.textContent = "all: " + plural(tree.all, unit(data.events[event]));
		return;
	}
	const [, image, kind] = data.frames[tree.frame[node]];
	const n = tree.total[node], self = tree.self[node];

	details.textContent = label(tree.frame[node]) +
		(image ? " — " + image : "") +
		(kind === INLINED ? ", inlined" : "") + " — " + plural(n, unit(data.events[event])) + ", " +
		percent(n, tree.all) +
		(zoom >= 0 ? " (" + percent(overlap(node), total_of(zoom)) +
		 " of what is shown)" : "") +
		"; itself " + group(self) + ", " + percent(self, tree.all);
}

function show_matches() {
	reset.disabled = zoom < 0;
	if (!hits) {
		matched.textContent = "";
		return;
	}
	const n = count_matches();
	matched.textContent = percent(n, total_of(zoom)) + " matched, " +
		plural(n, unit(data.events[event]));
}

function show_facts() {
	const e = data.events[event], parts = [];

	if (e)
		parts.push(e.name + ", " + (e.frequency ?
				group(e.frequency) + " samples a second" :
				e.taken !== undefined ? "samples of several periods" :
				"a sample every " + group(e.period)),
			   (e.taken ? plural(e.taken, "sample") :
				plural(e.samples, unit(e))) + " in " +
			   data.duration.toFixed(3) + " s");
	if (data.unknown)
		parts.push(percent(data.unknown, data.kept) + " unknown");
	for (const key of ["host", "release", "cpu"])
		if (data[key])
			parts.push(data[key]);
	if (data.start)
		parts.push(new Date(data.start).toISOString().replace("T", " ").slice(0, 19) +
			   " UTC");
	parts.push("hwpmc " + data.version);
	facts.textContent = parts.join(" · ");
}

function show_warnings() {
	const e = data.events[event], parts = [];

	const all = data.lost.reduce((sum, [, n]) => sum + n, data.samples);

	for (const [cause, n] of data.lost)
		parts.push(plural(n, "sample") + " lost: " + cause + " (" +
			   (100 * n / all).toFixed(1) + " %)");
	if (data.other)
		parts.push(plural(data.other, "sample") +
			   " in [other]: hwpmc report --min-share 0 shows them");
	if (e && e.filtered)
		parts.push(plural(e.filtered, unit(e)) +
			   " excluded by the options");
	if (data.paused)
		parts.push("sampling was paused " + plural(data.paused, "time"));
	if (data.cut)
		parts.push("the log has no end: later samples are missing");
	if (!data.events.length || !data.kept)
		parts.push("no samples");
	warnings.textContent = parts.join(" · ");
}

/* ---- what one can do ---------------------------------------------------- */

function update() {
	show_matches();
	draw();
	describe(hover);
}

function zoom_to(node) {
	zoom = node;
	update();
}

function find() {
	const text = search.value;
	let wrong = false;

	hits = null;
	try {
		const pattern = text && new RegExp(text);

		if (text)
			hits = data.frames.map(([name]) => pattern.test(name));
	} catch (error) {
		wrong = true;
	}
	search.classList.toggle("wrong", wrong);
	update();
	if (wrong)
		matched.textContent = "not a regular expression";
}

function choose(index) {
	event = index;
	zoom = -1;
	hover = null;
	grow(index);
	show_facts();
	show_warnings();
	update();
	to_root();
}

/* Where the outermost frames are. */
function to_root() {
	area.scrollTop = icicle ? 0 : area.scrollHeight;
}

function turn() {
	icicle = upside.checked;
	update();
	to_root();
}

function point_of(e) {
	const r = canvas.getBoundingClientRect();
	return [e.clientX - r.left, e.clientY - r.top];
}

function move(e) {
	const node = node_at(...point_of(e));

	if (node === hover)
		return;
	hover = node;
	draw();
	describe(node);
}

function press(e) {
	if (e.key === "Escape" && document.activeElement === search &&
	    search.value) {
		search.value = "";
		find();
	} else if (e.key === "Escape") {
		zoom_to(-1);
	} else if (e.key === "/" && document.activeElement !== search) {
		e.preventDefault();
		search.focus();
	}
}

/* ---- the page ----------------------------------------------------------- */

function build() {
	const controls = element("div", { className: "controls" });

	data.events.forEach((e, i) => chooser.append(element("option",
		{ value: String(i), textContent: e.name + " (" +
		  plural(e.samples, unit(e)) + ")" })));
	if (data.events.length > 1)
		controls.append(chooser);
	controls.append(search, reset,
		element("label", {}, upside, " Icicle"), matched);
	document.body.append(element("header", {},
		element("h1", { textContent: data.title }), facts, warnings),
		controls, area, details);
}

build();
search.addEventListener("input", find);
reset.addEventListener("click", () => zoom_to(-1));
chooser.addEventListener("change", () => choose(Number(chooser.value)));
upside.addEventListener("change", turn);
canvas.addEventListener("mousemove", move);
canvas.addEventListener("mouseleave", () => {
	hover = null;
	draw();
	describe(null);
});
canvas.addEventListener("click", e => {
	const node = node_at(...point_of(e));

	if (node !== null)
		zoom_to(node);
});
addEventListener("keydown", press);
addEventListener("resize", draw);
dark.addEventListener("change", draw);
choose(Math.max(0, data.events.findIndex(e => e.samples)));
})();
