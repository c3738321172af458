"use strict";

// The review page: it draws what /api/suggestions lists, sends decisions, and
// draws again when /api/changes says that something changed, whoever did it.
// Note text is untrusted: it enters the document as text nodes only.

const token = location.hash.slice(1);
const confirmAbove = 10; // suggestions that are decided at once without asking
const retryAfter = 2000; // ms, when relayfs does not answer
const maxReason = 1000; // characters; relayfs has a limit of bytes beside it
const drawAtMost = 500; // suggestions; the rest come as these are decided

let pending = [];
let selected = ""; // id of the suggestion that keys act on
let form = null; // the open form, {id, verdict}; verdict "changed" is for editing the text, others are for giving a reason
let lastBatch = ""; // what undo takes back; "" is the newest decision of anyone

const $ = (id) => document.getElementById(id);

async function api(path, body) {
	const request = { headers: { Authorization: "Bearer " + token } };
	if (body !== undefined) {
		request.method = "POST";
		request.headers["Content-Type"] = "application/json";
		request.body = JSON.stringify(body);
	}
	const answer = await fetch("/api" + path, request);
	const text = await answer.text();
	if (!answer.ok) throw new Error(text.trim() || answer.statusText);
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
	return pending.filter((s) => words.every((w) => (s.path + " " + s.author).toLowerCase().includes(w)));
}

function draw() {
	const list = visible();
	if (!list.some((s) => s.id === selected)) selected = list.length > 0 ? list[0].id : "";
	const shown = list.slice(0, drawAtMost);
	const nodes = [];
	let path;
	for (const s of shown) {
		if (s.path !== path) {
			path = s.path;
			nodes.push(heading(path));
		}
		nodes.push(card(s));
	}
	if (list.length > shown.length) nodes.push(element("p", {}, `${list.length - shown.length} more follow when these are decided`));
	if (list.length === 0) nodes.push(element("p", {}, pending.length ? "Nothing pending matches the filter." : "Nothing is pending."));
	$("list").replaceChildren(...nodes);
	$("count").textContent = plural(list.length, "pending suggestion");
	focusSelected();
}

function heading(path) {
	return element("h2", {}, path,
		button("Accept note", "A", () => decideNote(path, "accepted")),
		button("Reject note", "R", () => decideNote(path, "rejected")));
}

function card(s) {
	const e = element("article", { id: "s-" + s.id, tabIndex: -1, onclick: () => { selected = s.id; } });
	e.append(element("div", { className: "about" }, about(s)), text(s));
	for (const c of s.comments || []) e.append(element("div", { className: "comment" }, c));
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
	const e = element("div", { className: "text" });
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
	const area = element("textarea", { value: s.new || s.old, ariaLabel: "the text instead" });
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
		type: "text", maxLength: maxReason, ariaLabel: "the reason",
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
	selected = s.id;
	draw();
}

function closeForm() {
	form = null;
	refresh(); // what changed meanwhile was not drawn
}

function focusSelected() {
	const e = $("s-" + selected);
	if (!e) return;
	const field = e.querySelector("textarea, input");
	if (field) field.focus();
	else if (document.activeElement !== $("filter")) e.focus();
}

function move(step) {
	const list = visible();
	const at = list.findIndex((s) => s.id === selected);
	const next = list[Math.min(Math.max(at + step, 0), list.length - 1)];
	if (next) selected = next.id;
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
		if (out.batch) lastBatch = path === "/undo" ? "" : out.batch;
		const trouble = Object.entries(out.failed || {}).map(([p, why]) => `${p}: nothing changed: ${why}`);
		if ((out.missing || []).length) trouble.push("not pending any more: " + out.missing.join(", "));
		report = [[done(out), ...trouble].join("\n"), trouble.length > 0];
	} catch (err) {
		report = [err.message, true];
	}
	await refresh();
	say(...report);
}

async function decide(list, verdict, reason = "") {
	if (list.length === 0) return;
	if (list.length > confirmAbove && !confirm(`${verdict === "accepted" ? "Accept" : "Reject"} ${plural(list.length, "suggestion")}?`)) return;
	const force = list.length === 1 && verdict === "accepted" && Boolean(list[0].stale);
	if (force && !confirm("It changed since this was proposed. Accept all the same?")) return;
	form = null;
	const ids = list.map((s) => s.id);
	selectAfter(ids);
	await act({ ids, verdict, reason, force }, "/decide", (out) => `${plural(out.suggestions.length, "suggestion")} ${verdict}`);
}

async function decideNote(path, verdict) {
	await decide(pending.filter((s) => s.path === path), verdict);
}

async function amend(s, text) {
	form = null;
	selectAfter([s.id]);
	await act({ ids: [s.id], verdict: "changed", text }, "/decide", () => "accepted as you wrote it");
}

async function undo() {
	await act({ batch: lastBatch }, "/undo", (out) => `taken back in ${plural(out.notes, "note")}`);
}

async function refresh() {
	try {
		pending = await api("/suggestions?context=1");
		if (!pending.some((s) => s.id === form?.id)) form = null;
		draw();
	} catch (err) {
		say(err.message, true);
	}
}

// follow draws again after each change, for as long as the page is open. While
// a form is open it waits: it must not go away under the hands.
async function follow() {
	let seen = 0;
	for (;;) {
		try {
			const now = await api("/changes?seen=" + seen);
			if (now !== seen && !form) await refresh();
			seen = now;
		} catch (err) {
			say("relayfs does not answer: " + err.message, true);
			await new Promise((resolve) => setTimeout(resolve, retryAfter));
		}
	}
}

const keys = {
	j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
	y: (s) => s && decide([s], "accepted"), n: (s) => s && decide([s], "rejected"), x: (s) => s && decide([s], "rejected"),
	e: (s) => s && editable(s) && openForm(s, "changed"), u: () => undo(),
	a: (s) => s && openForm(s, "accepted"), r: (s) => s && openForm(s, "rejected"),
	A: (s) => s && decideNote(s.path, "accepted"), R: (s) => s && decideNote(s.path, "rejected"),
	"/": () => $("filter").focus(),
};

document.addEventListener("keydown", (ev) => {
	if (ev.ctrlKey || ev.metaKey || ev.altKey || ["INPUT", "TEXTAREA"].includes(ev.target.tagName)) return;
	const key = keys[ev.key];
	if (!key) return;
	ev.preventDefault();
	key(pending.find((s) => s.id === selected));
});
$("filter").addEventListener("input", draw);
$("filter").addEventListener("keydown", (ev) => {
	if (ev.key !== "Enter" && ev.key !== "Escape") return;
	ev.target.blur();
	focusSelected();
});
$("undo").addEventListener("click", undo);

follow();
