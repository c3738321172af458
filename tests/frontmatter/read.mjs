// Reads the front matter of notes by two other readers: yaml (YAML 1.2, which
// Obsidian uses) and gray-matter (js-yaml, YAML 1.1 in parts). Standard input is a
// JSON object of texts by path; standard output has, for each path,
// {yaml: {data} or {error}, matter: {data} or {error}}.
import { readFileSync } from 'node:fs'
import matter from 'gray-matter'
import { parse } from 'yaml'

// What JSON cannot say is said as YAML writes it; a Date is {date: milliseconds}.
function plain(v) {
	if (typeof v === 'number' && !Number.isFinite(v)) return Number.isNaN(v) ? '.nan' : v > 0 ? '.inf' : '-.inf'
	if (v instanceof Date) return { date: v.getTime() }
	if (Array.isArray(v)) return v.map(plain)
	if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, plain(x)]))
	return v ?? null
}

function attempt(read) {
	try {
		return { data: plain(read() ?? {}) }
	} catch (e) {
		return { error: String(e.message) }
	}
}

const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$(?![\s\S]))/m
const out = {}
for (const [path, text] of Object.entries(JSON.parse(readFileSync(0, 'utf8')))) {
	const found = block.exec(text)
	const yaml = found && found.index === 0 ? found[1] : ''
	out[path] = {
		yaml: attempt(() => parse(yaml, { logLevel: 'silent' })),
		// An options object keeps gray-matter from answering from its cache.
		matter: attempt(() => matter(text, {}).data),
	}
}
console.log(JSON.stringify(out))
