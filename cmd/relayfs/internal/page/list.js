// A list of which only what is in sight has elements. What a person looks at stays in sight when others come
// above it, and what has the focus keeps its element.

const beyond = 10; // entries that are drawn above and below what is in sight

export class VirtualList {
	#items = []; // of {key, make, update}
	#index = new Map(); // key -> index
	#drawn = new Map(); // key -> element
	#top = 0; // scrolled so far

	constructor(scroller) {
		this.scroller = scroller;
		this.sheet = document.createElement("div");
		this.sheet.className = "sheet";
		this.sheet.setAttribute("role", "list");
		scroller.replaceChildren(this.sheet);
		scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
		new ResizeObserver(() => this.#draw()).observe(scroller);
	}

	get #height() {
		return parseFloat(getComputedStyle(this.scroller).getPropertyValue("--entry")) || 32;
	}

	// set takes the entries: {key, make() an element, update(element)}.
	set(items) {
		const h = this.#height;
		const first = this.#items[Math.floor(this.scroller.scrollTop / h)];
		const index = new Map(items.map((item, i) => [item.key, i]));
		const moved = first && index.has(first.key) ? index.get(first.key) - this.#index.get(first.key) : 0;
		this.#items = items;
		this.#index = index;
		this.sheet.style.height = items.length * h + "px";
		this.sheet.hidden = items.length === 0;
		if (moved) this.scroller.scrollTop += moved * h;
		this.#draw(true);
	}

	#draw(renew) {
		const h = this.#height;
		const from = Math.max(0, Math.floor(this.scroller.scrollTop / h) - beyond);
		const to = Math.min(this.#items.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / h) + beyond);
		const wanted = new Set();
		for (let i = from; i < to; i++) wanted.add(this.#items[i].key);
		for (const [key, e] of this.#drawn) {
			if (wanted.has(key)) continue;
			if (this.#index.has(key) && e.contains(document.activeElement)) wanted.add(key);
			else {
				e.remove();
				this.#drawn.delete(key);
			}
		}
		let before = null;
		for (const i of [...wanted].map((key) => this.#index.get(key)).sort((a, b) => b - a)) before = this.#place(i, h, before, renew);
	}

	#place(i, h, before, renew) {
		const item = this.#items[i];
		let e = this.#drawn.get(item.key);
		if (!e) {
			e = item.make();
			e.setAttribute("role", "listitem");
			this.#drawn.set(item.key, e);
			item.update(e);
		} else if (renew) item.update(e);
		e.style.top = i * h + "px";
		e.ariaPosInSet = String(i + 1);
		e.ariaSetSize = String(this.#items.length);
		if (e.nextSibling !== before || e.parentNode !== this.sheet) this.sheet.insertBefore(e, before);
		return e;
	}

	// reveal brings an entry in sight, and returns its element.
	reveal(key) {
		const i = this.#index.get(key);
		if (i === undefined) return undefined;
		const h = this.#height;
		if (i * h < this.scroller.scrollTop) this.scroller.scrollTop = i * h;
		else if ((i + 1) * h > this.scroller.scrollTop + this.scroller.clientHeight) this.scroller.scrollTop = (i + 1) * h - this.scroller.clientHeight;
		this.#draw();
		return this.#drawn.get(key);
	}
}
