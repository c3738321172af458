// The images of the vault that a note embeds. Only requests with the token get them, so an element cannot name them: they
// are fetched when they come near, and shown as data: URLs, in which an SVG runs no script and loads nothing.

import { imageIn } from "./api.js";

const nearSight = "1500px";

export class Images {
	#known = new Map(); // target -> the image that it leads to in the note
	#note;
	#steady;
	#watch;

	// root is what scrolls; steady makes a change without moving what a person looks at.
	constructor(root, steady) {
		this.#steady = steady;
		this.#watch = new IntersectionObserver((seen) => {
			for (const { isIntersecting, target } of seen) if (isIntersecting) this.#fetch(target);
		}, { root, rootMargin: nearSight });
	}

	// show lets the images within an element of a note be shown.
	show(within, note) {
		if (note !== this.#note) this.#known.clear();
		this.#note = note;
		for (const e of within.querySelectorAll("[data-image]")) {
			const known = this.#known.get(e.dataset.image);
			if (known) put(e, known);
			else this.#watch.observe(e);
		}
	}

	async #fetch(e) {
		this.#watch.unobserve(e);
		const note = this.#note, target = e.dataset.image;
		try {
			const image = this.#known.get(target) ?? await decoded(await imageIn(note, target));
			if (note !== this.#note) return;
			this.#known.set(target, image);
			this.#steady(() => put(e, image));
		} catch (err) {
			e.title = `${target}: ${err.message}`; // its name stays in its place
		}
	}
}

async function decoded(src) {
	const image = new Image();
	image.src = src;
	await image.decode();
	return image;
}

// put shows an image in the element that stands for it, as large as the note says.
function put(e, image) {
	const [across, down] = (e.dataset.size || "").split("x").map(Number);
	const width = image.naturalWidth || 300, height = image.naturalHeight || 150; // an SVG may have no size
	const shown = Object.assign(image.cloneNode(), { alt: e.dataset.alt, title: e.dataset.image, width: across || width });
	shown.height = down || Math.round(shown.width * height / width);
	if (e.dataset.changed) e.prepend(shown);
	else e.replaceChildren(shown);
	e.classList.add("shown");
}
