// Renders notes. One JSON request per input line, one JSON answer per output line, in order:
//   {"text": "...", "html": true}  ->  [[kind, from, to, hash, html], ...]
// An element is a block: what it is, the lines that it has in the text, from 0, and what it looks like. The HTML itself
// is there only if it was asked for. Delimiters of marks that are shown as text in prose are left out of the HTML.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import MarkdownIt from "markdown-it";
import footnote from "markdown-it-footnote";
import highlight from "markdown-it-mark";
import taskLists from "markdown-it-task-lists";
import { obsidian } from "./obsidian.mjs";

const md = new MarkdownIt({ html: true, breaks: true }).use(footnote).use(highlight).use(obsidian).use(taskLists);
// Footnotes stay where they are defined, and are shown by their labels: numbers change with every other footnote.
md.core.ruler.disable("footnote_tail");
const { escapeHtml } = md.utils;
const { rules } = md.renderer;
rules.footnote_ref = (tokens, i) => `<x-ref>${escapeHtml(tokens[i].meta.label ?? "inline " + tokens[i].meta.id)}</x-ref>`;
rules.footnote_reference_open = (tokens, i) => `<x-footnote label="${escapeHtml(tokens[i].meta.label)}">`;
rules.footnote_reference_close = () => "</x-footnote>\n";

const delimiters = /\{\+\+|\+\+\}|\{--|--\}/g;
const isBreak = (t) => t.type === "softbreak" || t.type === "hardbreak";

// prose is inline content without the delimiters of marks, and without the blanks and breaks that they leave at its ends.
function prose(children) {
  let out = [];
  for (const t of children) {
    if (t.type !== "text" || !t.content) {
      out.push(t);
      continue;
    }
    const content = t.content.replace(delimiters, "");
    if (content) out.push(content === t.content ? t : Object.assign(Object.create(t), { content }));
  }
  while (out.length && isBreak(out[0])) out.shift();
  while (out.length && isBreak(out.at(-1))) out.pop();
  const trim = (i, trimmed) => {
    if (out[i]?.type === "text") out[i] = Object.assign(Object.create(out[i]), { content: trimmed(out[i].content) });
  };
  trim(0, (s) => s.trimStart());
  trim(out.length - 1, (s) => s.trimEnd());
  return out;
}

const inProse = new Set(["paragraph_open", "td_open", "th_open"]);

function html(tokens, env) {
  let out = "";
  for (const [i, t] of tokens.entries()) {
    if (t.type === "inline") {
      const title = t.meta?.title ?? 0;
      if (title) out += "<x-title>" + md.renderer.renderInline(t.children.slice(0, title), md.options, env) + "</x-title>";
      const rest = t.children.slice(title);
      out += md.renderer.renderInline(inProse.has(tokens[i - 1].type) ? prose(rest) : rest, md.options, env);
    } else if (rules[t.type]) {
      out += rules[t.type](tokens, i, md.options, env, md.renderer);
    } else {
      out += md.renderer.renderToken(tokens, i, md.options);
    }
  }
  return out;
}

const kinds = {
  bullet_list_open: "list", ordered_list_open: "list", table_open: "table", heading_open: "heading", paragraph_open: "paragraph",
  fence: "code", code_block: "code", html_block: "html", hr: "rule", footnote_reference_open: "footnote", math: "math", comment: "comment",
};

function kindOf(token) {
  if (token.type === "blockquote_open") return token.meta?.callout ? "callout" : "quote";
  return kinds[token.type] ?? token.type;
}

// A block of front matter is closed; its lines are left empty for the rest.
const frontMatter = /^---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|$)/;

function blocks(text, withHTML) {
  text = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const out = [];
  const block = (kind, from, to, look) => {
    const hash = createHash("sha1").update(look).digest("base64").slice(0, 16);
    out.push(withHTML ? [kind, from, to, hash, look] : [kind, from, to, hash]);
  };
  const matter = frontMatter.exec(text)?.[0];
  if (matter) {
    const lines = matter.split("\n").length - (matter.endsWith("\n") ? 1 : 0);
    block("front matter", 0, lines, matter.trimEnd());
    text = "\n".repeat(lines) + text.slice(matter.length);
  }
  const env = {};
  const tokens = md.parse(text, env);
  for (let i = 0; i < tokens.length; ) {
    let end = i;
    let depth = 0;
    let [from, to] = [Infinity, 0];
    do {
      const t = tokens[end++];
      depth += t.nesting;
      if (t.map) [from, to] = [Math.min(from, t.map[0]), Math.max(to, t.map[1])];
    } while (depth > 0 && end < tokens.length);
    if (to === 0) [from, to] = [0, 0];
    block(kindOf(tokens[i]), from, to, html(tokens.slice(i, end), env));
    i = end;
  }
  return out;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { text, html } = JSON.parse(line);
  process.stdout.write(JSON.stringify(blocks(text, html)) + "\n");
}
