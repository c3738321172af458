// A JSON Canvas as a picture: its boxes with their texts, and the lines between them.

const svg = "http://www.w3.org/2000/svg";
const maxText = 60; // characters of a box

function shape(name, attributes, ...children) {
	const e = document.createElementNS(svg, name);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	e.append(...children);
	return e;
}

// drawCanvases makes the pictures of a canvas before and after a change. What is no canvas has none.
export function drawCanvases(before, after) {
	const e = document.createElement("div");
	e.className = "canvases";
	const old = parsed(before), now = parsed(after);
	const view = bounds([...(old?.boxes || []), ...(now?.boxes || [])]);
	for (const [name, canvas, other, fate] of [["before", old, now, "gone"], ["after", now, old, "come"]]) {
		if (!canvas) continue;
		const figure = document.createElement("figure");
		const caption = document.createElement("figcaption");
		caption.textContent = name;
		figure.append(caption, picture(canvas, other, fate, name, view));
		e.append(figure);
	}
	return e;
}

function parsed(text) {
	try {
		const { nodes = [], edges = [] } = JSON.parse(text);
		const boxes = nodes.filter((n) => [n.x, n.y, n.width, n.height].every(Number.isFinite));
		return { boxes, edges: edges.filter((x) => boxes.some((b) => b.id === x.fromNode) && boxes.some((b) => b.id === x.toNode)) };
	} catch {
		return undefined;
	}
}

const same = (a, list) => list?.some((b) => JSON.stringify(a) === JSON.stringify(b));

// bounds is the part of the plane that both pictures show, so that what stays is where it was.
function bounds(boxes) {
	const left = Math.min(...boxes.map((b) => b.x)), top = Math.min(...boxes.map((b) => b.y));
	const right = Math.max(...boxes.map((b) => b.x + b.width)), bottom = Math.max(...boxes.map((b) => b.y + b.height));
	return boxes.length ? `${left - 10} ${top - 10} ${right - left + 20} ${bottom - top + 20}` : "0 0 200 80";
}

function picture({ boxes, edges }, other, fate, name, viewBox) {
	const e = shape("svg", { viewBox, role: "img",
		"aria-label": `The canvas ${name} the change: ${boxes.map(label).join(", ") || "empty"}` });
	const middle = (id) => {
		const b = boxes.find((x) => x.id === id);
		return [b.x + b.width / 2, b.y + b.height / 2];
	};
	for (const x of edges) {
		const [x1, y1] = middle(x.fromNode), [x2, y2] = middle(x.toNode);
		const mark = same(x, other?.edges) ? "" : fate;
		e.append(shape("line", { x1, y1, x2, y2, class: mark }));
		if (x.label) e.append(shape("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2, class: "label " + mark }, short(x.label)));
	}
	for (const b of boxes) {
		const mark = same(b, other?.boxes) ? "" : fate;
		e.append(shape("rect", { x: b.x, y: b.y, width: b.width, height: b.height, rx: 6, class: mark }),
			shape("text", { x: b.x + b.width / 2, y: b.y + b.height / 2, class: mark }, short(label(b))));
	}
	return e;
}

const label = (b) => b.text ?? b.file ?? b.url ?? b.label ?? "";
const short = (text) => (text.length > maxText ? text.slice(0, maxText) + "…" : text);
