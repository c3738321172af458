// The review page: the note that is open beside a list of what is pending. relayfs tells what changes as soon as
// it does, whoever did it; the page draws that, and nothing else, anew.
//
// It decides only on what it shows: each request says in which revision each suggestion was drawn or listed, and
// a key works on the change that has the focus and is in sight. Otherwise it brings that change there first. A
// decision is shown at once, as being made, and taken back with a message if relayfs refuses it.
//
// Nothing moves that a person looks at: what has not changed keeps its elements, what stands at the top of
// the window, or has the focus, stays where it is, and what was decided stays in its place until the person leaves.

import { api, events } from "./api.js";
import { button, draw, drawProperties, drawSource, element, plural } from "./draw.js";
import { drawFormulas } from "./formulas.js";
import { Images } from "./images.js";
import { VirtualList } from "./list.js";
import { Pending, folderOf, placeOf, proposals } from "./pending.js";
import { batches, documentAt, pastRow, proposalBlocks } from "./places.js";
import { Rows, merged } from "./rows.js";
import { drawAnswer, drawThread, quoted, signature, write } from "./threads.js";

const confirmAbove = 10; // suggestions that are decided at once without asking
const retryAfter = 2000; // ms, when a stream has ended, or relayfs does not answer
const maxReason = 1000; // characters; relayfs has a limit of bytes beside it
const narrow = matchMedia("(max-width: 45rem)"); // as in page.css: the queue is above the note, and closed
const history = "\n"; // the place of what was decided; no path is like that

const $ = (id) => document.getElementById(id);

const pending = new Pending();
let place; // what is open: the path of a note, or proposals, or history
let note = null; // the place that is open: {rows, version, new, obsidian, properties}, and what was decided in it
let plain = false; // a note is shown as source
let selected = ""; // id of the suggestion that has the focus, or gets it
let form = null; // the open form, {ids, verdict}; verdict "changed" is for editing the text, others are for giving a reason
let entries = []; // what can be decided in the open place, in its order: {row, ids}
let entryOf = new Map(); // id -> its entry
const apart = new Set(); // suggestions that are decided one by one though they stand beside each other
// What was decided in this tab and not taken back, the newest last: {batch, what}.
const decided = JSON.parse(sessionStorage.getItem("decided") || "[]");

const queue = new VirtualList($("places"));
const sheet = new Rows($("note"));
const steadily = (change) => sheet.steady(change);
const images = new Images($("note"), steadily);
// scrollers lets keys reach what scrolls sideways.
const scrollers = new ResizeObserver((list) => {
	for (const { target: e } of list) e.scrollWidth > e.clientWidth ? e.tabIndex = 0 : e.removeAttribute("tabindex");
});

function say(text, bad) {
	const m = $("message");
	m.textContent = text;
	m.className = bad ? "bad" : "";
}

// ---- the queue

// kindWords are what people call the kinds; each with an s, too.
const kindWords = { delete: "delete deletion", comment: "comment question", file: "file canvas", addition: "addition insertion", replacement: "replacement change" };

function ofWhom(s) {
	const [author, session] = JSON.parse($("who").value || "[]");
	return (author === undefined || s.author === author) && (session === undefined || s.session === session);
}

function matches(s) {
	if (!ofWhom(s)) return false;
	const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
	if (!words.length) return true;
	const kinds = (kindWords[s.kind] ?? s.kind) + (s.comments?.length ? " " + kindWords.comment : "");
	const text = `${s.path} ${s.author} ${kinds.replace(/\w+/g, "$& $&s")} ${s.session} ${s.sessionNote?.name ?? ""}`.toLowerCase();
	return words.every((w) => text.includes(w));
}

const filtered = () => $("filter").value.trim() !== "" || $("who").value !== "";

// listed is what is pending and the filter shows.
const listed = () => (filtered() ? [...pending.all()].filter(matches) : [...pending.all()]);

// places lists where something is pending that the filter shows: proposals first, then the notes of each folder,
// those too that have only comments.
// The open place stays in the list until the person leaves it.
function places(all = listed()) {
	const counts = new Map();
	for (const s of all) counts.set(placeOf(s), (counts.get(placeOf(s)) || 0) + 1);
	for (const path of pending.commented) if (!counts.has(path) && matches({ path, author: "", kind: "comment", session: "" })) counts.set(path, 0);
	if (place !== undefined && place !== history && !counts.has(place) && pastOf().length) counts.set(place, 0);
	return [...counts].map(([at, count]) => ({ at, count, folder: folderOf(at) })).sort((a, b) => (a.folder === b.folder ? a.at < b.at : a.folder < b.folder) ? -1 : 1);
}

function drawQueue() {
	const all = listed();
	const list = places(all);
	const items = [];
	let above;
	for (const p of list) {
		if (p.at !== proposals && p.folder !== above) {
			above = p.folder;
			items.push(folderEntry(p.folder));
		}
		items.push(placeEntry(p));
	}
	queue.set(items);
	const none = all.length ? "" : nothing();
	if ($("none").dataset.sign !== none) $("none").replaceChildren(none, ...(none ? clearing() : []));
	$("none").dataset.sign = none;
	$("count").textContent = filtered() ? `${all.length} of ${total()} pending` : plural(all.length, "pending suggestion");
	$("undo").disabled = decided.length === 0;
	drawBulk(all);
	drawWho();
}

const total = () => [...pending.all()].length;

// nothing says that nothing is listed, and what the filter leaves out.
function nothing() {
	const n = total();
	return n === 0 ? "Nothing is pending. " : `Nothing that the filter shows is pending; ${n === 1 ? "1 other waits" : `${n} others wait`}. `;
}

// clearing is the button for who sees nothing because of the filter.
const clearing = () => (filtered() ? [button("Clear the filter", "", clearFilter)] : []);

async function clearFilter() {
	const stays = attention();
	$("filter").value = $("who").value = "";
	refiltered = refilter();
	await refiltered;
	if (stays()) focusOn(selected);
}

function drawBulk(all) {
	const places = placesOf(all);
	const sign = filtered() && all.length > 0 ? `${all.length} ${places}` : "";
	if ($("bulk").dataset.sign === sign) return;
	$("bulk").dataset.sign = sign;
	const shown = all; // what the number on the buttons counts
	$("bulk").replaceChildren(...(sign ? decisions(shown, ` in ${places}`, () => shown) : []));
}

// placesOf says in how many notes suggestions are, or files, if not all are notes.
const placesOf = (list) => plural(new Set(list.map((s) => s.path)).size, list.every((s) => s.path.endsWith(".md")) ? "note" : "file");

const nameOf = (at) => (at === proposals ? "Renames, deletions, files" : at.slice(at.lastIndexOf("/") + 1).replace(/\.md$/, ""));

