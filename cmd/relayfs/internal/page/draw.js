// What a note looks like: elements for the nodes that relayfs makes of it. Note text is untrusted: it enters
// the document as text only, in elements whose names stand here, and nothing of it can be followed. Images of the
// vault and formulas are drawn later, in the elements that stand for them here (images.js, formulas.js).

import { drawCanvases } from "./canvas.js";

// element makes an element with properties and children; strings become text.
export function element(name, properties, ...children) {
	const e = Object.assign(document.createElement(name), properties);
	e.append(...children);
	return e;
}

export function button(label, title, act, className = "", more = {}) {
	return element("button", { type: "button", title, onclick: act, className, ...more }, label);
}

export function plural(n, what) {
	return n === 1 ? "1 " + what : n + " " + what + "s";
}

const plain = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "table", "tr", "th", "td", "hr", "br", "em", "strong", "s", "code", "mark"]);
const blocks = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "table", "tr", "th", "td", "hr", "pre"]);
const marks = { old: "del", new: "ins" };

// draw makes the elements of nodes. fate is the kind of what they stand in; of those that belong to a suggestion
// the element that is struck or new as a whole has its id.
export function draw(nodes, fate) {
	return (nodes || []).flatMap((n) => {
		if (!n.t) return n.k && n.k !== fate ? mark(n, ...text(n.x)) : text(n.x);
		const starts = n.k && n.k !== fate;
		const e = shape(n, starts ? n.k : fate);
		if (!starts) return e;
		if (!blocks.has(n.t)) return mark(n, e);
		e.classList.add(n.k);
		e.dataset.id = n.s;
		return e;
	});
}

const dashed = /(\d[\d.,:]{0,10}[-/–][\d.,:/–-]{0,12}\d)/; // a browser breaks lines within these; longer ones would be wider than a phone

// text returns a text in pieces, of which numbers and dates do not break.
function text(x) {
	return dashed.test(x) ? x.split(new RegExp(dashed, "g")).map((piece, i) => (i % 2 ? element("span", { className: "number" }, piece) : piece)) : [x];
}

function mark(n, ...content) {
	const e = element(marks[n.k], {}, ...content);
	e.dataset.id = n.s;
	return e;
}

// shape makes the element of a node, whatever becomes of it.
function shape(n, fate) {
	if (n.t === "canvas") return drawCanvases(...n.c.map((c) => c.x));
	const callout = calloutOf(n);
	const inner = draw(callout ? callout.children : n.c, fate);
	const more = n.k && n.a ? [element("span", { className: "target" }, ` → ${n.a}`)] : [];
	switch (n.t) {
	case "blockquote":
		return callout ? element("blockquote", { className: `callout ${callout.mood}` }, ...inner) : element("blockquote", {}, ...inner);
	case "folded":
		return element("details", {}, element("summary", {}, "As text"), ...inner);
	case "footnote":
		return element("sup", { className: "footnote" }, ...inner);
	case "li":
		if (n.a) return element("li", { value: Number(n.a) }, ...inner);
		return element("li", { className: n.c?.[0]?.c?.some((x) => x.t === "checkbox") ? "task" : "" }, ...inner);
	case "th": case "td": {
		const cell = element(n.t, {}, ...inner);
		if (n.a) cell.classList.add(n.a);
		return cell;
	}
	case "pre":
		return element("pre", { className: n.a === "source" ? "source" : "", title: n.a === "source" ? "" : n.a || "" }, ...inner);
	case "a":
		return element("span", { className: "link", title: n.a || "" }, ...inner, ...more);
	case "wikilink":
		return element("span", { className: "link", title: n.a }, ...inner, ...(n.a === words(n) ? [] : more));
	case "embed": case "img":
		return embed(n, inner, more, fate);
	case "math":
		return formula(n, fate);
	case "html":
		return element("code", { className: n.t }, ...inner);
	case "checkbox":
		return element("span", { className: "box", role: "img", ariaLabel: n.a ? "done" : "to do" }, n.a ? "☑" : "☐");
	}
	return element(plain.has(n.t) ? n.t : "span", {}, ...inner);
}

