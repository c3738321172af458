// What the page asks relayfs, with the token that only the page's address has.

import { parse } from "./events.js";

const authorization = { Authorization: "Bearer " + location.hash.slice(1) };
const patience = 60_000; // ms, far longer than relayfs is silent on a stream

// ask sends a request. The error of a refusal has its status.
async function ask(path, request) {
	const answer = await fetch("/api" + path, request).catch((err) => {
		throw new Error(`relayfs review does not answer (${err.message}); start it again, and this page goes on by itself`);
	});
	if (answer.ok) return answer;
	throw Object.assign(new Error((await answer.text()).trim() || answer.statusText), { status: answer.status });
}

// api asks for a path; with a body it posts that.
export async function api(path, body) {
	const post = { method: "POST", headers: { ...authorization, "Content-Type": "application/json" }, body: JSON.stringify(body) };
	const answer = await ask(path, body === undefined ? { headers: authorization } : post);
	return answer.json();
}

// imageIn returns the image that a note embeds, as a data: URL.
export async function imageIn(note, target) {
	const answer = await ask(`/image?note=${encodeURIComponent(note)}&target=${encodeURIComponent(target)}`, { headers: authorization });
	const blob = await answer.blob();
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result);
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(blob);
	});
}

// events calls opened when relayfs answers, and then take with each change since the state that was seen, until the
// stream ends or breaks, or end is aborted. Who asks again gets what was missed.
export async function events(seen, end, opened, take) {
	let silence;
	const alive = () => {
		clearTimeout(silence);
		silence = setTimeout(() => end.abort(new Error("it is silent")), patience);
	};
	alive();
	try {
		const answer = await ask("/events", { headers: { ...authorization, "Last-Event-ID": String(seen) }, signal: end.signal });
		opened();
		for await (const data of parse(pieces(answer.body, alive))) take(JSON.parse(data));
	} finally {
		clearTimeout(silence);
	}
}

async function* pieces(body, alive) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	const broken = () => ({ done: true });
	for (let read; !(read = await reader.read().catch(broken)).done;) {
		alive();
		yield read.value;
	}
}