function folderEntry(folder) {
	return { key: "folder " + folder, make: () => element("div", { className: "folder", dir: "auto", title: folder }, folder), update() {} };
}

function placeEntry({ at, count }) {
	return {
		key: at,
		make() {
			const e = button("", at, () => openPlace(at, true), "place");
			e.append(element("span", { dir: "auto" }, nameOf(at)), element("span", { className: "n" }));
			return element("div", {}, e);
		},
		update(item) {
			const e = item.firstChild;
			e.lastChild.replaceChildren(...(count ? [String(count), element("span", { className: "unseen" }, " pending")]
				: pending.commented.has(at) ? ["comments"] : ["✓", element("span", { className: "unseen" }, " decided")]));
			e.tabIndex = at === place ? 0 : -1;
			if (at === place) e.setAttribute("aria-current", "true");
			else e.removeAttribute("aria-current");
		},
	};
}

// drawWho offers the authors, with what is pending of each, and the sessions of who has several.
function drawWho() {
	const authors = new Map(); // author -> {n, sessions: session -> {n, since}}
	for (const s of pending.all()) {
		if (!authors.has(s.author)) authors.set(s.author, { n: 0, sessions: new Map() });
		const a = authors.get(s.author);
		a.n++;
		if (!s.session) continue;
		const x = a.sessions.get(s.session) ?? { n: 0, since: Infinity };
		const note = s.sessionNote ?? x.note;
		a.sessions.set(s.session, { n: x.n + 1, since: Math.min(x.since, Date.parse(s.time) || Infinity), note });
	}
	const options = [{ value: "", text: "everybody" }];
	for (const [author, { n, sessions }] of [...authors].sort(([a], [b]) => (a < b ? -1 : 1))) {
		const name = author || "no author";
		options.push({ value: JSON.stringify([author]), text: `${name} (${n})` });
		if (sessions.size < 2 && ![...sessions.values()].some((x) => x.note)) continue;
		const list = [...sessions].sort(([, a], [, b]) => a.since - b.since), starts = startsOf(list.map(([, x]) => x.since));
		list.forEach(([session, x], i) => options.push({ value: JSON.stringify([author, session]), text: `${name}, ${x.note?.name ? `“${x.note.name}” ` : ""}${starts[i]} (${x.n})`, title: x.note?.purpose ?? "" }));
	}
	const now = $("who").value, label = $("who").selectedOptions[0]?.textContent.replace(/ \(\d+\)$/, "");
	const at = options.find((o) => o.value === now);
	if (!at) options.push({ value: now, text: `${label} (${[...pending.all()].filter(ofWhom).length})` });
	const drawn = JSON.stringify(options);
	if ($("who").dataset.drawn === drawn) return;
	$("who").dataset.drawn = drawn;
	$("who").replaceChildren(...options.map((o) => element("option", o)));
	$("who").value = now;
}

// startsOf names sessions by when the first of what is pending of each was made, and numbers those of one minute.
function startsOf(times) {
	const today = new Date().toDateString();
	const said = times.map((t) => {
		const day = new Date(t).toDateString() === today ? {} : { dateStyle: "short" };
		return t === Infinity ? "time unknown" : "since " + new Date(t).toLocaleString(undefined, { timeStyle: "short", ...day });
	});
	return said.map((x, i) => (said.indexOf(x) === i ? x : `${x}, no. ${said.slice(0, i + 1).filter((y) => y === x).length}`));
}

// moveInQueue gives the focus to another place of the list, without opening it.
function moveInQueue(step) {
	const list = places();
	const here = list.findIndex((p) => p.at === document.activeElement.title);
	const to = list[Math.max(0, Math.min(list.length - 1, here + step))];
	if (to) queue.reveal(to.at)?.firstChild.focus({ preventScroll: true });
}

// ---- the open place

const byID = (id) => entryOf.get(id)?.row.known.get(id);

const isNote = () => place !== undefined && place !== proposals && place !== history;

// pastOf lists what was decided in the open place since it was opened.
const pastOf = () => (note ? note.rows.flatMap((r) => r.past) : []);

// inPlace lists what can be decided in the open place, as it was drawn.
const inPlace = () => entries.flatMap((e) => e.ids.map(byID));

// groupsOf returns what is decided at once of a block, as far as the filter shows it and nobody has decided on it.
function groupsOf(row) {
	const out = [];
	for (const group of row.block?.groups || []) {
		const ids = group.filter((id) => row.known.has(id) && !row.gone.has(id) && !pending.isAway(id) && (matches(row.known.get(id)) || form?.ids.includes(id)));
		if (ids.some((id) => apart.has(id))) out.push(...ids.map((id) => [id]));
		else if (ids.length) out.push(ids);
	}
	return out;
}

// prepare gives the rows of the place what they are drawn from.
function prepare() {
	entries = [];
	const gone = new Map(pastOf().flatMap((p) => p.ids.map((id) => [id, p.verdict])));
	for (const row of note.rows) {
		const b = row.block;
		row.known ??= new Map((b?.suggestions || []).map((s) => [s.id, s]));
		row.gone = row.known.size ? new Map([...row.known.keys()].filter((id) => gone.has(id)).map((id) => [id, gone.get(id)])) : new Map();
		const groups = row.known.size ? groupsOf(row) : [];
		const open = form && groups.some((g) => g.includes(form.ids[0])) ? form : null;
		entries.push(...groups.map((ids) => ({ row, ids })));
		row.sign = groups.length || row.past.length || row.gone.size
			? JSON.stringify([groups, row.past.map((p) => [p.batch, p.state, p.ids, p.total]), [...row.gone], open && [open.ids, open.verdict]]) : "";
		row.fill = (e) => (b?.past ? pastRow(e, b.past, takeBack) : fillRow(e, row, groups));
		row.size = () => 30 + 28 * Math.ceil(textLength(b?.nodes) / 70) + 60 * groups.length;
	}
	entryOf = new Map(entries.flatMap((e) => e.ids.map((id) => [id, e])));
}

const textLength = (nodes) => (nodes || []).reduce((n, x) => n + (x.x?.length || 0) + textLength(x.c), 0);

const headRow = { fill: (e) => fillHead(e) }, propertiesRow = { fill: (e) => fillProperties(e) }, footRow = { fill: (e) => fillFoot(e) };

