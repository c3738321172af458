// Opens the review page at the address that is the first argument, and does what
// the lines on stdin say, one after the other:
//
//	press KEY       a key, as a person presses it on the page
//	type TEXT       replaces what the focused field holds
//	click LABEL     the first button with that label
//	wait TEXT       until the page shows TEXT
//
// After each line it prints what the page shows, as one line of JSON.
import { JSDOM, VirtualConsole } from "jsdom";
import { createInterface } from "node:readline";

const address = process.argv[2];
const patience = 30_000; // ms; bounds a hang, measures nothing
const errors = [];
const virtualConsole = new VirtualConsole();
virtualConsole.on("jsdomError", (err) => errors.push(err.message));
virtualConsole.on("error", (message) => errors.push(String(message)));

const dom = await JSDOM.fromURL(address, {
	runScripts: "dangerously",
	resources: "usable",
	pretendToBeVisual: true,
	virtualConsole,
	beforeParse(window) {
		// jsdom has no fetch of its own.
		window.fetch = (path, init) => fetch(new URL(path, address), init);
		window.confirm = () => true;
	},
});
const { window } = dom;
const { document } = window;

function shown() {
	const marks = { DEL: ["{--", "--}"], INS: ["{++", "++}"] };
	const text = (e) => [...e.childNodes].map((n) => (marks[n.nodeName] ? marks[n.nodeName].join(n.textContent) : n.textContent)).join("");
	return {
		count: document.getElementById("count").textContent,
		message: document.getElementById("message").textContent,
		headings: [...document.querySelectorAll("h2")].map((e) => e.firstChild.textContent),
		suggestions: [...document.querySelectorAll("article .text")].map(text),
		comments: [...document.querySelectorAll(".comment")].map((e) => e.textContent),
		scripts: document.querySelectorAll("main script").length,
		focused: document.activeElement.tagName,
		errors,
	};
}

async function until(what, holds) {
	const end = Date.now() + patience;
	while (!holds()) {
		if (Date.now() > end) throw new Error(`${what}: the page shows ${JSON.stringify(shown())}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

const commands = {
	press(key) {
		const ctrlKey = key.startsWith("Ctrl+");
		document.activeElement.dispatchEvent(
			new window.KeyboardEvent("keydown", { key: key.replace("Ctrl+", ""), ctrlKey, bubbles: true, cancelable: true }));
	},
	type(text) {
		document.activeElement.value = text;
		document.activeElement.dispatchEvent(new window.Event("input", { bubbles: true }));
	},
	click(label) {
		const button = [...document.querySelectorAll("button")].find((b) => b.textContent === label);
		if (!button) throw new Error(`no button ${label}`);
		button.click();
	},
	async wait(text) {
		await until(`wait ${text}`, () => document.body.textContent.includes(text));
	},
};

await until("load", () => document.getElementById("list") !== null && document.readyState === "complete");
for await (const line of createInterface({ input: process.stdin })) {
	const [, verb, rest] = /^(\w+) ?(.*)$/.exec(line);
	await commands[verb](rest);
	console.log(JSON.stringify(shown()));
}
window.close();
process.exit(0);
