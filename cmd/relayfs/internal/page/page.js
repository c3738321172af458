// The review page: it draws the note that is open, as /api/document has it, beside a list of what is pending
// (/api/suggestions), sends decisions, and draws again when /api/changes says that something changed, whoever
// did it.
//
// It decides only on what it shows: each request says in which revision each suggestion was drawn or listed, and
// a key works on the change that has the focus and is in sight. Otherwise it brings that change there first.
//
// Nothing moves that a person looks at: what has not changed keeps its elements, and what stands at the top of
// the window, or has the focus, stays where it is.

import { button, draw, drawProperties, drawSource, element, plural } from "./draw.js";

const token = location.hash.slice(1);
const confirmAbove = 10; // suggestions that are decided at once without asking
const retryAfter = 2000; // ms, when relayfs does not answer
const maxReason = 1000; // characters; relayfs has a limit of bytes beside it
const changesPatience = 60_000; // ms, far longer than relayfs holds an answer back
const narrow = matchMedia("(max-width: 45rem)"); // as in page.css: the queue is above the note, and closed
const proposals = ""; // the place of what is not in the text of a note
const history = "\n"; // the place of what was decided; no path is like that
const historyLength = 300; // entries of the journal

let pending = []; // what is listed
let place; // what is open: the path of a note, or proposals
let note = null; // the note that is open, as it was answered
let plain = false; // it is shown as source
let rows = new Map(); // what is drawn, by what it was drawn from
let selected = ""; // id of the suggestion that has the focus, or gets it
let form = null; // the open form, {ids, verdict}; verdict "changed" is for editing the text, others are for giving a reason
const apart = new Set(); // suggestions that are decided one by one though they stand beside each other
// What was decided in this tab and not taken back, the newest last: {batch, what}.
const decided = JSON.parse(sessionStorage.getItem("decided") || "[]");

const $ = (id) => document.getElementById(id);

async function api(path, body) {
	const request = { headers: { Authorization: "Bearer " + token } };
	if (body !== undefined) {
		request.method = "POST";
		request.headers["Content-Type"] = "application/json";
		request.body = JSON.stringify(body);
	}
	if (path.startsWith("/changes")) request.signal = AbortSignal.timeout(changesPatience);
	const answer = await fetch("/api" + path, request).catch((err) => {
		throw new Error(`relayfs review does not answer (${err.message}); start it again, and this page goes on by itself`);
	});
	const text = await answer.text();
	if (!answer.ok) throw Object.assign(new Error(text.trim() || answer.statusText), { status: answer.status });
	return JSON.parse(text);
}

function say(text, bad) {
	const m = $("message");
	m.textContent = text;
	m.className = bad ? "bad" : "";
}

// ---- the queue

const placeOf = (s) => (s.line ? s.path : proposals);

function matches(s) {
	const [author, session] = JSON.parse($("who").value || "[]");
	if (author !== undefined && s.author !== author || session !== undefined && s.session !== session) return false;
	const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
	return words.every((w) => `${s.path} ${s.author} ${s.kind} ${s.session}`.toLowerCase().includes(w));
}

const filtered = () => $("filter").value.trim() !== "" || $("who").value !== "";

const folderOf = (at) => at.slice(0, Math.max(0, at.lastIndexOf("/")));

// places lists where something is pending that the filter shows: proposals first, then the notes of each folder.
function places(all = pending) {
	const counts = new Map();
	for (const s of all) if (matches(s)) counts.set(placeOf(s), (counts.get(placeOf(s)) || 0) + 1);
	return [...counts].map(([at, count]) => ({ at, count, folder: folderOf(at) })).sort((a, b) => (a.folder === b.folder ? a.at < b.at : a.folder < b.folder) ? -1 : 1);
}

function drawQueue() {
	const list = places();
	const nodes = [];
	let above;
	for (const { at, count, folder } of list) {
		if (at !== proposals && folder !== above) {
			above = folder;
			nodes.push(element("h2", { dir: "auto" }, folder));
		}
		const entry = button("", at, () => openPlace(at, true), "place");
		entry.append(element("span", { dir: "auto" }, at === proposals ? "Renames, deletions, files" : at.slice(folder.length + 1).replace(/\.md$/, "")), element("span", { className: "n" }, String(count)));
		if (at === place) entry.setAttribute("aria-current", "true");
		nodes.push(entry);
	}
	if (!list.length) nodes.push(element("p", {}, pending.length ? "Nothing pending matches the filter." : "Nothing is pending."));
	$("places").replaceChildren(...nodes);
	const shown = pending.filter(matches);
	$("count").textContent = plural(shown.length, "pending suggestion");
	$("undo").disabled = decided.length === 0;
	$("bulk").replaceChildren(...(filtered() && shown.length > 0 ? decisions(shown, ` in ${plural(list.length, "place")}`, () => shown) : []));
	drawWho();
}

