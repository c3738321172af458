// Conversations on the review page: threads of comments beside the text and in the cards of suggestions, and the
// dialog in which a person writes one. page.js sends what is written here, and says which note is open.

import { button, element } from "./draw.js";

const maxComment = 1000; // characters; relayfs has a limit of bytes beside it

export function signature(s) {
	return [s.author, s.time && new Date(s.time).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" })].filter(Boolean).join(" · ");
}

// drawThread makes the elements of a thread; reply and resolve are called with it.
export function drawThread(t, { reply, resolve }) {
	const e = element("div", { className: "remark" });
	for (const r of t.remarks) {
		if (signature(r)) e.append(element("div", { className: "about", dir: "auto" }, signature(r)));
		e.append(element("div", { className: "comment", dir: "auto" }, r.text));
	}
	if (t.answered) e.append(element("div", { className: "about" }, "It has changed since: this is the answer."));
	e.append(element("div", { className: "actions" },
		button("Reply", "answer this comment", () => reply(t), "quiet"), button("Resolve", "take this thread out of the note", () => resolve(t), "quiet")));
	return e;
}

// drawAnswer tells which rejection a suggestion answers.
export function drawAnswer({ old, new: now, reason }) {
	const what = [old && element("del", {}, old), now && element("ins", {}, now)].filter(Boolean);
	return element("div", { className: "about answer", dir: "auto" }, "after you rejected ", ...what, reason ? `: ${reason}` : "");
}

// write asks for a comment in a dialog. send gets its text, and returns whether it was taken; if not, what was typed
// stays there. keep gets what was typed in a dialog that is closed.
export function write(title, send, keep) {
	const text = element("textarea", { maxLength: maxComment, dir: "auto", ariaLabel: title, rows: 3 });
	const dialog = element("dialog", { className: "write", ariaLabel: title });
	const before = document.activeElement;
	const cancel = () => {
		if (!sending && text.value.trim()) keep(text.value);
		close();
	};
	const close = () => {
		dialog.close();
		dialog.remove();
		before?.focus?.({ preventScroll: true });
	};
	let sending = false;
	const done = async () => {
		if (sending || !text.value.trim()) return;
		sending = true;
		if (await send(text.value)) close();
		sending = false;
	};
	text.onkeydown = (ev) => {
		if (ev.key !== "Enter" || ev.shiftKey || ev.isComposing) return;
		ev.preventDefault();
		done();
	};
	dialog.oncancel = (ev) => {
		ev.preventDefault();
		cancel();
	};
	dialog.append(element("p", { dir: "auto" }, title), text, element("div", { className: "actions" },
		button("Comment", "Enter", done, "accept"), button("Cancel", "Esc", cancel, "quiet")));
	document.body.append(dialog);
	dialog.showModal();
	text.focus();
}

// quoted is what is selected of the text of one row, "" if nothing is.
export function quoted() {
	const s = getSelection();
	const row = (n) => (n?.nodeType === Node.ELEMENT_NODE ? n : n?.parentElement)?.closest(".row .text");
	if (!s || s.isCollapsed || !row(s.anchorNode) || row(s.anchorNode) !== row(s.focusNode)) return "";
	return s.toString().trim();
}