const imageName = /^(?![a-z][a-z\d+.-]*:|\/\/).+\.(?:png|jpe?g|gif|webp|svg)(?:#.*)?$/i;
const imageSize = /^\d+(?:x\d+)?$/;

// embed makes the name of what is embedded, in which an image of the vault is shown. A size in the text is none of the name.
function embed(n, inner, more, fate) {
	const changed = (n.c || []).some((c) => c.k && c.k !== fate);
	const parts = words({ c: (n.c || []).filter((c) => c.k !== "old" || c.k === fate) }).split("|");
	const size = imageSize.test(parts.at(-1)) ? parts.pop() : "";
	const alt = parts.join("|") || n.a || "image";
	const e = element("span", { className: "embed", title: n.a || "" }, ...(changed ? inner : [alt]), ...(n.t === "img" || changed ? more : []));
	if (imageName.test(n.a)) Object.assign(e.dataset, { image: n.a, size, alt, ...changed && { changed } });
	return e;
}

// formula makes the element of a formula. One that changes within is there before and after.
function formula(n, fate) {
	const changed = (n.c || []).filter((c) => c.k && c.k !== fate);
	if (!changed.length) {
		const e = element("span", { className: "math" }, words(n));
		e.dataset.formula = n.a || "inline";
		return e;
	}
	const without = (kind) => formula({ a: n.a, c: n.c.filter((c) => c.k !== kind).map((c) => ({ x: c.x })) });
	return element("span", {}, mark({ k: "old", s: changed[0].s }, without("new")), mark({ k: "new", s: changed.at(-1).s }, without("old")));
}

const moods = {};
for (const kind of ["warning", "caution", "attention", "danger", "error", "bug", "failure", "fail", "missing"]) moods[kind] = "bad";
for (const kind of ["tip", "hint", "important", "success", "check", "done"]) moods[kind] = "good";

const calloutMark = /^\[!([\w-]+)\][+-]?[ \t]*/;

// calloutOf returns a blockquote that begins with "[!kind]" as {children, mood}: with a title instead of that, unless the
// kind is what changes.
function calloutOf(n) {
	const [first] = n.t === "blockquote" && n.c || [];
	const text = first?.t === "p" && first.c?.[0];
	const found = text && !text.t && calloutMark.exec(text.x);
	if (!found) {
		const changed = text && calloutMark.exec(words({ c: first.c.filter((c) => c.k !== "old") }));
		return changed ? { mood: moods[changed[1].toLowerCase()] ?? "plain", children: n.c } : undefined;
	}
	const rest = text.x.slice(found[0].length);
	const end = first.c.findIndex((c) => c.t === "br");
	const line = end < 0 ? first.c.slice(1) : first.c.slice(1, end), after = end < 0 ? [] : first.c.slice(end + 1);
	const kind = found[1].toLowerCase();
	const title = [{ t: "strong", c: [{ ...text, x: rest || (line.length ? "" : kind[0].toUpperCase() + kind.slice(1)) }, ...line] }];
	return { mood: moods[kind] ?? "plain", children: [{ ...first, c: title }, ...(after.length ? [{ t: "p", c: after }] : []), ...n.c.slice(1)] };
}

function words(n) {
	return (n.c || []).map((c) => c.x || "").join("");
}

// drawSource makes the lines of source that show what the block does not.
export function drawSource(nodes) {
	return element("pre", { className: "source", title: "in the source of the note" }, ...draw(nodes));
}

export function drawProperties(list) {
	return element("table", { className: "properties", ariaLabel: "Properties" },
		...list.map((p) => element("tr", {}, element("th", { scope: "row" }, p.key), element("td", { dir: "auto" }, p.value))));
}