// drawWho offers the authors and their sessions, with what is pending of each.
function drawWho() {
	const counts = new Map();
	const add = (value, label) => counts.set(value, { label, n: (counts.get(value)?.n || 0) + 1 });
	for (const s of pending) {
		add(JSON.stringify([s.author]), s.author || "no author");
		if (s.session) add(JSON.stringify([s.author, s.session]), `${s.author || "no author"} · ${s.session}`);
	}
	const now = $("who").value;
	if (now && !counts.has(now)) counts.set(now, { label: JSON.parse(now).join(" · "), n: 0 });
	const options = [...counts].sort((a, b) => (a[1].label < b[1].label ? -1 : 1)).map(([value, { label, n }]) => ({ value, text: `${label} (${n})` }));
	options.unshift({ value: "", text: "everybody" });
	const drawn = JSON.stringify(options);
	if ($("who").dataset.drawn === drawn) return;
	$("who").dataset.drawn = drawn;
	$("who").replaceChildren(...options.map((o) => element("option", o)));
	$("who").value = now;
}

// ---- the note

// groups returns what is decided at once of those ids, as far as the filter shows it.
function groupsOf(block) {
	const out = [];
	for (const group of block.groups || []) {
		const ids = group.filter((id) => matches(byID(id)));
		if (ids.some((id) => apart.has(id))) out.push(...ids.map((id) => [id]));
		else if (ids.length) out.push(ids);
	}
	return out;
}

function byID(id) {
	if (note) note.index ??= new Map(note.suggestions.map((s) => [s.id, s]));
	return note?.index.get(id);
}

// blocks are what is drawn of the open place, each of {key, make}: what is drawn of equal keys is equal.
function blocks() {
	const out = [];
	const add = (data, make) => out.push({ key: JSON.stringify(data), make });
	add(["head", place, inPlace().map((s) => s.id), filtered(), plain, note.new], head);
	if (note.properties) add(note.properties, () => element("div", { className: "row" }, element("div", { className: "text" }, drawProperties(note.properties))));
	for (const batch of note.batches || []) add(batch, () => pastRow(batch));
	note.blocks.forEach((b) => {
		const groups = groupsOf(b);
		const open = form && groups.find((g) => g.includes(form.ids[0]));
		add([b, groups.map((g) => g.map(withoutLine)), (b.comments || []).map((i) => note.comments[i]), open && form], () => row(b, groups));
	});
	return out;
}

// withoutLine is a suggestion as it is drawn: in a note its line is to be seen.
const withoutLine = (id) => ({ ...byID(id), line: 0 });

// inPlace lists what is shown of the open place, as it was drawn.
function inPlace() {
	return note ? note.suggestions.filter(matches) : [];
}

const isNote = () => place !== undefined && place !== proposals && place !== history;

function head() {
	const list = inPlace();
	const name = { [proposals]: "Renames, deletions and files", [history]: "History: what was decided, and changes of properties" }[place] ?? place;
	const title = element("h2", { dir: "auto" }, name);
	if (note.new) title.append(element("span", { className: "badge" }, "new note"));
	const e = element("div", { className: "row head" }, title);
	const actions = element("div", { className: "actions" });
	if (list.length > 0) actions.append(...decisions(list, filtered() ? " shown" : place === proposals ? " of these" : " in this note", inPlace, "AR"));
	if (isNote()) actions.append(button(plain ? "Document" : "Source", "t", toggleSource, "quiet"));
	e.append(actions);
	return e;
}

// decisions are two buttons for several suggestions. The number on them is what they do.
function decisions(list, where, of, keys = "") {
	return [button(`Accept ${list.length}${where}`, keys[0] || "", (ev) => once(ev) && decide(of(), "accepted"), "accept"),
		button(`Reject ${list.length}${where}`, keys[1] || "", (ev) => once(ev) && decide(of(), "rejected"), "reject")];
}

