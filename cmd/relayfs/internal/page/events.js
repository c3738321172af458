// A stream of Server-Sent Events, read with fetch: EventSource cannot send the token.

// parse yields the data of the events in a stream of pieces of text. Lines end in \n, as relayfs ends them.
export async function* parse(pieces) {
	let line = []; // as far as it has come
	let data = [];
	for await (const piece of pieces) {
		const [end, ...others] = piece.split("\n");
		line.push(end);
		for (const next of others) {
			const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line.join(""));
			line = [next];
			if (field === "data") data.push(value);
			else if (field === "" && value === "" && data.length) {
				yield data.join("\n");
				data = [];
			}
		}
	}
}