// special are the rows that are no blocks.
function special() {
	headRow.sign = JSON.stringify([place, inPlace().length, filtered(), plain, note.new, note.obsidian, note.removed]);
	propertiesRow.sign = JSON.stringify([note.new, note.properties, note.frontMatter]);
	footRow.sign = JSON.stringify([entries.length, place, pastOf().length, nextPlace()?.at, filtered() && total()]);
	for (const r of [headRow, propertiesRow, footRow]) r.size = () => 60;
	return { before: !note.removed && (note.properties || note.frontMatter?.length) ? [headRow, propertiesRow] : [headRow], after: pastOf().length && !entries.length ? [footRow] : [] };
}

function fillHead(e) {
	const list = inPlace();
	const name = { [proposals]: "Renames, deletions and files", [history]: "History: what was decided, and changes of properties" }[place] ?? place;
	const title = element("h2", { dir: "auto" }, name);
	if (note.new && !note.removed) title.append(element("span", { className: "badge" }, "new note"));
	const actions = element("div", { className: "actions" });
	if (list.length > 0) actions.append(...decisions(list, filtered() ? " shown" : place === proposals ? "" : " in this note", inPlace, "AR", place === proposals ? "all " : ""));
	if (isNote() && !note.removed) {
		actions.append(commentButton(), button(plain ? "Document" : "Source", "t", toggleSource, "quiet"));
		if (note.obsidian) actions.append(element("a", { className: "quiet", href: note.obsidian, rel: "noreferrer" }, "Open in Obsidian"));
	}
	e.classList.add("head");
	e.replaceChildren(title, note.removed ? element("p", { className: "gone" }, "This note was removed from the vault.") : actions);
}

function fillProperties(e) {
	const text = element("div", { className: "text" });
	if (note.properties) text.append(drawProperties(note.properties));
	e.replaceChildren(text);
	const side = element("div", { className: "side" });
	for (const b of note.new ? [] : note.frontMatter || []) {
		const [x] = b.entries;
		side.append(element("div", { className: "remark" }, element("div", { className: "about", dir: "auto" }, [x.by, new Date(x.time).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })].filter(Boolean).join(" · ")),
			"changed properties at once ", button("Take back", "", () => takeBack({ batch: b.batch, what: `properties changed in ${place}` }), "quiet")));
	}
	if (side.children.length) e.append(side);
}

function nextPlace() {
	const next = places().filter((p) => p.at !== place && p.count > 0);
	return next.find((p) => p.at > place) || next[0];
}

function fillFoot(e) {
	const to = nextPlace();
	const p = element("p", { className: "about" }, to ? "All that was shown here is decided. " : total() ? nothing() : "All is decided.");
	if (!to && total()) p.append(...clearing());
	if (to) p.append(button(`Next: ${nameOf(to.at)}`, "]", () => openPlace(to.at, true), "next"));
	e.classList.add("foot");
	e.replaceChildren(p);
}

// decisions are two buttons for several suggestions. The number on them is what they do.
function decisions(list, where, of, keys = "", all = "") {
	return [button(`Accept ${all}${list.length}${where}`, keys[0] || "", (ev) => once(ev) && decide(of(), "accepted"), "accept"),
		button(`Reject ${all}${list.length}${where}`, keys[1] || "", (ev) => once(ev) && decide(of(), "rejected"), "reject")];
}

// once is false for the second click of two: it was meant for what stood there before.
const once = (ev) => ev.detail < 2;

function fillRow(e, row, groups) {
	const b = row.block;
	const text = element("div", { className: "text", dir: "auto" }, ...draw(b?.nodes));
	if (!b && place === proposals) text.append(...row.past.map((p) => element("p", {}, element("strong", {}, gistOf(p)))));
	if (b?.source) text.append(drawSource(b.source));
	const mine = new Set(groups.flat());
	for (const m of text.querySelectorAll("[data-id]")) {
		const verdict = row.gone.get(m.dataset.id);
		if (verdict) m.classList.add(verdict === "changed" ? "accepted" : verdict);
		else if (mine.has(m.dataset.id)) m.onclick = () => focusOn(m.dataset.id);
		else m.classList.add("other");
	}
	const side = element("div", { className: "side" }, ...row.past.map(settledCard), ...groups.map((g) => card(g.map((id) => row.known.get(id)), b.threads || [])));
	if (groups.length > 1) {
		const here = groups.flat().map((id) => row.known.get(id));
		side.append(element("div", { className: "actions here" }, ...decisions(here, " here", () => here)));
	}
	for (const t of b?.threads || []) if (!t.suggestion || row.gone.has(t.suggestion)) side.append(drawThread(t, conversation));
	e.replaceChildren(text, ...(side.children.length ? [side] : []));
	for (const wide of text.querySelectorAll("table, [data-formula=block]")) scrollers.observe(wide);
	if (isNote()) images.show(text, place);
	drawFormulas(text, steadily).catch((err) => say(err.message, true));
}

// card has the buttons for suggestions that are decided at once.
function card(list, threads) {
	const [s] = list;
	const what = list.length > 1 ? plural(list.length, "change") : s.line ? s.kind : "proposal";
	const e = element("article", { id: "s-" + s.id, className: "card", tabIndex: -1, ariaLabel: [what, signature(s), ...list.map(gist)].filter(Boolean).join("; ") });
	e.dataset.ids = list.map((x) => x.id).join(" ");
	if (signature(s)) e.append(element("div", { className: "about", dir: "auto" }, signature(s)));
	e.append(element("div", { className: "gist", dir: "auto" }, list.map(gist).join("; ")));
	for (const x of list) if (x.answers) e.append(drawAnswer(x.answers));
	for (const t of threads) if (list.some((x) => x.id === t.suggestion)) e.append(drawThread(t, conversation));
	const open = form && form.ids[0] === s.id;
	if (open) form.drawn ??= form.verdict === "changed" ? editor(s) : reasons(list, form.verdict); // once: it has the caret
	e.append(open ? form.drawn : actions(list));
	return e;
}

// settledCard says what was decided here, and takes it back: each suggestion, and all that was decided with it.
function settledCard(p) {
	const doing = { accepted: "accepting … ", rejected: "rejecting … ", changed: "accepting … " }, done = { accepted: "✓ accepted: ", rejected: "✗ rejected: ", changed: "✓ accepted as edited: " };
	const fate = element("span", { className: "fate" }, p.state === "sent" ? doing[p.verdict] : done[p.verdict]);
	const e = element("div", { className: `settled ${p.verdict}`, ariaBusy: String(p.state === "sent") }, fate);
	const line = (text) => element("span", { className: "gist", dir: "auto" }, text + (p.reason ? ` · because ${p.reason}` : ""));
	const back = (label, what, request) => button(label, "", () => takeBack({ batch: p.batch, ...request }), "quiet", { ariaLabel: `${label}: ${what}` });
	e.style.minHeight = p.height + "px"; // so nothing moves
	e.onmousedown = (ev) => ev.target.closest("button") || ev.preventDefault(); // a second click leaves the focus where it is
	if (p.state === "sent" || p.total === 1) e.append(line(gistOf(p)));
	if (p.state === "sent") return e;
	if (p.total === 1) {
		e.append(back("Undo", gistOf(p), { what: p.what }));
		return e;
	}
	e.append(back(`Undo all ${p.total}`, p.what, { what: p.what, n: p.total }));
	for (const id of p.ids) e.append(element("div", { className: "one" }, line(p.gists[id]), back("Undo", p.gists[id], { ids: [id], what: p.gists[id] })));
	return e;
}