// once is false for the second click of two: it was meant for what stood there before.
const once = (ev) => ev.detail < 2;

function row(b, groups) {
	const e = element("div", { className: "row" });
	const text = element("div", { className: "text", dir: "auto" }, ...draw(b.nodes));
	if (b.source) text.append(drawSource(b.source));
	const mine = new Set(groups.flat());
	for (const m of text.querySelectorAll("[data-id]")) {
		if (mine.has(m.dataset.id)) m.onclick = () => focusOn(m.dataset.id);
		else m.classList.add("other");
	}
	e.append(text);
	if (groups.length === 0 && !b.comments) return e;
	const side = element("div", { className: "side" }, ...groups.map((g) => card(g.map(byID))));
	if (groups.length > 1) {
		const here = groups.flat().map(byID);
		side.append(element("div", { className: "actions here" }, ...decisions(here, " here", () => here)));
	}
	for (const i of b.comments || []) {
		const c = note.comments[i];
		side.append(element("div", { className: "remark" }, element("div", { className: "about" }, signature(c)), element("div", { className: "comment", dir: "auto" }, c.text)));
	}
	e.append(side);
	return e;
}

function signature(s) {
	return [s.author, s.time && new Date(s.time).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })].filter(Boolean).join(" · ");
}

// card has the buttons for suggestions that are decided at once.
function card(list) {
	const [s] = list;
	const what = list.length > 1 ? plural(list.length, "change") : s.line ? s.kind : "proposal";
	const e = element("article", { id: "s-" + s.id, className: "card", tabIndex: -1, ariaLabel: [what, signature(s), ...list.map(gist)].filter(Boolean).join("; ") });
	e.dataset.ids = list.map((x) => x.id).join(" ");
	if (signature(s)) e.append(element("div", { className: "about", dir: "auto" }, signature(s)));
	for (const c of list.flatMap((x) => x.comments || [])) e.append(element("div", { className: "comment", dir: "auto" }, c));
	const open = form && form.ids[0] === s.id;
	e.append(!open ? actions(list) : form.verdict === "changed" ? editor(s) : reasons(list, form.verdict));
	return e;
}

// gist tells a suggestion to who cannot see it.
function gist(s) {
	if (!s.line) return (s.pieces || []).map((p) => p.text).join("");
	const short = (t) => (t.length > 80 ? t.slice(0, 60) + " … " + t.slice(-15) : t);
	return [s.old && `old: ${short(s.old)}`, s.new && `new: ${short(s.new)}`].filter(Boolean).join("; ");
}

function actions(list) {
	const n = list.length > 1 ? ` ${list.length}` : "";
	const e = element("div", { className: "actions" },
		button("Accept" + n, "y", (ev) => once(ev) && decide(list, "accepted"), "accept"),
		button("Reject" + n, "n", (ev) => once(ev) && decide(list, "rejected"), "reject"));
	if (n) e.append(button("One by one", "s", () => separate(list), "quiet"));
	else if (editable(list[0])) e.append(button("Edit", "e", () => openForm(list, "changed"), "quiet"));
	e.append(button("Reason", "r: give a reason", () => openForm(list, "rejected"), "quiet"));
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
		button("Accept", "", () => decide(list, "accepted", why.value), "accept"),
		button("Reject", "", () => decide(list, "rejected", why.value), "reject"),
		button("Cancel", "Esc", closeForm, "quiet"));
}

function openForm(list, verdict) {
	form = { ids: list.map((s) => s.id), verdict };
	redraw();
	focusOn(list[0].id);
}

function closeForm() {
	const id = form?.ids[0];
	form = null;
	refresh().then(() => id && focusOn(id)); // what changed meanwhile was not drawn
}

function separate(list) {
	for (const s of list) apart.add(s.id);
	redraw();
	focusOn(list[0].id);
}

async function toggleSource() {
	plain = !plain;
	await refresh();
	focusOn(selected);
}

// proposed is the place of proposals, in the form of a note.
async function proposed(all) {
	const list = all.filter((s) => !s.line);
	return {
		suggestions: list, comments: [],
		blocks: await Promise.all(list.map(async (s) => ({ nodes: [...proposal(s, all), ...await lost(s), { t: "hr" }], groups: [[s.id]] }))),
	};
}

