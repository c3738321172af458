// Opens review pages in one Chromium, for all tests of a package. It listens on the Unix socket that is the first
// argument; the second is Chromium's path. Each connection has cookies, tabs and a cache of its own. It sends the address
// of a review page first, and then lines that say what to do, one after the other:
//
//	press KEY       a key, as a person presses it
//	keys TEXT       types TEXT key by key, wherever the focus is
//	type TEXT       replaces what the focused field holds
//	lose            takes the focus away, as a field does that goes
//	click LABEL     the first button that begins with that label
//	beside TEXT > LABEL        clicks that button beside the text that holds TEXT
//	twice beside TEXT > LABEL  clicks it twice, as with a nervous finger
//	focus TEXT      the first button beside the text that holds TEXT, as the Tab key does
//	scroll END      to the "top" or "bottom" of the note, as a wheel does
//	select TEXT     selects it where it stands in the note
//	choose LABEL    whose suggestions are shown
//	look W H SCHEME the size of the window, and whether it is "light" or "dark"
//	wait TEXT       until the page shows TEXT
//	tab N           goes on in the Nth tab, which is opened if there is none
//	reload          loads the tab anew
//	leave           tries to reload the tab, and stays if the browser asks
//	hold PATH       keeps the answers of the API to what begins with a path from the page
//	release         lets the page have them
//	shot FILE       draws what is to be seen
//	decide KEY N    presses the key N times, and measures how long it takes until the page shows what came of it
//	numbers         finds those that a line break divides
//	axe             checks what is to be seen for people who cannot see it, with axe-core
//	bytes           counts from here what the page is sent
//	memory          measures the memory that is a tab's alone: that of the largest, of all connections
//
// After each line it answers what the page shows, as one line of JSON. It prints "ready" once it listens, and ends with
// its stdin.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const [socket, executablePath] = process.argv.slice(2);
const patience = 30_000 * (process.env.RELAYFS_TEST_TIMESCALE || 1); // ms; bounds a hang, measures nothing
const browser = await chromium.launch({
	executablePath,
	headless: true,
	args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync"],
});

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