const gistOf = (p) => p.ids.map((id) => p.gists[id]).join("; ");

// gist says on one line what a suggestion does.
function gist(s) {
	if (!s.line) return `${s.path}: ${s.pieces?.[0]?.text.trim() ?? s.kind}`;
	const line = (t) => t.replace(/\s+/g, " ").trim() || `“${t}”`;
	const short = (t) => (t.length > 80 ? t.slice(0, 60) + " … " + t.slice(-15) : t);
	if (s.old && s.new) return `${short(line(s.old))} → ${short(line(s.new))}`;
	return (s.old ? "deleted: " : s.kind === "comment" ? "comment: " : "added: ") + short(line(s.old || s.new));
}

function actions(list) {
	const n = list.length > 1 ? ` ${list.length}` : "";
	const e = element("div", { className: "actions" },
		button("Accept" + n, "y", (ev) => once(ev) && decide(list, "accepted"), "accept"),
		button("Reject" + n, "n", (ev) => once(ev) && decide(list, "rejected"), "reject"));
	if (n) e.append(button("One by one", "s", () => separate(list), "quiet"));
	else if (editable(list[0])) e.append(button("Edit", "e", () => openForm(list, "changed"), "quiet"));
	e.append(button("Reason", "r: give a reason", () => openForm(list, "rejected"), "quiet"));
	if (list[0].line) e.append(button("Ask", "c: ask for another version", () => askAgain(list), "quiet"));
	return e;
}

// editable says whether the suggestion's text can be changed: a change of a
// note's text, not of its name.
function editable(s) {
	return ["addition", "replacement", "deletion"].includes(s.kind);
}

function editor(s) {
	const area = element("textarea", { value: form.text ?? (s.new || s.old), dir: "auto", ariaLabel: "the text instead" });
	area.oninput = () => { form.text = area.value; };
	area.onkeydown = (ev) => {
		if (ev.key === "Escape") closeForm();
		if (ev.key === "Enter" && (ev.ctrlKey || ev.metaKey)) decide([s], "changed", "", area.value);
	};
	return element("div", {}, area, element("div", { className: "actions" },
		button("Accept this text", "Ctrl+Enter", () => decide([s], "changed", "", area.value), "accept"),
		button("Cancel", "Esc", closeForm, "quiet")));
}

// reasons asks why suggestions are decided on as they are, in words that their author
// is told. The Enter key gives the verdict.
function reasons(list, verdict) {
	const number = list.length > 1 ? ` ${list.length}` : "";
	const why = element("input", {
		type: "text", dir: "auto", maxLength: maxReason, ariaLabel: "the reason", value: form.text ?? "",
		placeholder: `why? Enter ${verdict === "accepted" ? "accepts" : "rejects"}`,
	});
	why.oninput = () => { form.text = why.value; };
	why.onkeydown = (ev) => {
		if (ev.key === "Escape") closeForm();
		if (ev.key === "Enter" && !ev.isComposing) decide(list, verdict, why.value);
	};
	return element("div", { className: "actions" }, why,
		button("Accept" + number, "", () => decide(list, "accepted", why.value), "accept"),
		button("Reject" + number, "", () => decide(list, "rejected", why.value), "reject"),
		button("Cancel", "Esc", closeForm, "quiet"));
}

function openForm(list, verdict) {
	leaveForm();
	form = { ids: list.map((s) => s.id), verdict };
	redraw();
	focusOn(list[0].id);
}

// leaveForm takes the open form away. What the person has typed stays to be copied.
function leaveForm() {
	const text = form?.text;
	form = null;
	if (text) keepText(text);
}

function closeForm() {
	const id = form?.ids[0];
	leaveForm();
	redraw();
	if (id) focusOn(id);
	refresh(); // what has changed under the form
}

// separate lets suggestions that stand beside each other be decided one by one.
function separate(list) {
	if (list.length < 2) return;
	for (const s of list) apart.add(s.id);
	redraw();
	focusOn(list[0].id);
}

async function toggleSource() {
	const stays = attention();
	plain = !plain;
	await refresh();
	if (stays()) focusOn(selected);
}

// redraw draws what has changed. What had the focus has it again only if it is what it was: so no key meets what
// has just come into its place.
function redraw() {
	const old = cardOf(selected);
	const focused = Boolean(old?.contains(document.activeElement));
	const within = $("note").contains(document.activeElement);
	const was = revisionsOf(old), following = after(idsOf(old));
	drawQueue();
	if (note) drawNote();
	else {
		entries = [];
		entryOf = new Map();
		sheet.draw([]);
		$("note").replaceChildren(element("p", { className: "empty" }, nothing(), ...(total() ? clearing() : ["What agents change appears here by itself."])));
	}
	const now = cardOf(selected);
	if (!now) selected = entryOf.has(following) ? following : entries[0]?.ids[0] || "";
	else if (focused && revisionsOf(now) === was) focusOn(selected, { preventScroll: true });
	else if (focused && now.contains(document.activeElement)) document.activeElement.blur();
	if (within && document.activeElement === document.body) $("note").focus({ preventScroll: true });
	markSelected();
}

function drawNote() {
	prepare();
	const { before, after } = special();
	sheet.draw([...before, ...note.rows, ...after]);
}

const revisionsOf = (e) => JSON.stringify(idsOf(e).map((id) => [id, byID(id)?.revision]));

// openPlace opens a note or the proposals, at its first or last change.
async function openPlace(at, focus, end) {
	leaveForm();
	place = at;
	note = null;
	if (focus) uncover();
	const stays = attention();
	await refresh();
	if (place !== at) return; // another was opened meanwhile
	$("note").scrollTop = 0;
	queue.reveal(at);
	if (!focus) return;
	selected = (end === "last" ? entries.at(-1) : entries[0])?.ids[0] ?? "";
	if (!stays()) markSelected();
	else if (selected) focusOn(selected);
	else if (!isField(document.activeElement)) $("note").focus({ preventScroll: true });
}