// lost is what a deletion takes away: the note, struck.
async function lost(s) {
	if (s.kind !== "delete" || s.dir || !s.path.endsWith(".md")) return [];
	try {
		const note = await documentAt(s.path);
		const properties = (note.properties || []).map((p) => ({ t: "p", c: [{ x: `${p.key}: ${p.value}` }] }));
		return [...properties, ...note.blocks.flatMap((b) => b.nodes)].map((n) => ({ ...n, k: "old", s: s.id }));
	} catch (err) {
		return [{ t: "p", c: [{ x: `What it holds could not be read: ${err.message}` }] }];
	}
}

// proposal is what one would do, the contents of a file, and the links that are rewritten with it.
function proposal(s, all) {
	const [what, ...contents] = s.pieces || [];
	const nodes = [{ t: "p", c: [{ t: "strong", c: [{ x: s.path }] }, { x: ": " + what.text.trim() }] }];
	if (contents.length) nodes.push({ t: "pre", c: contents.map((p) => ({ x: p.text, k: p.kind === "kept" ? undefined : p.kind, s: s.id })) });
	const links = all.filter((x) => x.proposal === s.id);
	if (links.length) {
		nodes.push({ t: "p", c: [{ x: "Links that change with it:" }] }, { t: "ul", c: links.map((x) => ({ t: "li", c: [
			{ x: `${x.path}, line ${x.line}: ` }, { x: x.old, k: "old", s: s.id }, { x: " " }, { x: x.new, k: "new", s: s.id }] })) });
	}
	return nodes;
}

// past is the place of what was decided, in the form of a note. Entries of one batch are undone as one.
async function past() {
	const batches = [], taken = new Set();
	for (const entry of await api("/journal?limit=" + historyLength)) {
		if (entry.undoes) taken.add(entry.undoes);
		const last = batches.at(-1);
		if (last?.batch === entry.batch) last.entries.push(entry);
		else batches.push({ batch: entry.batch, entries: [entry] });
	}
	for (const b of batches) b.taken = taken.has(b.batch);
	return { suggestions: [], comments: [], blocks: [], batches };
}

function pastRow({ batch, entries, taken }) {
	const [first] = entries;
	const who = first.lapsed ? "by no person" : first.by && "by " + first.by;
	const what = { frontmatter: "properties changed", undone: "taken back", changed: "accepted as edited" }[first.action] ?? first.action;
	const text = element("div", { className: "text past" }, element("p", { className: "about" },
		[what, who, new Date(first.time).toLocaleString(), first.reason && `because ${first.reason}`].filter(Boolean).join(" · ")));
	for (const e of entries) text.append(element("p", { dir: "auto" }, element("strong", {}, e.path || "a note that is gone"), " ", ...pastPieces(e)));
	const side = element("div", { className: "side" });
	if (taken) side.append(element("p", { className: "about" }, "taken back"));
	else if (first.action !== "undone") side.append(button("Take back", batch, () => takeBack({ batch, what: `${what} in ${entries.length > 1 ? plural(entries.length, "note") : first.path}` })));
	return element("div", { className: "row" }, text, side);
}

// pastPieces are what an entry of the journal did: of front matter, the lines that differ.
function pastPieces(e) {
	const sides = e.frontMatter ? linesThatDiffer(e.frontMatter.before, e.frontMatter.after) : e.suggestions.map((s) => [s.old, s.kind === "delete" ? "" : s.new]);
	return sides.flatMap(([old, now]) => [old && element("del", {}, old), now && element("ins", {}, now), " "].filter(Boolean));
}

function linesThatDiffer(before, after) {
	const lines = (text) => text.split(/\r?\n/).filter((l) => l && l !== "---");
	const only = (a, b) => lines(a).filter((l) => !lines(b).includes(l)).join("\n");
	return [[only(before, after), only(after, before)]];
}

