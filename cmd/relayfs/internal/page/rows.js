// The open place as rows of elements, each made of a block. What has not changed keeps its elements, what a person
// looks at stays where it is, and of thousands of rows only those near what is in sight are filled.

const lazyAbove = 700; // rows
const nearSight = "1500px";

const near = 8; // blocks that may go before one that is there several times is taken for the next of its kind

// merged are the rows of blocks. A block that has the key of an old one keeps its row, in their order. What was decided
// beside a block that has changed stays beside what has come in its place.
export function merged(old, blocks) {
	const at = new Map(); // key -> where old has such blocks
	old.forEach((r, i) => {
		if (!r.block) return;
		if (!at.has(r.block.key)) at.set(r.block.key, []);
		at.get(r.block.key).push(i);
	});
	const out = [];
	let next = 0; // in old
	let fresh = []; // new ones since the last that stays
	const flush = (until) => {
		const past = old.slice(next, until).map((r) => r.past);
		past.forEach((list, i) => {
			if (!list.length) return;
			if (!fresh.length) fresh.push({ block: null, past: [] });
			fresh[Math.min(i, fresh.length - 1)].past.push(...list);
		});
		out.push(...fresh);
		fresh = [];
	};
	for (const b of blocks) {
		const places = at.get(b.key) || [];
		while (places[0] < next) places.shift();
		const [i] = places;
		if (i === undefined || places.length > 1 && i - next > near) {
			fresh.push({ block: b, past: [] });
			continue;
		}
		flush(i);
		out.push(old[i]);
		next = i + 1;
	}
	flush(old.length);
	return out;
}

export class Rows {
	#main;
	#elements = new Map(); // row -> {e, sign, fill}
	#of = new WeakMap(); // element -> row
	#watch;
	#rest = 0; // how far below its place all stands, a part of a pixel: scrollTop takes no such parts

	constructor(main) {
		this.#main = main;
		this.#watch = new IntersectionObserver((seen) => {
			const rows = seen.filter((s) => s.isIntersecting).map((s) => this.#of.get(s.target)).filter(Boolean);
			if (rows.length) this.steady(() => rows.forEach((r) => this.fill(r)));
		}, { root: main, rootMargin: nearSight });
	}

	// draw shows rows: {sign, fill(element), size}. What has an equal sign is drawn alike.
	draw(rows) {
		this.steady(() => {
			const lazy = rows.length > lazyAbove;
			const wanted = new Set(rows);
			for (const [row, { e }] of this.#elements) {
				if (wanted.has(row)) continue;
				this.#watch.unobserve(e);
				e.remove();
				this.#elements.delete(row);
			}
			let at = this.#main.firstChild;
			for (const row of rows) {
				const e = this.#element(row, lazy);
				if (e === at) at = at.nextSibling;
				else this.#main.insertBefore(e, at);
			}
			while (at) {
				const next = at.nextSibling;
				at.remove();
				at = next;
			}
		});
	}

	#element(row, lazy) {
		const drawn = this.#elements.get(row);
		if (drawn?.sign === row.sign) return drawn.e;
		if (drawn) {
			drawn.sign = row.sign;
			if (!drawn.far) row.fill(drawn.e);
			return drawn.e;
		}
		const e = document.createElement("div");
		e.className = "row";
		this.#of.set(e, row);
		this.#elements.set(row, { e, sign: row.sign, far: lazy });
		if (!lazy) row.fill(e);
		else {
			e.style.minHeight = row.size() + "px";
			this.#watch.observe(e);
		}
		return e;
	}

	// fill makes sure that a row is drawn, and returns its element.
	fill(row) {
		const drawn = this.#elements.get(row);
		if (!drawn?.far) return drawn?.e;
		drawn.far = false;
		this.#watch.unobserve(drawn.e);
		drawn.e.style.minHeight = "";
		row.fill(drawn.e);
		return drawn.e;
	}

	// steady lets what a person looks at stay where it is: what has the focus, if that is in sight, or else the
	// first row that is.
	steady(change) {
		const seen = this.#inSight().map((e) => [e, e.getBoundingClientRect().top]);
		change();
		const stays = seen.find(([e]) => e.isConnected);
		if (!stays) return;
		const moved = () => stays[0].getBoundingClientRect().top - stays[1] + this.#rest;
		if (Math.abs(moved()) >= 0.5) this.#main.scrollTop += moved();
		const rest = moved();
		this.#rest = Math.abs(rest) < 1 ? rest : 0; // else the note ends there
	}

	#inSight() {
		const { top, bottom } = this.#main.getBoundingClientRect();
		const all = this.#main.children;
		let from = 0;
		for (let to = all.length; from < to;) { // rows stand in the order of their places
			const middle = (from + to) >> 1;
			if (all[middle].getBoundingClientRect().bottom > top + 8) to = middle;
			else from = middle + 1;
		}
		const list = [];
		for (; from < all.length && all[from].getBoundingClientRect().top < bottom; from++) list.push(all[from]);
		return [...list.filter((e) => e.contains(document.activeElement)), ...list];
	}
}