// read reads what is open, or, if nothing is or it is gone, the first of what is listed. It returns {at, note}.
async function read() {
	const gone = (err) => {
		if (err.status !== 404) throw err;
	};
	if (place !== undefined) {
		const at = place;
		if (note?.removed && !pending.has(at)) return { at, note };
		const now = await readPlace(at).catch(gone);
		if (now) return { at, note: now };
		if (pastOf().length) return { at, note: { ...note, rows: merged(note.rows, []), removed: isNote() } };
	}
	const list = places().filter((p) => p.at !== place);
	const at = (list.find((p) => p.count > 0) || list[0])?.at;
	const first = at !== undefined && await readPlace(at, null).catch(gone);
	return first ? { at, note: first } : {};
}

async function readPlace(at, old = note) {
	const rowsOf = (blocks) => merged(old?.rows || [], blocks);
	if (at === history) return { rows: rowsOf((await batches()).map((b) => ({ key: b.batch + " " + b.left, past: b }))) };
	if (at === proposals) {
		const blocks = await proposalBlocks([...pending.all()]);
		if (!blocks.length && !pastOf().length) return undefined;
		return { rows: rowsOf(blocks) };
	}
	const d = await documentAt(at, plain);
	const changed = !old || JSON.stringify(d.properties) !== JSON.stringify(old.properties);
	const frontMatter = changed ? await frontMatterOf(at) : old.frontMatter;
	const created = d.newText && frontMatter.some((b) => !b.entries[0].frontMatter.before); // with its front matter
	return { rows: rowsOf(d.blocks), new: d.new || created, obsidian: d.obsidian, properties: d.properties, frontMatter };
}

// frontMatterOf lists the changes of a note's properties that nobody has taken back.
async function frontMatterOf(at) {
	return (await batches()).filter((b) => b.left && b.entries.length === 1 && b.entries[0].frontMatter && b.entries[0].path === at).slice(0, 3);
}

// ---- the focus

// cardOf returns the element that has the buttons for a suggestion, drawn if it was not.
function cardOf(id) {
	const entry = entryOf.get(id);
	return entry && sheet.fill(entry.row)?.querySelector(`.card[data-ids~="${CSS.escape(id)}"]`);
}

const idsOf = (e) => e?.dataset.ids.split(" ") || [];

const isField = (e) => ["INPUT", "TEXTAREA", "SELECT"].includes(e.tagName);

// attention returns what tells later whether the focus is in the note, or still where it is now. If it is not, the person
// has gone elsewhere meanwhile, and what comes late must not take it from there.
function attention() {
	const here = document.activeElement;
	return () => [here, document.body].includes(document.activeElement) || $("note").contains(document.activeElement);
}

// focusOn makes a suggestion of the open place the one that keys are for. A field elsewhere in which a person
// types keeps the focus.
function focusOn(id, how) {
	const e = cardOf(id);
	if (!e) return;
	selected = id;
	if (e.contains(document.activeElement) || !isField(document.activeElement)) (e.querySelector("textarea, input") ?? e).focus(how);
	markSelected();
	if (how) return;
	sheet.steady(() => {}); // rows that were filled on the way
	e.closest(".row").scrollIntoView({ block: "nearest" });
	e.scrollIntoView({ block: "nearest" });
}

let marked = []; // the changes in the text that are shown as selected

// markSelected shows in the text which changes the card with the focus is about.
function markSelected() {
	for (const m of marked) m.classList.remove("on");
	const e = cardOf(selected);
	const ids = new Set(idsOf(e));
	marked = e ? [...e.closest(".row").querySelectorAll("[data-id]")].filter((m) => ids.has(m.dataset.id)) : [];
	for (const m of marked) m.classList.add("on");
}

// current is what a key is for: the suggestions whose card has the focus and is in sight. If that is not so,
// the key is not for anything, and brings it about.
function current() {
	const covered = uncover();
	const e = cardOf(selected);
	if (!e) {
		if (entries.length) focusOn(entries[0].ids[0]);
		return undefined;
	}
	const at = e.getBoundingClientRect(), window = $("note").getBoundingClientRect();
	if (!covered && e.contains(document.activeElement) && at.bottom > window.top && at.top < window.bottom) return idsOf(e).map(byID);
	focusOn(selected);
	return undefined;
}

async function move(step) {
	uncover();
	const at = entries.indexOf(entryOf.get(selected));
	if (at >= 0 && !cardOf(selected).contains(document.activeElement)) return focusOn(selected);
	const next = at < 0 ? entries[0] : entries[at + step];
	if (next) return focusOn(next.ids[0]);
	await movePlace(step, step < 0 ? "last" : "first");
}

// movePlace opens the next place in which something is pending, or the one before.
async function movePlace(step, end = "first") {
	const list = places();
	const here = list.findIndex((p) => p.at === place);
	const ahead = step < 0 ? list.slice(0, Math.max(0, here)).reverse() : list.slice(here + 1);
	const to = ahead.find((p) => p.count > 0) || (here < 0 && list[0]);
	if (to) await openPlace(to.at, true, end);
}

// after finds what gets the focus when suggestions go away: what follows them in the note, or precedes them.
function after(gone) {
	const going = new Set(gone);
	const left = (e) => e.ids.some((id) => !going.has(id));
	const last = entries.findLastIndex((e) => e.ids.some((id) => going.has(id)));
	const next = entries.slice(last + 1).find(left) || entries.findLast(left);
	return next?.ids.find((id) => !going.has(id)) || "";
}

// ---- decisions

let sending = Promise.resolve(); // the last request: one follows another, in the order of the person's decisions

// act sends a request after those before it, and returns {out, status}: what came of it, or the status of a refusal.
// It says so, too, with what done makes of the outcome. lost is set if relayfs ended before it answered.
function act(path, request, done) {
	sending = sending.then(async () => {
		try {
			const out = await api(path, request);
			const trouble = Object.entries(out.failed || {}).map(([p, why]) => `${p}: nothing changed: ${why}`);
			for (const a of out.away || []) trouble.push(`${a.path}: ${JSON.stringify(a.text)} not restored: ${a.why}`);
			if ((out.missing || []).length) trouble.push("not pending any more: " + out.missing.join(", "));
			return { out, status: trouble.length > 0 && out.notes === 0 ? 1 : 0, text: [done(out), ...trouble].filter(Boolean).join("\n"), bad: trouble.length > 0 };
		} catch (err) {
			return { status: err.status || 1, text: err.message, bad: true, lost: !err.status || err.status >= 500 };
		}
	});
	return sending;
}

// remember keeps what was decided for undo, also over a reload of the tab.
function remember() {
	sessionStorage.setItem("decided", JSON.stringify(decided));
	$("undo").disabled = decided.length === 0;
}

