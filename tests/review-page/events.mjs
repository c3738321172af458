// Reads a stream of Server-Sent Events on stdin in pieces of as many characters as the first argument says, with the
// parser of the review page, whose file is the second, and prints the data of its events as JSON.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const [size, file] = process.argv.slice(2);
const { parse } = await import("data:text/javascript," + encodeURIComponent(readFileSync(file, "utf8")));
const stream = await text(process.stdin);
const pieces = (async function* () {
	for (let i = 0; i < stream.length; i += Number(size)) yield stream.slice(i, i + Number(size));
})();
const events = [];
for await (const data of parse(pieces)) events.push(data);
console.log(JSON.stringify(events));