// redraw draws what has changed of the open place. What a person looks at stays where it is.
function redraw() {
	drawQueue();
	const main = $("note");
	if (!note) {
		rows = new Map();
		main.replaceChildren(element("p", { className: "empty" }, pending.length ? "Nothing pending matches the filter." : "Nothing is pending."));
		return;
	}
	const seen = inSight(main).map((e) => [e, e.getBoundingClientRect().top]);
	const kept = new Map();
	const nodes = blocks().map(({ key, make }) => {
		const e = rows.get(key)?.shift() || make();
		kept.set(key, [...(kept.get(key) || []), e]);
		return e;
	});
	const wanted = new Set(nodes);
	for (const e of [...main.childNodes]) if (!wanted.has(e)) e.remove();
	nodes.forEach((e, i) => main.childNodes[i] !== e && main.insertBefore(e, main.childNodes[i] || null));
	rows = kept;
	const stays = seen.find(([e]) => e.isConnected);
	if (stays) main.scrollTop += stays[0].getBoundingClientRect().top - stays[1];
	markSelected();
}

// inSight lists the rows that are in sight, the one with the focus first: those that should stay where they are.
function inSight(main) {
	const { top, bottom } = main.getBoundingClientRect();
	const list = [...main.children].filter((e) => e.getBoundingClientRect().bottom > top + 8 && e.getBoundingClientRect().top < bottom);
	const focused = list.filter((e) => e.contains(document.activeElement));
	return [...focused, ...list];
}

// openPlace opens a note or the proposals, at its first or last change.
async function openPlace(at, focus, end) {
	form = null;
	place = at;
	note = null;
	rows = new Map();
	$("note").replaceChildren();
	if (narrow.matches) $("queue").open = false;
	await refresh();
	if (place !== at) return; // another was opened meanwhile
	$("note").scrollTop = 0;
	if (focus) focusOn(idsOf(end === "last" ? cards().at(-1) : cards()[0])[0]);
}

// readNote reads what is open, or, if nothing is or it is gone, the first of what is listed. It returns
// {at, note}, undefined if there is nothing to open.
async function readNote(list) {
	const gone = (err) => {
		if (err.status !== 404) throw err;
	};
	const open = async (at) => at !== undefined && { at, note: at === proposals ? await proposed(list) : at === history ? await past() : await documentAt(at, plain) };
	if (place !== undefined && (place !== proposals || list.some((s) => !s.line))) {
		const read = await open(place).catch(gone);
		if (read) return read;
	}
	return await open(places(list)[0]?.at).catch(gone) || undefined;
}

const documentAt = (path, source) => api(`/document?path=${encodeURIComponent(path)}${source ? "&plain=1" : ""}`);

// ---- the focus

const cards = () => [...$("note").querySelectorAll(".card")];
const cardOf = (id) => cards().find((e) => e.dataset.ids.split(" ").includes(id));
const idsOf = (e) => e?.dataset.ids.split(" ") || [];

// focusOn makes a suggestion of the open place the one that keys are for.
function focusOn(id, how) {
	const e = cardOf(id);
	if (!e) return;
	selected = id;
	const field = e.querySelector("textarea, input");
	if (field) field.focus(how);
	else if (document.activeElement !== $("filter")) e.focus(how);
	markSelected();
	if (!how) e.closest(".row").scrollIntoView({ block: "nearest" });
	if (!how) e.scrollIntoView({ block: "nearest" });
}

// markSelected shows in the text which changes the card with the focus is about.
function markSelected() {
	const ids = new Set(idsOf(cardOf(selected)));
	for (const m of $("note").querySelectorAll("[data-id]")) m.classList.toggle("on", ids.has(m.dataset.id));
}

// current is what a key is for: the suggestions whose card has the focus and is in sight. If that is not so,
// the key is not for anything, and brings it about.
function current() {
	const e = cardOf(selected);
	if (!e) {
		if (cards().length) focusOn(idsOf(cards()[0])[0]);
		return undefined;
	}
	const at = e.getBoundingClientRect(), window = $("note").getBoundingClientRect();
	if (e.contains(document.activeElement) && at.bottom > window.top && at.top < window.bottom) return idsOf(e).map(byID);
	focusOn(selected);
	return undefined;
}

async function move(step) {
	const all = cards();
	const at = all.indexOf(cardOf(selected));
	if (at >= 0 && !all[at].contains(document.activeElement)) return focusOn(selected);
	const next = at < 0 ? all[0] : all[at + step];
	if (next) return focusOn(idsOf(next)[0]);
	const list = places();
	const here = list.findIndex((p) => p.at === place);
	const to = here < 0 ? list.find((p) => p.at > place) || list[0] : list[here + step];
	if (to) await openPlace(to.at, true, step < 0 ? "last" : "first");
}