// keep lets what is being decided stay in its place of the open note, and returns it: one for each row.
function keep(list, verdict, what, reason) {
	const ids = new Set(list.map((s) => s.id));
	const kept = [];
	for (const row of new Set(list.map((s) => entryOf.get(s.id)?.row).filter(Boolean))) {
		const mine = [...row.known.keys()].filter((id) => ids.has(id));
		const height = mine.map((id) => cardOf(id)?.offsetHeight ?? 0).reduce((a, b) => Math.max(a, b), 0);
		const p = { height, ids: mine, verdict, state: "sent", total: list.length, what, reason: reason.trim(), gists: Object.fromEntries(mine.map((id) => [id, gist(row.known.get(id))])) };
		row.past.push(p);
		kept.push(p);
	}
	return kept;
}

// forget takes what is to be forgotten from what was decided in the open note.
function forget(which) {
	for (const row of note?.rows || []) {
		for (const p of row.past) p.ids = p.ids.filter((id) => !which(p, id));
		row.past = row.past.filter((p) => p.ids.length);
	}
}

function authorOf(list) {
	const authors = new Set(list.map((s) => s.author));
	return authors.size === 1 && list[0].author ? ` of ${list[0].author}` : "";
}

// partsOf says what kinds of suggestions a decision is on, "" if they are changes of text that nobody has asked about.
function partsOf(list, verdict) {
	const text = list.filter((s) => s.line), asked = list.filter((s) => s.comments?.length).length;
	const of = (kind) => list.filter((s) => !s.line && s.kind === kind);
	const deleted = of("delete").length ? placesOf(of("delete")) : "";
	const goes = deleted.startsWith("1 ") ? `the ${deleted.slice(2)} goes` : `the ${deleted.replace(/^\d+ /, "")} go`;
	const parts = [
		text.length && `${plural(text.length, "change")} of text`, of("rename").length && plural(of("rename").length, "rename"),
		deleted && plural(of("delete").length, "deletion") + (verdict === "accepted" ? ` (${goes} to .trash)` : ""),
		of("file").length && `${plural(of("file").length, "file")} to write`, asked && `${asked} with an open comment`,
	].filter(Boolean);
	return text.length === list.length && !asked ? "" : ": " + parts.join(", ");
}

// isWholeNew tells whether suggestions are all that there is of a new note: rejected, it goes.
function isWholeNew(list) {
	const ids = new Set(list.map((s) => s.id));
	return isNote() && note?.new && note.rows.every((r) => [...(r.known || new Map()).keys()].every((id) => ids.has(id) || r.gone.has(id)));
}

async function decide(list, verdict, reason = "", text) {
	const open = () => list.filter((s) => s && !pending.isAway(s.id));
	if (open().length === 0) return;
	const notes = new Set(list.map((s) => s.path));
	const where = notes.size > 1 ? placesOf(list) : list[0].path;
	const what = plural(list.length, "suggestion");
	const verb = verdict === "accepted" ? "Accept" : "Reject";
	const many = list.length > confirmAbove || list.length > 1 && list.some((s) => !s.line);
	if (many && !await ask(`${verb} ${what}${authorOf(list)} in ${where}${partsOf(list, verdict)}?`, `${verb} ${list.length}`)) return;
	if (!many && verdict === "rejected" && isWholeNew(list) && !await ask(`Reject the new note ${place}? It goes from the vault; Undo brings it back.`, "Reject the note")) return;
	const force = list.length === 1 && verdict === "accepted" && Boolean(list[0].stale);
	if (force && !await ask("It changed since this was proposed. Accept all the same?", "Accept")) return;
	if (open().length < list.length) return;
	const ids = list.map((s) => s.id);
	const mine = form && ids.some((id) => form.ids.includes(id));
	const typed = mine && form.text === (text ?? reason) ? form : null;
	if (typed) form = null;
	else if (mine) leaveForm();
	const next = after(ids);
	const kept = keep(list, verdict, `${what} ${verdict} in ${where}`, reason);
	pending.take(ids);
	redraw();
	if (next) focusOn(next);
	const stays = attention();
	const shown = Object.fromEntries(list.map((s) => [s.id, s.revision]));
	const answer = await act("/decide", { shown, verdict, reason, force, text }, (out) => {
		if (out.notes === 0) return "";
		const done = verdict === "changed" ? "accepted as you wrote it" : `${plural(out.suggestions.length, "suggestion")} ${verdict}`;
		decided.push({ batch: out.batch, what: `${done} in ${where}`, n: out.suggestions.length });
		remember();
		return done;
	});
	settled(ids, kept, answer);
	if (answer.lost) unanswered.push({ ids, what: `${what} ${verdict} in ${where}` });
	if (answer.status && typed?.text) {
		await refresh();
		keepTyped(typed);
	} else if (answer.status) {
		await refresh();
		if (stays()) focusOn(ids[0]);
	}
	say(answer.text, answer.bad);
}

// settled shows what came of a decision: what was not decided comes back.
function settled(ids, kept, { out, status }) {
	const done = new Set([...(out?.suggestions || []).map((s) => s.id), ...(out?.missing || [])]);
	const back = status && !out ? ids : ids.filter((id) => !done.has(id));
	pending.restore(back);
	pending.settled(ids.filter((id) => done.has(id)), out?.now ?? 0);
	const missing = new Set(out?.missing || []), mine = new Set(ids.filter((id) => done.has(id) && !missing.has(id)));
	for (const p of kept) Object.assign(p, { state: "done", batch: out?.batch, now: out?.now, total: mine.size });
	forget((p, id) => kept.includes(p) && !mine.has(id));
	redraw();
}

const unanswered = []; // decisions of which nobody has said what came of them: {ids, what}

// reckon says what came of them, once relayfs answers again, and lets them be taken back.
async function reckon() {
	const asked = unanswered.splice(0);
	if (asked.length === 0) return;
	const most = asked.reduce((n, d) => n + d.ids.length, 100); // entries: each is of one note
	const past = await batches(most);
	for (const { ids, what } of asked) {
		const mine = new Set(ids);
		const of = (b) => b.entries.flatMap((x) => x.suggestions).filter((s) => mine.has(s.id) && !s.undone).length;
		const made = past.find((b) => b.left && of(b) > 0);
		const n = made ? of(made) : 0;
		if (made) {
			const all = n === ids.length ? what : `${n} of ${what}`;
			decided.push({ batch: made.batch, what: all, n });
			remember();
			say(n === ids.length ? `${all}, before relayfs ended` : `relayfs ended meanwhile: ${all}; the others wait`, n < ids.length);
		} else {
			say(`relayfs ended meanwhile: nothing came of ${what}`, true);
		}
	}
}

// ---- conversations

