"use strict";

// The review page: it draws what /api/suggestions lists, sends decisions, and
// draws again when /api/changes says that something changed, whoever did it.
// Note text is untrusted: it enters the document as text nodes only.
//
// It decides only on what it shows: each request says in which revision each
// suggestion was drawn, and a key works on the card that has the focus and is in
// sight. Otherwise it brings that card there first.

const token = location.hash.slice(1);
const confirmAbove = 10; // suggestions that are decided at once without asking
const retryAfter = 2000; // ms, when relayfs does not answer
const maxReason = 1000; // characters; relayfs has a limit of bytes beside it
const pageSize = 500; // suggestions that are drawn at a time
const changesPatience = 60_000; // ms, far longer than relayfs holds an answer back

let pending = [];
let drawn = []; // the suggestions on the page, as they were drawn
let selected = ""; // id of the suggestion that has the focus, or gets it
let form = null; // the open form, {id, verdict}; verdict "changed" is for editing the text, others are for giving a reason
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

// element makes an element with properties and children; strings become text.
function element(name, properties, ...children) {
	const e = Object.assign(document.createElement(name), properties);
	e.append(...children);
	return e;
}

function button(label, title, act) {
	return element("button", { type: "button", title, onclick: act }, label);
}

function say(text, bad) {
	const m = $("message");
	m.textContent = text;
	m.className = bad ? "bad" : "";
	m.hidden = !text;
}

function plural(n, what) {
	return n === 1 ? "1 " + what : n + " " + what + "s";
}

function visible() {
	const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
	return pending.filter((s) => words.every((w) => `${s.path} ${s.author} ${s.kind}`.toLowerCase().includes(w)));
}

// draw shows the part of the list that the selected suggestion is in.
function draw() {
	const list = visible();
	const at = Math.max(list.findIndex((s) => s.id === selected), 0);
	selected = list.length > 0 ? list[at].id : "";
	const first = at - at % pageSize;
	drawn = list.slice(first, first + pageSize);
	const nodes = [];
	if (first > 0) nodes.push(turn(`Show the ${pageSize} before these`, list[first - pageSize]));
	let path;
	for (const s of drawn) {
		if (s.path !== path) {
			path = s.path;
			nodes.push(heading(path));
		}
		nodes.push(card(s));
	}
	const after = list.length - first - drawn.length;
	if (after > 0) nodes.push(turn(`Show the next ${Math.min(after, pageSize)} of ${after} more`, list[first + pageSize]));
	if (list.length === 0) nodes.push(element("p", {}, pending.length ? "Nothing pending matches the filter." : "Nothing is pending."));
	$("list").replaceChildren(...nodes);
	const where = list.length > drawn.length ? `, ${first + 1} to ${first + drawn.length} shown` : "";
	$("count").textContent = plural(list.length, "pending suggestion") + where;
	$("undo").disabled = decided.length === 0;
}

// turn is a button that shows the part of the list in which s is.
function turn(label, s) {
	return element("p", {}, button(label, "", () => select(s)));
}

// heading has the buttons for what is drawn of a note, which may be less than the
// note has.
function heading(path) {
	const here = drawn.filter((s) => s.path === path);
	const what = here.length === pending.filter((s) => s.path === path).length ? "note" : `the ${here.length} shown`;
	return element("h2", {}, path,
		button("Accept " + what, "A", () => decideNote(path, "accepted")),
		button("Reject " + what, "R", () => decideNote(path, "rejected")));
}

function card(s) {
	const e = element("article", { id: "s-" + s.id, tabIndex: -1 });
	e.append(element("div", { className: "about" }, about(s)), text(s));
	for (const c of s.comments || []) e.append(element("div", { className: "comment", dir: "auto" }, c));
	e.append(form?.id !== s.id ? actions(s) : form.verdict === "changed" ? editor(s) : reasons(s, form.verdict));
	return e;
}

function about(s) {
	const parts = s.line ? ["line " + s.line, s.kind] : ["proposal"];
	if (s.author) parts.push(s.author);
	if (s.time) parts.push(new Date(s.time).toLocaleString());
	return parts.join(" · ");
}

function text(s) {
	const tags = { old: "del", new: "ins" };
	const e = element("div", { className: "text", dir: "auto" });
	for (const p of s.pieces || []) e.append(tags[p.kind] ? element(tags[p.kind], {}, p.text) : p.text);
	return e;
}