// after finds what gets the focus when suggestions go away: what follows them in the note, or precedes them.
function after(gone) {
	const all = cards();
	const left = (e) => idsOf(e).some((id) => !gone.includes(id));
	const last = all.findLastIndex((e) => idsOf(e).some((id) => gone.includes(id)));
	const next = all.slice(last + 1).find(left) || all.findLast(left);
	return idsOf(next).find((id) => !gone.includes(id)) || "";
}

// ---- decisions

// act sends a request, and says what came of it when that is drawn: what is said
// to be done can be built upon. Before that settle is called with the status of a refusal, 0 if something was done,
// and with whether the page could be drawn.
async function act(request, path, done, settle) {
	let report, status = 0;
	try {
		const out = await api(path, request);
		const trouble = Object.entries(out.failed || {}).map(([p, why]) => `${p}: nothing changed: ${why}`);
		for (const a of out.away || []) trouble.push(`${a.path}: ${JSON.stringify(a.text)} stays away: ${a.why}`);
		if ((out.missing || []).length) trouble.push("not pending any more: " + out.missing.join(", "));
		if (trouble.length > 0 && out.notes === 0) status = 1;
		report = [[done(out), ...trouble].filter(Boolean).join("\n"), trouble.length > 0];
	} catch (err) {
		report = [err.message, true];
		status = err.status || 1;
	}
	await settle(status, await refresh());
	say(report[0], report[1]);
}

// remember keeps what was decided for undo, also over a reload of the tab.
function remember() {
	sessionStorage.setItem("decided", JSON.stringify(decided));
	$("undo").disabled = decided.length === 0;
}

async function decide(list, verdict, reason = "", text) {
	if (list.length === 0) return;
	const notes = new Set(list.map((s) => s.path));
	const where = notes.size > 1 ? plural(notes.size, "note") : list[0].path;
	const what = plural(list.length, "suggestion");
	if (list.length > confirmAbove && !confirm(`${verdict === "accepted" ? "Accept" : "Reject"} ${what} in ${where}?`)) return;
	const force = list.length === 1 && verdict === "accepted" && Boolean(list[0].stale);
	if (force && !confirm("It changed since this was proposed. Accept all the same?")) return;
	const typed = form;
	form = null;
	const gone = list.map((s) => s.id);
	const next = after(gone);
	if (next) focusOn(next, { preventScroll: true }); // it is drawn: the next key may be for it
	const shown = Object.fromEntries(list.map((s) => [s.id, s.revision]));
	await act({ shown, verdict, reason, force, text }, "/decide", (out) => {
		if (out.notes === 0) return "";
		const done = verdict === "changed" ? "accepted as you wrote it" : `${plural(out.suggestions.length, "suggestion")} ${verdict}`;
		decided.push({ batch: out.batch, what: `${done} in ${where}` });
		remember();
		return done;
	}, (refused, drawn) => {
		if (refused && typed?.text) keepTyped(typed);
		else if (drawn) focusOn(refused ? gone[0] : selected);
	});
}

// keepTyped brings back the form in which a person has typed what could not be sent.
// If its suggestion is not there any more, the text stays to be copied.
function keepTyped(typed) {
	if (cardOf(typed.ids[0])) {
		form = typed;
		redraw();
		return focusOn(typed.ids[0]);
	}
	const box = element("div", { className: "row kept" }, element("p", {}, "This was decided elsewhere. What you typed is here, to copy:"),
		element("textarea", { value: typed.text, readOnly: true, ariaLabel: "what you typed" }));
	box.append(button("Close", "", () => box.remove(), "quiet"));
	$("header").after(box);
	box.querySelector("textarea").select();
}

// undo takes back the newest decision of this tab: not what others decided.
async function undo() {
	const last = decided.at(-1);
	if (!last) return say("nothing to take back here; the history has what others decided", true);
	await takeBack(last);
}

// takeBack takes back a batch, by its name.
async function takeBack({ batch, what }) {
	const forget = () => {
		const at = decided.findIndex((d) => d.batch === batch);
		if (at >= 0) decided.splice(at, 1);
	};
	let back;
	await act({ batch }, "/undo", (out) => {
		forget();
		back = out.suggestions[0];
		return out.notes > 0 ? `taken back: ${what}` : `not taken back: ${what}; 'relayfs suggestions undo ${batch}' tries again`;
	}, async (refused) => {
		if (refused === 410) forget(); // somebody else did
		remember();
		if (place === history) return;
		if (back && placeOf(back) !== place) await openPlace(placeOf(back));
		if (back) focusOn(back.id);
	});
}