// converse sends what a person writes or resolves, and returns whether it was done; Undo takes it back.
async function converse(path, request, done) {
	const { out, status, text, bad } = await act(path, request, (out) => {
		if (out.notes === 0) return "";
		decided.push({ batch: out.batch, what: done });
		remember();
		return done;
	});
	if (out) await catchUp(out.now);
	say(text, bad);
	return status === 0;
}

const conversation = {
	reply: (t) => write(`Answer to “${t.remarks.at(-1).text}”`, (text) => converse("/comment", { thread: t.id, text }, `comment in ${t.path}`), keepText),
	resolve: (t) => converse("/resolve", { threads: [t.id] }, `thread resolved in ${t.path}`),
};

// askAgain has the author of suggestions make another version: they stay pending.
function askAgain([s]) {
	if (!s.line) return say("a proposal stands in no text: reject it with a reason", true);
	write(`Ask for another version. ${gist(s)}`, (text) => converse("/comment", { suggestion: s.id, text }, `comment in ${s.path}`), keepText);
}

// commentOn writes a comment behind what is selected of the note.
function commentOn(quote) {
	const path = place;
	if (!quote) return say("select the text that the comment is about", true);
	write(`Comment on “${quote}”`, (text) => converse("/comment", { path, quote, text }, `comment in ${path}`), keepText);
}

function commentButton() {
	const b = button("Comment", "c: on the selected text", () => commentOn(quoted()), "quiet");
	b.onmousedown = (ev) => ev.preventDefault(); // a click would take the selection away
	return b;
}

// keepTyped brings back the form in which a person has typed what could not be sent.
// If its suggestion is not there any more, the text stays to be copied.
function keepTyped(typed) {
	if (!form && cardOf(typed.ids[0])) {
		form = { ...typed, drawn: undefined };
		redraw();
		return focusOn(typed.ids[0]);
	}
	const box = keepText(typed.text, "This was decided elsewhere. ");
	if (!isField(document.activeElement)) box.querySelector("textarea").select();
}

function keepText(text, why = "") {
	const box = element("div", { className: "kept", role: "group", ariaLabel: "What you typed" }, element("p", {}, why + "What you typed is here, to copy:"),
		element("textarea", { value: text, readOnly: true, ariaLabel: "what you typed" }));
	box.append(button("Close", "", () => box.remove(), "quiet"));
	$("header").after(box);
	return box;
}

// ask asks a question, and returns whether the person agrees.
function ask(question, yes) {
	const box = $("question");
	$("asked").textContent = question;
	$("yes").textContent = yes;
	box.returnValue = "";
	box.showModal();
	return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue === "yes"), { once: true }));
}

// undo takes back the newest decision of this tab: not what others decided.
async function undo() {
	for (let last; last !== sending; await last) last = sending; // an undo that also waited may have sent its request
	const last = decided.at(-1);
	if (!last) return say("nothing to take back here; the history has what others decided", true);
	await takeBack(last);
}

const restOf = (what) => (/^what is left of /.test(what) ? what : `what is left of ${what}`);

// takeBack takes back a batch, by its name, or suggestions of it.
async function takeBack({ batch, ids, what, n = 1 }) {
	if (n > confirmAbove && !await ask(`Take back: ${what}?`, `Take back ${n}`)) return;
	const stays = attention();
	const { out, status, text, bad } = await act("/undo", { batch, ids }, (out) =>
		(out.notes > 0 ? `taken back: ${what}` : `not taken back: ${what}; 'relayfs suggestions undo ${ids ? ids.join(" ") : batch}' tries again`));
	const at = decided.findIndex((d) => d.batch === batch);
	if (at >= 0 && (out || status === 410)) { // or somebody else did
		const d = decided[at], n = ids ? (d.n ?? 1) - ids.length : 0;
		if (n <= 0) decided.splice(at, 1);
		else if (out?.notes > 0) decided[at] = { ...d, n, what: restOf(d.what) };
	}
	remember();
	if (out?.notes > 0) {
		const back = new Set(out.suggestions.map((s) => s.id));
		forgetBack(batch, (id) => !ids || back.has(id));
		pending.restore([...back]);
	}
	await catchUp(out?.now ?? 0);
	if (place !== history && out?.suggestions[0] && !isField(document.activeElement)) {
		const back = out.suggestions[0];
		if (placeOf(back) !== place) await openPlace(placeOf(back), stays());
		if (stays()) focusOn(back.id);
	}
	say(text, bad);
}

// ---- what changes

// refresh reads the open place and draws what has changed, and returns whether that could be done. One follows
// another, so none draws what is old; one that has not begun serves whoever asks for one meanwhile.
function refresh() {
	waiting ??= refreshed.then(() => {
		waiting = null;
		return readAll();
	});
	refreshed = waiting;
	return waiting;
}

let refreshed = Promise.resolve(); // the last refresh
let waiting = null; // it, if it has not begun

async function readAll() {
	const asked = place, seen = pending.seen, before = note;
	let now;
	try {
		now = await read();
	} catch (err) {
		say(err.message, true);
		return false;
	}
	if (place !== asked || form || before !== note) return true; // it is read again
	place = now.at;
	note = now.note ?? null;
	dropUndone(seen);
	redraw();
	return true;
}

// dropUndone drops what was decided and, in a state that was seen later, is pending again.
function dropUndone(seen) {
	const known = new Set((note?.rows || []).flatMap((r) => (r.block?.suggestions || []).map((s) => s.id)));
	const undone = (p, id) => p.state === "done" && p.now <= seen && known.has(id);
	for (const batch of new Set(pastOf().filter((p) => p.ids.some((id) => undone(p, id))).map((p) => p.batch))) forgetBack(batch, (id) => known.has(id));
}

// forgetBack forgets what has been taken back of a batch: the rest of it is as much less.
function forgetBack(batch, isBack) {
	const of = pastOf().filter((p) => p.batch === batch);
	const n = of.flatMap((p) => p.ids).filter(isBack).length;
	for (const p of of) Object.assign(p, { total: p.total - n, what: restOf(p.what) });
	forget((p, id) => p.batch === batch && isBack(id));
}

const maxPaths = 100; // of one request; with more all is asked for

const news = { now: 0, paths: new Set() }; // what has changed and was not asked for yet
let taking = null; // the request for it

// take asks for what has changed, and draws it. It returns whether that could be done. What changes meanwhile is asked
// for next.
function take({ now, paths }) {
	news.now = now;
	for (const path of paths) news.paths.add(path);
	taking ??= takeAll().finally(() => { taking = null; });
	return taking;
}

