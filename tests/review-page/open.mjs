// Opens the review page at the address that is the first argument in Chromium, and
// does what the lines on stdin say, one after the other:
//
//	press KEY       a key, as a person presses it
//	type TEXT       replaces what the focused field holds
//	click LABEL     the first button that begins with that label
//	beside TEXT > LABEL        clicks that button beside the text that holds TEXT
//	twice beside TEXT > LABEL  clicks it twice, as with a nervous finger
//	focus TEXT      the first button beside the text that holds TEXT, as the Tab key does
//	scroll END      to the "top" or "bottom" of the note, as a wheel does
//	choose LABEL    whose suggestions are shown
//	look W H SCHEME the size of the window, and whether it is "light" or "dark"
//	wait TEXT       until the page shows TEXT
//	tab N           goes on in the Nth tab, which is opened if there is none
//	reload          loads the tab anew
//	shot FILE       draws what is to be seen
//
// After each line it prints what the page shows, as one line of JSON.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [address, executablePath] = process.argv.slice(2);
const patience = 30_000 * (process.env.RELAYFS_TEST_TIMESCALE || 1); // ms; bounds a hang, measures nothing
const profile = mkdtempSync(join(tmpdir(), "relayfs-chromium-"));
const context = await chromium.launchPersistentContext(profile, {
	executablePath,
	headless: true,
	viewport: { width: 1000, height: 800 },
	args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync"],
});
context.setDefaultTimeout(patience);

const errors = []; // scripts that failed, and what the page may not do
const asked = []; // questions, each of which is answered with yes
context.on("page", watch);
context.pages().forEach(watch);
const tabs = [context.pages()[0] ?? await context.newPage()];
let page = tabs[0];

function watch(tab) {
	tab.on("pageerror", (err) => errors.push(err.message));
	tab.on("console", (m) => m.text().includes("Content Security Policy") && errors.push(m.text()));
	tab.on("request", (r) => !/^(data:|about:)/.test(r.url()) && !r.url().startsWith(new URL(address).origin) && errors.push(r.url()));
	tab.on("dialog", (d) => {
		asked.push(d.message());
		d.accept().catch(() => {});
	});
}

// open is over when the list, or why there is none, is drawn.
async function open(tab) {
	await tab.goto(address);
	await tab.waitForFunction(() => !document.getElementById("count").textContent.startsWith("reading"), undefined, { timeout: patience });
}

function shown() {
	return page.evaluate(() => {
		const marks = { DEL: ["{--", "--}"], INS: ["{++", "++}"] };
		const sides = (n) => marks[n.nodeName] ?? (n.classList?.contains("old") ? marks.DEL : n.classList?.contains("new") ? marks.INS : undefined);
		const text = (e) => [...e.childNodes].map((n) => sides(n)?.join(n.textContent) ?? (n.childNodes.length ? text(n) : n.textContent)).join("");
		const all = (selector) => [...document.querySelectorAll(selector)];
		const box = (e) => { const r = e.getBoundingClientRect(); return { top: r.top, bottom: r.bottom }; };
		const card = document.activeElement.closest(".card");
		const note = document.getElementById("note");
		const row = [...note.querySelectorAll(".row")].find((e) => box(e).top >= box(note).top && e.querySelector(".card"));
		return {
			count: document.getElementById("count").textContent,
			message: document.getElementById("message").textContent,
			places: all("button.place").map((e) => e.title),
			open: document.querySelector("button.place[aria-current]")?.title ?? "",
			suggestions: all(".card").map((e) => text(e.closest(".row").querySelector(".text"))),
			comments: all(".comment").map((e) => e.textContent),
			buttons: all("button:not(.place)").map((e) => e.textContent),
			active: all("main :is(script, a, img, iframe, object, video, audio, form, style, link)").length,
			focused: document.activeElement.tagName,
			typed: document.activeElement.value ?? "",
			card: card?.closest(".row").querySelector(".text").textContent ?? "",
			scrolled: note.scrollTop,
			row: row?.querySelector(".text").textContent ?? "",
			rowAt: row ? box(row) : null,
			rightToLeft: all(".text").filter((e) => getComputedStyle(e).direction === "rtl").length,
			hints: document.getElementById("keys").getBoundingClientRect().height,
			cardAt: card ? box(card) : null,
			noteAt: box(note),
			messageAt: box(document.getElementById("message")),
			height: innerHeight,
			overflow: document.documentElement.scrollWidth - innerWidth,
		};
	});
}

function beside(where) {
	const [text, label] = where.split(" > ");
	return page.locator(".row").filter({ hasText: text }).getByRole("button", { name: new RegExp(`^${label}`) }).first();
}

const commands = {
	press: (key) => page.keyboard.press(key),
	type: (text) => page.locator(":focus").fill(text),
	click: (label) => page.getByRole("button", { name: new RegExp(`^${label}`) }).first().click(),
	beside: (where) => beside(where).click(),
	twice: (where) => beside(where.replace("beside ", "")).dblclick(),
	focus: (text) => page.locator(".row").filter({ hasText: text }).locator(".card button").first().focus(),
	scroll: (end) => page.evaluate((y) => document.getElementById("note").scrollTo(0, y), end === "top" ? 0 : 1e6),
	choose: (label) => page.locator("#who").selectOption({ label }),
	look: async (how) => {
		const [width, height, colorScheme] = how.split(" ");
		await page.setViewportSize({ width: Number(width), height: Number(height) });
		await page.emulateMedia({ colorScheme });
	},
	wait: (text) => page.waitForFunction((t) => document.body.textContent.includes(t), text, { timeout: patience }),
	async tab(n) {
		if (!tabs[n - 1]) {
			tabs[n - 1] = await context.newPage();
			await open(tabs[n - 1]);
		}
		page = tabs[n - 1];
		await page.bringToFront();
	},
	async reload() {
		await page.reload();
		await page.waitForFunction(() => !document.getElementById("count").textContent.startsWith("reading"), undefined, { timeout: patience });
	},
	shot: (path) => page.screenshot({ path }),
};

try {
	await open(page);
	for await (const line of createInterface({ input: process.stdin })) {
		const [, verb, rest] = /^(\w+) ?(.*)$/.exec(line);
		await commands[verb](rest).catch(async (err) => {
			throw new Error(`${line}: ${err.message}\nthe page shows ${JSON.stringify(await shown())}`);
		});
		console.log(JSON.stringify({ ...await shown(), asked, errors }));
	}
} finally {
	await context.close();
	rmSync(profile, { recursive: true, force: true });
}
process.exit(0);
