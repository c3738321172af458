// Follows the review API as a program with an EventSource of others does: `node follow.mjs FILE`, where FILE is the
// review-page of the state folder. After each event it prints what is pending, as a line of JSON. The EventSource
// comes back by itself when a stream ends or nothing listens; after a refusal it is made anew.
import { EventSource } from "eventsource";
import { readFileSync } from "node:fs";

const [port, token] = readFileSync(process.argv[2], "utf8").trim().split(" ");
const pending = new Map(); // id -> suggestion
let taken = Promise.resolve(); // the last event: one follows another

function follow() {
	const events = new EventSource(`http://127.0.0.1:${port}/api/events`, {
		fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }),
	});
	events.onmessage = ({ data }) => { taken = taken.then(() => take(data)); };
	events.onerror = () => events.readyState === EventSource.CLOSED && setTimeout(follow, 500);
}

async function take(data) {
	const { paths } = JSON.parse(data);
	const query = paths.map((path) => "path=" + encodeURIComponent(path)).join("&");
	const { suggestions } = await read(`http://127.0.0.1:${port}/api/pending?${query}`);
	const below = (path) => paths.some((p) => p === "" || path === p || path.startsWith(p + "/"));
	for (const [id, s] of pending) if (s.line === 0 || below(s.path)) pending.delete(id);
	for (const s of suggestions) pending.set(s.id, s);
	console.log(JSON.stringify({ data, everything: paths.includes(""), pending: [...pending.keys()].sort() }));
}

// read asks until there is an answer: between two owners, and between two pages, there is none.
async function read(url) {
	for (;;) {
		const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } }).catch(() => undefined);
		if (answer?.ok) return answer.json();
		await new Promise((retry) => setTimeout(retry, 200));
	}
}

follow();