// refresh reads what is pending and the open note, draws what has changed, and returns whether that could be
// done. What had the focus has it again only if it is what it was: so no key meets what has just come into its
// place. Who reads elsewhere stays there.
function refresh() {
	waiting ??= refreshed.then(() => {
		waiting = null;
		return readAll();
	});
	refreshed = waiting;
	return waiting;
}

let refreshed = Promise.resolve(); // the last refresh: one follows another, so none draws what is old
let waiting = null; // it, if it has not begun: it serves whoever asks for one meanwhile

async function readAll() {
	let list, read;
	const asked = place;
	try {
		list = await api("/suggestions");
		read = await readNote(list);
	} catch (err) {
		say(err.message, true);
		return false;
	}
	if (place !== asked) return true; // another was opened, and is read next
	const old = cardOf(selected);
	const focused = Boolean(old?.contains(document.activeElement));
	const was = revisionsOf(old);
	const following = after(idsOf(old));
	pending = list;
	place = read?.at;
	note = read?.note ?? null;
	if (form && !pending.some((s) => s.id === form.ids[0])) form = null;
	redraw();
	const now = cardOf(selected);
	if (!now) selected = cardOf(following) ? following : idsOf(cards()[0])[0] || "";
	else if (focused && revisionsOf(now) === was) focusOn(selected, { preventScroll: true });
	else if (focused) document.activeElement.blur();
	return true;
}

const revisionsOf = (e) => JSON.stringify(idsOf(e).map((id) => [id, byID(id)?.revision]));

// follow draws again after each change, for as long as the page is open. While
// a form is open it waits: it must not go away under the hands.
async function follow() {
	let seen = 0, lost = "";
	for (;;) {
		try {
			const now = await api("/changes?seen=" + seen);
			if (lost && $("message").textContent === lost) say("");
			lost = "";
			if (now !== seen && !form && !await refresh()) throw new Error($("message").textContent);
			if (seen === 0) focusOn(idsOf(cards()[0])[0]);
			seen = now;
		} catch (err) {
			lost = err.message;
			say(lost, true);
			await new Promise((resolve) => setTimeout(resolve, retryAfter));
		}
	}
}

// ---- keys

// on makes a key of what is done with the suggestions that it is for.
const on = (what) => () => {
	const list = current();
	if (list) what(list);
};

const keys = {
	j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
	y: on((list) => decide(list, "accepted")), n: on((list) => decide(list, "rejected")), x: on((list) => decide(list, "rejected")),
	e: on((list) => (list.length > 1 ? separate(list) : editable(list[0]) && openForm(list, "changed"))), s: on(separate), u: () => undo(),
	a: on((list) => openForm(list, "accepted")), r: on((list) => openForm(list, "rejected")),
	A: on(() => decide(inPlace(), "accepted")), R: on(() => decide(inPlace(), "rejected")),
	t: () => isNote() && note && toggleSource(),
	"/": () => {
		$("queue").open = true;
		$("filter").focus();
	},
};

document.addEventListener("keydown", (ev) => {
	if (ev.ctrlKey || ev.metaKey || ev.altKey || ["INPUT", "TEXTAREA", "SELECT"].includes(ev.target.tagName)) return;
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
	const list = places();
	if (list.length > 0 && !list.some((p) => p.at === place)) await openPlace(list[0].at);
	else redraw();
	if (!cardOf(selected)) selected = idsOf(cards()[0])[0] || "";
}
$("filter").addEventListener("input", () => { refiltered = refilter(); });
$("who").addEventListener("change", () => { refiltered = refilter(); });
$("filter").addEventListener("keydown", async (ev) => {
	if (ev.key !== "Enter" && ev.key !== "Escape") return;
	ev.target.blur();
	await refiltered;
	focusOn(selected);
});
$("undo").addEventListener("click", undo);
$("history").addEventListener("click", () => openPlace(history));
narrow.addEventListener("change", () => { $("queue").open = !narrow.matches; });
$("queue").open = !narrow.matches;

follow();
