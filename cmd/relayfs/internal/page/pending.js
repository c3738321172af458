// What waits for a person, as far as the page knows: what relayfs has told of it, without what the person has just
// decided on. That is away from the moment of the decision on, and comes back if it is refused.

export const proposals = ""; // the place of what is not in the text of a note

export const placeOf = (s) => (s.line ? s.path : proposals);

export const folderOf = (at) => at.slice(0, Math.max(0, at.lastIndexOf("/")));

export class Pending {
	#byPath = new Map(); // path -> suggestions and proposals
	#commented = new Set(); // paths of notes with comments
	#away = new Map(); // id -> the state from which on relayfs does not list it, Infinity until that is known
	seen = 0; // the state of the workspace

	// apply takes what has changed, and returns whether a path is concerned.
	apply({ now, paths, suggestions, commented }) {
		if (now < this.seen && !paths.includes("")) return () => false; // a later answer has come first
		this.seen = now;
		const touches = (path) => paths.some((p) => p === "" || path === p || path.startsWith(p + "/"));
		const below = new Set(paths);
		for (const known of [this.#byPath, this.#commented]) deleteBelow(known, below);
		for (const path of commented) this.#commented.add(path);
		for (const s of suggestions) {
			const list = this.#byPath.get(s.path);
			if (list) list.push(s);
			else this.#byPath.set(s.path, [s]);
		}
		this.#settle();
		return touches;
	}

	// take lets suggestions be away; settled says from which state on, and restore lets them come back.
	take(ids) {
		for (const id of ids) this.#away.set(id, Infinity);
	}

	settled(ids, now) {
		for (const id of ids) if (this.#away.has(id)) this.#away.set(id, now);
		this.#settle();
	}

	restore(ids) {
		for (const id of ids) this.#away.delete(id);
	}

	#settle() {
		for (const [id, now] of this.#away) if (now <= this.seen) this.#away.delete(id);
	}

	// commented are the notes with comments.
	get commented() {
		return this.#commented;
	}

	isAway(id) {
		return this.#away.has(id);
	}

	// has tells whether anything is known of a note.
	has(path) {
		return this.#byPath.has(path) || this.#commented.has(path);
	}

	*all() {
		for (const list of this.#byPath.values()) for (const s of list) if (!this.#away.has(s.id)) yield s;
	}
}

// deleteBelow deletes what is at or below paths from a map or set of paths.
function deleteBelow(known, paths) {
	if (paths.has("")) return known.clear();
	for (const path of [...known.keys()]) {
		for (let at = path; at !== ""; at = folderOf(at)) if (paths.has(at)) known.delete(path);
	}
}
