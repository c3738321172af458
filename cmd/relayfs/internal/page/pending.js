// What waits for a person, as far as the page knows: what relayfs has told of it, without what the person has just
// decided on. That is away from the moment of the decision on, and comes back if it is refused.

export const proposals = ""; // the place of what is not in the text of a note

export const placeOf = (s) => (s.line ? s.path : proposals);

export const folderOf = (at) => at.slice(0, Math.max(0, at.lastIndexOf("/")));

export class Pending {
	#byID = new Map(); // suggestions and proposals
	#commented = new Set(); // paths of notes with comments
	#away = new Map(); // id -> the state from which on relayfs does not list it, Infinity until that is known
	seen = 0; // the state of the workspace

	// apply takes what waits at or below paths, and all proposals, as of the state now, in the place of what was known of
	// them. It returns whether a path is concerned.
	apply(now, paths, { suggestions, commented }) {
		this.seen = now;
		const touches = below(paths);
		for (const [id, s] of this.#byID) if (!s.line || touches(s.path)) this.#byID.delete(id);
		for (const s of suggestions) this.#byID.set(s.id, s);
		for (const path of this.#commented) if (touches(path)) this.#commented.delete(path);
		for (const path of commented) this.#commented.add(path);
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
		return this.#commented.has(path) || [...this.#byID.values()].some((s) => s.path === path);
	}

	*all() {
		for (const [id, s] of this.#byID) if (!this.#away.has(id)) yield s;
	}
}

// below tells of a path whether it is one of several, or below one.
function below(paths) {
	const known = new Set(paths);
	return (path) => {
		let at = path;
		while (at !== "" && !known.has(at)) at = folderOf(at);
		return known.has(at);
	};
}
