// What the page asks relayfs, with the token that only the page's address has.

const token = location.hash.slice(1);
const patience = 60_000; // ms, far longer than relayfs holds an answer back

// api asks for a path; with a body it posts that. The error of a refusal has its status.
export async function api(path, body) {
	const request = { headers: { Authorization: "Bearer " + token } };
	if (body !== undefined) {
		request.method = "POST";
		request.headers["Content-Type"] = "application/json";
		request.body = JSON.stringify(body);
	}
	if (path.startsWith("/delta")) request.signal = AbortSignal.timeout(patience);
	const answer = await fetch("/api" + path, request).catch((err) => {
		throw new Error(`relayfs review does not answer (${err.message}); start it again, and this page goes on by itself`);
	});
	const text = await answer.text();
	if (!answer.ok) throw Object.assign(new Error(text.trim() || answer.statusText), { status: answer.status });
	return JSON.parse(text);
}