async function takeAll() {
	let drawn = true;
	while (drawn && news.paths.size) {
		const now = news.now, paths = news.paths.size > maxPaths ? [""] : [...news.paths];
		news.paths.clear();
		try {
			drawn = await takeIn(now, paths, await api("/pending?" + paths.map((path) => "path=" + encodeURIComponent(path)).join("&")));
		} catch (err) {
			say(err.message, true);
			drawn = false;
		}
	}
	if (!drawn) news.paths.clear(); // the next stream tells it again
	return drawn;
}

async function takeIn(now, paths, waits) {
	const first = pending.seen === 0;
	const touches = pending.apply(now, paths, waits);
	const tell = arrived;
	arrival = new Promise((resolve) => { arrived = resolve; });
	tell();
	if (place !== undefined) drawQueue(); // at first with the note
	if (form) return true; // it must not go away under the hands
	if (place !== undefined && isNote() && !touches(place)) return true;
	const drawn = await refresh();
	if (first && entries.length && document.activeElement === document.body) focusOn(entries[0].ids[0]);
	return drawn;
}

let arrived = () => {}; // called when a state is known
let arrival = new Promise((resolve) => { arrived = resolve; });

// catchUp waits until the page shows a state.
async function catchUp(state) {
	while (pending.seen < state) await arrival;
	await refresh();
}

// follow draws what changes, for as long as the page is open.
async function follow() {
	let lost = ""; // what was said when relayfs did not answer
	for (;;) {
		const end = new AbortController();
		const see = async (drawn) => {
			if (await drawn) return;
			lost = $("message").textContent;
			end.abort();
		};
		const opened = () => {
			if (!lost && unanswered.length === 0) return;
			if ($("message").textContent === lost) say("");
			lost = "";
			if (pending.seen) see(refresh());
			reckon().catch((err) => say(err.message, true));
		};
		await events(pending.seen, end, opened, (change) => see(take(change))).catch((err) => {
			lost = err.message;
			say(lost, true);
		});
		await new Promise((resolve) => setTimeout(resolve, retryAfter));
	}
}

// ---- keys

// on makes a key of what is done with the suggestions that it is for.
const on = (what) => () => {
	const list = current();
	if (list) what(list);
};

const inQueue = () => $("places").contains(document.activeElement);

const keys = {
	j: () => move(1), ArrowDown: () => (inQueue() ? moveInQueue(1) : move(1)), k: () => move(-1), ArrowUp: () => (inQueue() ? moveInQueue(-1) : move(-1)),
	"]": () => movePlace(1), "[": () => movePlace(-1),
	y: on((list) => decide(list, "accepted")), n: on((list) => decide(list, "rejected")), x: on((list) => decide(list, "rejected")),
	e: on((list) => (list.length > 1 ? separate(list) : editable(list[0]) && openForm(list, "changed"))), s: on(separate), u: () => undo(),
	a: on((list) => openForm(list, "accepted")), r: on((list) => openForm(list, "rejected")),
	A: on(() => decide(inPlace(), "accepted")), R: on(() => decide(inPlace(), "rejected")),
	t: () => isNote() && note && !note.removed && toggleSource(),
	c: () => (isNote() && !note?.removed && quoted() ? commentOn(quoted()) : on(askAgain)()),
	h: () => openPlace(history, true),
	q: () => {
		openQueue(true);
		(queue.reveal(place) ?? $("places").querySelector("button")?.parentNode)?.firstChild.focus({ preventScroll: true });
	},
	"/": () => {
		openQueue(true);
		$("filter").focus();
	},
	"?": () => $("help").showModal(), Escape: () => uncover() && focusOn(selected),
};

// typing says that the last key went into a field which kept the focus. If the next one does not, and no pointer was
// used, the field has gone without the person's doing: what is typed on decides nothing.
let typing = false;
addEventListener("pointerdown", () => { typing = false; }, true);

// lostField tells whether a key was meant for a field that has gone. Esc, Enter and Tab end that.
function lostField(ev) {
	if (isField(ev.target)) {
		typing = ev.target === document.activeElement && !["Tab", "Escape"].includes(ev.key) && !ev.defaultPrevented;
		return false;
	}
	if (!typing) return false;
	typing = !["Escape", "Enter", "Tab"].includes(ev.key);
	ev.preventDefault();
	say(typing ? "The field in which you typed has gone. Press Esc; then keys are for changes again." : "");
	return true;
}

document.addEventListener("keydown", (ev) => {
	if (lostField(ev) || ev.ctrlKey || ev.metaKey || ev.altKey || isField(ev.target) || document.querySelector("dialog[open]")) return;
	const key = keys[ev.key];
	if (!key) return;
	ev.preventDefault();
	key();
});
$("note").addEventListener("focusin", (ev) => {
	const e = ev.target.closest(".card");
	if (!e) return;
	if (!idsOf(e).includes(selected)) selected = idsOf(e)[0];
	markSelected();
});

let refiltered = Promise.resolve(); // when the note is drawn that the last filter leaves

// refilter shows what a new filter leaves: the open place, or the first that has some of it.
async function refilter() {
	const list = places().filter((p) => p.count > 0);
	if (list.length > 0 && !form?.text && !list.some((p) => p.at === place)) await openPlace(list[0].at);
	else redraw();
	if (!entryOf.has(selected)) selected = entries[0]?.ids[0] || "";
}
$("filter").addEventListener("input", () => { refiltered = refilter(); });
$("who").addEventListener("change", () => { refiltered = refilter(); });
$("filter").addEventListener("keydown", async (ev) => {
	if (ev.key !== "Enter" && ev.key !== "Escape") return;
	ev.target.blur();
	uncover();
	const stays = attention();
	await refiltered;
	if (stays()) focusOn(selected);
});

// openQueue opens the list. In a narrow window it covers the note, in which nothing can have the focus then.
function openQueue(open) {
	$("queue").classList.toggle("closed", !open);
	$("queue").classList.toggle("over", open && narrow.matches); // not by the style sheet: it would hide a field with the focus before this is called
	$("toggle").ariaExpanded = String(open);
}

// uncover closes the list if it covers the note, and returns whether it did.
function uncover() {
	const covered = $("queue").classList.contains("over");
	if (covered) openQueue(false);
	return covered;
}
$("toggle").addEventListener("click", () => openQueue($("queue").classList.contains("closed")));
narrow.addEventListener("change", () => openQueue(!narrow.matches || $("pane").contains(document.activeElement)));
openQueue(!narrow.matches);
$("undo").addEventListener("click", undo);
$("history").addEventListener("click", () => openPlace(history, true));
$("helped").addEventListener("click", () => $("help").showModal());

// The browser asks before the page goes with what a person has typed.
addEventListener("beforeunload", (ev) => {
	if (form?.text || [...document.querySelectorAll(".kept textarea, .write textarea")].some((e) => e.value)) ev.preventDefault();
});

follow();