// drive does for one connection what its lines say.
async function drive(connection) {
	const context = await browser.newContext({ viewport: { width: 1000, height: 800 } });
	context.setDefaultTimeout(patience);
	const lines = createInterface({ input: connection })[Symbol.asyncIterator]();
	const { value: address } = await lines.next();

	const errors = []; // scripts that failed, and what the page may not do

	context.on("page", (tab) => {
		tab.on("pageerror", (err) => errors.push(err.message));
		tab.on("console", (m) => m.text().includes("Content Security Policy") && errors.push(m.text()));
		tab.on("request", (r) => !/^(data:|about:)/.test(r.url()) && !r.url().startsWith(new URL(address).origin) && errors.push(r.url()));
	});
	const tabs = [await context.newPage()];
	let page = tabs[0];

	let findings = []; // of axe, the last time
	let broken = []; // numbers, the last time

	// check asks axe-core about all in light colours, and about the colours in dark ones: nothing else depends on them.
	async function check(tab) {
		if (!await tab.evaluate(() => "axe" in window)) await tab.evaluate(axe);
		const { violations } = await tab.evaluate(() => window.axe.run(document, {
			resultTypes: ["violations"], ...matchMedia("(prefers-color-scheme: dark)").matches && { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } },
		}));
		return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join("; ")}`);
	}

	const measured = { ready: 0, decided: [], bytes: 0, memory: 0 }; // ms, ms, bytes, MB

	// open is over when the list, or why there is none, is drawn.
	async function open(tab) {
		await count(tab);
		await tab.goto(address);
		await drawn(tab);
	}

	async function drawn(tab) {
		const ready = await tab.waitForFunction(() => !document.getElementById("count").textContent.startsWith("reading") && performance.now(), undefined, { timeout: patience });
		measured.ready = await ready.jsonValue();
	}

	let release; // lets what is held go on

	// decide presses a key, and returns the time until a frame has shown what came of it: that the count fell below what it
	// was at the key. It may rise before the key, and again at once, as relayfs refuses a decision.
	async function decide(key) {
		await page.evaluate((limit) => {
			const count = document.getElementById("count");
			window.decisionShown = new Promise((resolve, reject) => {
				setTimeout(() => reject(new Error("the page shows no decision")), limit);
				document.addEventListener("keydown", () => {
					const pressed = performance.now(), before = parseInt(count.textContent);
					const drawn = new MutationObserver(() => {
						if (parseInt(count.textContent) >= before) return;
						drawn.disconnect();
						requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - pressed)));
					});
					drawn.observe(count, { childList: true });
				}, { capture: true, once: true });
			});
		}, patience);
		await page.keyboard.press(key);
		return page.evaluate(() => window.decisionShown);
	}

	// count adds up what the tab is sent, as it comes over the wire. Chromium knows that of a stream only if it is asked
	// before the stream begins.
	async function count(tab) {
		const cdp = await context.newCDPSession(tab);
		await cdp.send("Network.enable");
		cdp.on("Network.dataReceived", (ev) => { measured.bytes += ev.encodedDataLength; });
	}

	// memory is that of the renderer, after its garbage is collected, in MB. What it shares with others is not counted.
	async function memory(tab) {
		await (await context.newCDPSession(tab)).send("HeapProfiler.collectGarbage");
		const cdp = await browser.newBrowserCDPSession();
		const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
		await cdp.detach();
		const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => {
			const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
			return ["Private_Clean", "Private_Dirty"].reduce((sum, k) => sum + Number(new RegExp(`${k}:\\s+(\\d+)`).exec(rollup)[1]), 0) / 1024;
		});
		return Math.max(...sizes);
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
				question: document.getElementById("question").open ? document.getElementById("asked").textContent : "",
				open: document.querySelector("button.place[aria-current]")?.title ?? "",
				badge: document.querySelector(".badge")?.textContent ?? "",
				suggestions: all(".card").map((e) => text(e.closest(".row").querySelector(".text"))),
				who: all("#who option").map((e) => e.textContent),
				gists: all(".side .gist").map((e) => e.textContent),
				comments: all(".comment").map((e) => e.textContent),
				buttons: all("button:not(.place)").map((e) => e.textContent),
				active: all("main .text :is(script, a, img:not([src^='data:image/']), iframe, object, video, audio, form, style, link)").length,
				images: all("main .text img").map((e) => [e.alt, e.complete && e.naturalWidth, Math.round(e.getBoundingClientRect().width)].join(" ")),
				formulas: all("main .text math").map((e) => (e.getAttribute("display") === "block" ? "block " : "") + e.querySelector("annotation").textContent),
				callouts: all("main .text .callout").map((e) => `${e.className.replace("callout ", "")}: ${text(e.firstElementChild)}`),
				focused: document.activeElement.tagName,
				typed: document.activeElement.value ?? "",
				listed: document.activeElement.closest("button.place")?.title ?? "",
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
				small: innerWidth > 500 ? null : all("button, select, input, textarea, a[href]").filter((e) => e.checkVisibility() && e.offsetHeight > 0 && e.offsetHeight < 44).map((e) => e.textContent || e.id),
				overflow: document.documentElement.scrollWidth - innerWidth,
			};
		});
	}

	// wait looks at the page's text after each change. Polling would take the processor from the page.
	function wait(text) {
		return page.evaluate(([text, patience]) => new Promise((resolve, reject) => {
			let next;
			const look = () => {
				next = undefined;
				if (!document.body.textContent.includes(text)) return;
				changes.disconnect();
				resolve();
			};
			const changes = new MutationObserver(() => { next ??= setTimeout(look, 20); });
			changes.observe(document.body, { childList: true, characterData: true, subtree: true });
			setTimeout(() => reject(new Error(`not shown after ${patience} ms`)), patience);
			look();
		}), [text, patience]);
	}

	function beside(where) {
		const [text, label] = where.split(" > ");
		return button(page.locator(".row").filter({ hasText: text }), label);
	}

	// button is the first whose text, or whose label for those who do not see it, begins so. Playwright's search by role
	// computes the names of all buttons, which takes seconds in a large note.
	function button(within, label) {
		const labelled = within.locator(`button[aria-label^=${JSON.stringify(label)}]`);
		return within.locator("button").filter({ hasText: new RegExp(`^${label}`) }).or(labelled).filter({ visible: true }).first();
	}

	const commands = {
		press: (key) => page.keyboard.press(key),
		keys: (text) => page.keyboard.type(text, { delay: 40 }),
		lose: () => page.evaluate(() => document.activeElement.blur()),
		type: (text) => page.locator(":focus").fill(text),
		click: (label) => button(page, label).click(),
		beside: (where) => beside(where).click(),
		twice: (where) => beside(where.replace("beside ", "")).dblclick(),
		focus: (text) => page.locator(".row").filter({ hasText: text }).locator(".card button").first().focus(),
		scroll: (end) => page.evaluate((y) => document.getElementById("note").scrollTo(0, y), end === "top" ? 0 : 1e6),
		select: (text) => page.evaluate((t) => {
			const walk = document.createTreeWalker(document.getElementById("note"), NodeFilter.SHOW_TEXT);
			for (let n; (n = walk.nextNode());) {
				const at = n.data.indexOf(t);
				if (at < 0 || !n.parentElement.closest(".text")) continue;
				getSelection().setBaseAndExtent(n, at, n, at + t.length);
				return;
			}
			throw new Error(`${t} is not in the note`);
		}, text),
		choose: (label) => page.locator("#who").selectOption({ label }),
		look: async (how) => {
			const [width, height, colorScheme] = how.split(" ");
			await page.setViewportSize({ width: Number(width), height: Number(height) });
			await page.emulateMedia({ colorScheme });
		},
		wait,
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
			await drawn(page);
		},
		async leave() {
			const asked = page.waitForEvent("dialog").then((d) => d.dismiss());
			await Promise.all([asked, page.evaluate(() => { setTimeout(() => location.reload()); })]);
		},
		async hold(path) {
			const released = new Promise((resolve) => { release = resolve; });
			await page.route((url) => url.pathname.startsWith("/api" + path), (route) => released.then(() => route.continue()));
		},
		async release() {
			release();
			await page.unrouteAll({ behavior: "wait" });
		},
		shot: (path) => page.screenshot({ path }),
		async decide(how) {
			const [key, n] = how.split(" ");
			for (let i = 0; i < Number(n); i++) measured.decided.push(await decide(key));
		},
		numbers: async () => {
			broken = await page.evaluate(() => {
				const found = [];
				const walk = document.createTreeWalker(document.getElementById("note"), NodeFilter.SHOW_TEXT);
				for (let n; (n = walk.nextNode());) {
					for (const { 0: number, index } of n.data.matchAll(/\d[\d.,:/-]*\d/g)) {
						const range = document.createRange();
						range.setStart(n, index);
						range.setEnd(n, index + number.length);
						if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.push(number);
					}
				}
				return found;
			});
		},
		axe: async () => { findings = await check(page); },
		bytes: async () => { measured.bytes = 0; },
		memory: async () => { measured.memory = await memory(page); },
	};

	try {
		await open(page);
		for await (const line of lines) {
			const [, verb, rest] = /^(\w+) ?(.*)$/.exec(line);
			try {
				await commands[verb](rest);
			} catch (err) {
				throw new Error(`${err.message}\nthe page shows ${JSON.stringify(await shown())}`);
			}
			connection.write(JSON.stringify({ ...await shown(), errors, findings, broken, measured }) + "\n");
		}
	} finally {
		await context.close();
	}
}

const server = createServer((connection) => {
	connection.on("error", () => {}); // the test has ended
	drive(connection).catch((err) => connection.write(JSON.stringify({ failed: String(err.message) }) + "\n")).finally(() => connection.end());
});
server.listen(socket, () => console.log("ready"));
process.stdin.resume().on("end", async () => {
	await browser.close();
	process.exit(0);
});