function actions(s) {
	const e = element("div", { className: "actions" },
		button("Accept", "y", () => decide([s], "accepted")),
		button("Reject", "n", () => decide([s], "rejected")));
	if (editable(s)) e.append(button("Edit", "e", () => openForm(s, "changed")));
	e.append(button("Give a reason", "r", () => openForm(s, "rejected")));
	return e;
}

// editable says whether the suggestion's text can be changed: a change of a
// note's text, not of its name.
function editable(s) {
	return ["addition", "replacement", "deletion"].includes(s.kind);
}

function editor(s) {
	const area = element("textarea", { value: s.new || s.old, dir: "auto", ariaLabel: "the text instead" });
	area.onkeydown = (ev) => {
		if (ev.key === "Escape") closeForm();
		if (ev.key === "Enter" && (ev.ctrlKey || ev.metaKey)) amend(s, area.value);
	};
	return element("div", {}, area, element("div", { className: "actions" },
		button("Accept this text", "Ctrl+Enter", () => amend(s, area.value)),
		button("Cancel", "Esc", () => closeForm())));
}

// reasons asks why a suggestion is decided on as it is, in words that its author
// is told. The Enter key gives the verdict.
function reasons(s, verdict) {
	const why = element("input", {
		type: "text", dir: "auto", maxLength: maxReason, ariaLabel: "the reason",
		placeholder: `why? the author is told; Enter ${verdict === "accepted" ? "accepts" : "rejects"}`,
	});
	why.onkeydown = (ev) => {
		if (ev.key === "Escape") closeForm();
		if (ev.key === "Enter" && !ev.isComposing) decide([s], verdict, why.value);
	};
	return element("div", { className: "actions" }, why,
		button("Accept", "", () => decide([s], "accepted", why.value)),
		button("Reject", "", () => decide([s], "rejected", why.value)),
		button("Cancel", "Esc", () => closeForm()));
}

function openForm(s, verdict) {
	form = { id: s.id, verdict };
	select(s);
}

function closeForm() {
	form = null;
	refresh(); // what changed meanwhile was not drawn
}

// select draws the suggestion, if it is not, and gives it the focus.
function select(s) {
	selected = s.id;
	draw();
	focusSelected();
}

function focusSelected(how) {
	const e = $("s-" + selected);
	if (!e) return;
	const field = e.querySelector("textarea, input");
	if (field) field.focus(how);
	else if (document.activeElement !== $("filter")) e.focus(how);
}

// current is the suggestion that a key is for: the one whose card has the focus and
// is in sight. If that is not so, the key is not for anything, and brings it about.
function current() {
	const e = $("s-" + selected);
	const at = e?.getBoundingClientRect();
	const seen = e && at.bottom > $("header").getBoundingClientRect().bottom && at.top < $("footer").getBoundingClientRect().top;
	if (e && e.contains(document.activeElement) && seen) return drawn.find((s) => s.id === selected);
	focusSelected();
	e?.scrollIntoView({ block: "nearest" });
	return undefined;
}

function move(step) {
	const list = visible();
	const at = list.findIndex((s) => s.id === selected);
	if (!$("s-" + selected)?.contains(document.activeElement)) return focusSelected();
	const next = list[Math.min(Math.max(at + step, 0), list.length - 1)];
	if (!next) return;
	if (!drawn.some((s) => s.id === next.id)) return select(next);
	selected = next.id;
	focusSelected();
}

// selectAfter selects what follows the suggestions that are going away.
function selectAfter(gone) {
	const list = visible();
	const last = list.findLastIndex((s) => gone.includes(s.id));
	const next = list.slice(last + 1).find((s) => !gone.includes(s.id)) || list.findLast((s) => !gone.includes(s.id));
	selected = next ? next.id : "";
}

// act sends a request, and says what came of it when that is drawn: what is said
// to be done can be built upon.
async function act(request, path, done) {
	let report;
	try {
		const out = await api(path, request);
		const trouble = Object.entries(out.failed || {}).map(([p, why]) => `${p}: nothing changed: ${why}`);
		for (const a of out.away || []) trouble.push(`${a.path}: ${JSON.stringify(a.text)} stays away: ${a.why}`);
		if ((out.missing || []).length) trouble.push("not pending any more: " + out.missing.join(", "));
		report = [[done(out), ...trouble].join("\n"), trouble.length > 0];
	} catch (err) {
		report = [err.message, true, err.status];
	}
	if (await refresh()) focusSelected();
	say(report[0], report[1]);
	return report[2];
}

