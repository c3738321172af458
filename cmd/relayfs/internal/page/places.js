// What the page shows beside notes, in the form of a note: proposals, and what was decided.

import { api } from "./api.js";
import { button, element, plural } from "./draw.js";

const historyLength = 300; // entries of the journal

export const documentAt = (path, plain) => api(`/document?path=${encodeURIComponent(path)}${plain ? "&plain=1" : ""}`);

const drawnOf = new Map(); // what a proposal was drawn from -> its block

// proposalBlocks are the proposals among all that is pending, each a block.
export async function proposalBlocks(all) {
	const links = new Map();
	for (const s of all) if (s.proposal) links.set(s.proposal, [...(links.get(s.proposal) || []), s]);
	return Promise.all(all.filter((s) => !s.line).map(async (s) => {
		const key = JSON.stringify([s, links.get(s.id)]);
		if (!drawnOf.has(key)) {
			drawnOf.set(key, { key, nodes: [...proposal(s, links.get(s.id) || []), ...await lost(s), { t: "hr" }], groups: [[s.id]], suggestions: [s] });
		}
		return drawnOf.get(key);
	}));
}

// lost is what a deletion takes away: the note, struck.
async function lost(s) {
	if (s.kind !== "delete" || s.dir || !s.path.endsWith(".md")) return [];
	try {
		const note = await documentAt(s.path);
		const properties = (note.properties || []).map((p) => ({ t: "p", c: [{ x: `${p.key}: ${p.value}` }] }));
		return [...properties, ...note.blocks.flatMap((b) => b.nodes || [])].map((n) => ({ ...n, k: "old", s: s.id }));
	} catch (err) {
		return [{ t: "p", c: [{ x: `What it holds could not be read: ${err.message}` }] }];
	}
}

// proposal is what one would do, the contents of a file, and the links that are rewritten with it.
function proposal(s, links) {
	const [what, ...contents] = s.pieces || [];
	const nodes = [{ t: "p", c: [{ t: "strong", c: [{ x: s.path }] }, { x: ": " + what.text.trim() }] }];
	const canvas = s.kind === "file" && s.path.endsWith(".canvas");
	if (canvas) nodes.push({ t: "canvas", c: [{ x: s.old }, { x: s.new }] });
	if (contents.length) {
		const text = { t: "pre", c: contents.map((p) => ({ x: p.text, k: p.kind === "kept" ? undefined : p.kind, s: s.id })) };
		nodes.push(canvas ? { t: "folded", c: [text] } : text);
	}
	if (links.length) {
		nodes.push({ t: "p", c: [{ x: "Links that change with it:" }] }, { t: "ul", c: links.map((x) => ({ t: "li", c: [
			{ x: `${x.path}, line ${x.line}: ` }, { x: x.old, k: "old", s: s.id }, { x: " " }, { x: x.new, k: "new", s: s.id }] })) });
	}
	return nodes;
}

// batches are what was decided, the newest first, and how much of each can be taken back: an undo cannot.
export async function batches(length = historyLength) {
	const list = [];
	for (const entry of await api("/journal?limit=" + length)) {
		if (entry.sessionNote || entry.approval) continue; // nothing was decided
		const last = list.at(-1);
		if (last?.batch === entry.batch) last.entries.push(entry);
		else list.push({ batch: entry.batch, entries: [entry] });
	}
	const leftOf = (x) => (x.undone || x.action === "undone" ? 0 : x.suggestions.filter((s) => !s.undone).length || 1);
	for (const b of list) b.left = b.entries.reduce((n, x) => n + leftOf(x), 0);
	return list;
}

const words = { frontmatter: "properties changed", undone: "taken back", changed: "accepted as edited", resolved: "comments resolved" };

// pastRow fills the row of a batch. takeBack undoes it, or one suggestion of several.
export function pastRow(e, { batch, entries, left }, takeBack) {
	const [first] = entries;
	const who = first.lapsed ? "by no person" : first.by && "by " + first.by;
	const what = words[first.action] ?? first.action;
	const authors = new Set(entries.flatMap((x) => x.suggestions.map((s) => s.author)).filter(Boolean));
	const text = element("div", { className: "text past" }, element("p", { className: "about" },
		[what, authors.size && "suggestions of " + [...authors].join(", "), who, new Date(first.time).toLocaleString(), first.reason && `because ${first.reason}`].filter(Boolean).join(" · ")));
	const back = (label, of, request, className = "") => button(label, "", () => takeBack({ batch, what: of, ...request }), className, { ariaLabel: `${label}: ${of}` });
	const several = first.action !== "undone" && entries.reduce((n, x) => n + x.suggestions.length, 0) > 1;
	for (const x of entries) {
		const name = element("strong", {}, x.path || "a note that is gone");
		if (x.frontMatter || !several) {
			text.append(element("p", { dir: "auto" }, name, " ", ...(x.frontMatter ? matterPieces(x.frontMatter) : x.suggestions.flatMap(pastPieces))));
			continue;
		}
		text.append(element("p", { dir: "auto" }, name));
		for (const s of x.suggestions) {
			const pieces = pastPieces(s), of = `${what}: ${briefly(s)}`;
			text.append(element("p", { className: "one", dir: "auto" },
				element("span", {}, ...(s.line ? [element("span", { className: "about" }, `line ${s.line} `)] : []), ...pieces),
				s.undone ? element("span", { className: "about" }, "taken back") : back("Take back", of, { ids: [s.id] }, "quiet")));
		}
	}
	const side = element("div", { className: "side" });
	const where = entries.length > 1 ? plural(entries.length, "note") : first.path;
	if (left) side.append(back(several && left > 1 ? `Take back ${left}` : "Take back", `${what} in ${where}`, { n: left }));
	else if (first.action !== "undone") side.append(element("p", { className: "about" }, "taken back"));
	e.replaceChildren(text, side);
}

// matterPieces are the lines that a change of front matter made differ.
const matterPieces = (matter) => sides(...linesThatDiffer(matter.before, matter.after));

// pastPieces are what was decided on.
function pastPieces(s) {
	if (s.kind === "delete") return ["deletion "];
	if (s.kind === "rename") return ["rename ", ...sides("", s.new)];
	return sides(s.old, s.instead ?? s.new);
}

// briefly names what was decided on, on one line.
function briefly(s) {
	if (s.kind === "delete") return `deletion of ${s.old}`;
	const text = [s.old, s.instead ?? s.new].filter(Boolean).join(" → ").replace(/\s+/g, " ");
	return text.length > 80 ? text.slice(0, 60) + " … " + text.slice(-15) : text;
}

const sides = (old, now) => [old && element("del", {}, old), now && element("ins", {}, now), " "].filter(Boolean);

function linesThatDiffer(before, after) {
	const lines = (text) => text.split(/\r?\n/).filter((l) => l && l !== "---");
	const only = (a, b) => lines(a).filter((l) => !lines(b).includes(l)).join("\n");
	return [only(before, after), only(after, before)];
}