// remember keeps what was decided for undo, also over a reload of the tab.
function remember() {
	sessionStorage.setItem("decided", JSON.stringify(decided));
	$("undo").disabled = decided.length === 0;
}

async function decide(list, verdict, reason = "", text) {
	if (list.length === 0) return;
	const what = plural(list.length, "suggestion");
	if (list.length > confirmAbove && !confirm(`${verdict === "accepted" ? "Accept" : "Reject"} ${what} in ${list[0].path}?`)) return;
	const force = list.length === 1 && verdict === "accepted" && Boolean(list[0].stale);
	if (force && !confirm("It changed since this was proposed. Accept all the same?")) return;
	form = null;
	selectAfter(list.map((s) => s.id));
	focusSelected(); // it is drawn: the next key may be for it
	const shown = Object.fromEntries(list.map((s) => [s.id, s.revision]));
	await act({ shown, verdict, reason, force, text }, "/decide", (out) => {
		const done = verdict === "changed" ? "accepted as you wrote it" : `${plural(out.suggestions.length, "suggestion")} ${verdict}`;
		if (out.notes > 0) decided.push({ batch: out.batch, what: `${done} in ${list[0].path}` });
		remember();
		return done;
	});
}

// decideNote decides on what is drawn of a note.
async function decideNote(path, verdict) {
	await decide(drawn.filter((s) => s.path === path), verdict);
}

async function amend(s, text) {
	await decide([s], "changed", "", text);
}

// undo takes back the newest decision of this tab: not what others decided.
async function undo() {
	const last = decided.at(-1);
	if (!last) return say("nothing to take back here; 'relayfs suggestions undo' reaches further back", true);
	const status = await act({ batch: last.batch }, "/undo", (out) => {
		decided.pop();
		if (out.suggestions.length > 0) selected = out.suggestions[0].id;
		return out.notes > 0 ? `taken back: ${last.what}` : `not taken back: ${last.what}; 'relayfs suggestions undo ${last.batch}' tries again`;
	});
	if (status === 410) decided.pop(); // somebody else did
	remember();
}

// refresh reads the list and draws it, and returns whether that could be done. What
// had the focus has it again only if it is what it was: so no key meets what has
// just come into its place.
async function refresh() {
	const before = drawn.find((s) => s.id === selected);
	const focused = Boolean($("s-" + selected)?.contains(document.activeElement));
	const at = visible().findIndex((s) => s.id === selected);
	try {
		pending = await api("/suggestions?context=1");
	} catch (err) {
		say(err.message, true);
		return false;
	}
	if (!pending.some((s) => s.id === form?.id)) form = null;
	const list = visible();
	if (!list.some((s) => s.id === selected)) selected = list[Math.min(Math.max(at, 0), list.length - 1)]?.id || "";
	draw();
	const same = drawn.some((s) => s.id === before?.id && s.revision === before.revision && s.id === selected);
	if (same && focused) focusSelected({ preventScroll: true }); // who reads elsewhere stays there
	return true;
}

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
			if (seen === 0) focusSelected();
			seen = now;
		} catch (err) {
			lost = err.message;
			say(lost, true);
			await new Promise((resolve) => setTimeout(resolve, retryAfter));
		}
	}
}

// on makes a key of what is done with the suggestion that it is for.
const on = (act) => () => {
	const s = current();
	if (s) act(s);
};

const keys = {
	j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
	y: on((s) => decide([s], "accepted")), n: on((s) => decide([s], "rejected")), x: on((s) => decide([s], "rejected")),
	e: on((s) => editable(s) && openForm(s, "changed")), u: () => undo(),
	a: on((s) => openForm(s, "accepted")), r: on((s) => openForm(s, "rejected")),
	A: on((s) => decideNote(s.path, "accepted")), R: on((s) => decideNote(s.path, "rejected")),
	"/": () => $("filter").focus(),
};

document.addEventListener("keydown", (ev) => {
	if (ev.ctrlKey || ev.metaKey || ev.altKey || ["INPUT", "TEXTAREA"].includes(ev.target.tagName)) return;
	const key = keys[ev.key];
	if (!key) return;
	ev.preventDefault();
	key();
});
$("list").addEventListener("focusin", (ev) => {
	const card = ev.target.closest("article");
	if (card) selected = card.id.slice("s-".length);
});
$("filter").addEventListener("input", draw);
$("filter").addEventListener("keydown", (ev) => {
	if (ev.key !== "Enter" && ev.key !== "Escape") return;
	ev.target.blur();
	focusSelected();
});
$("undo").addEventListener("click", undo);

follow();
