// What Obsidian adds to Markdown and npm has no plugin for that is exact at the ends of lines: comments, formulas,
// callouts, wikilinks and block ids. Whatever stands behind a closing %% or $$ on its line unmakes the block here.

function lineOf(state, line) {
  return state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]);
}

// fenced is a block that a line beginning with mark opens, and the next mark closes, behind which the line ends.
function fenced(mark, name) {
  return (state, start, end, silent) => {
    if (state.sCount[start] - state.blkIndent >= 4) return false;
    const first = lineOf(state, start);
    if (!first.startsWith(mark)) return false;
    let line = start;
    let text = first.slice(mark.length);
    let at;
    const content = [];
    const least = Math.min(state.sCount[start], state.blkIndent); // like a fence, one without the indentation of a list ends it
    while ((at = text.indexOf(mark)) < 0) {
      content.push(text);
      if (++line >= end || (state.sCount[line] < least && !state.isEmpty(line))) return false;
      text = lineOf(state, line);
    }
    if (text.slice(at + mark.length).trim() !== "") return false;
    if (silent) return true;
    content.push(text.slice(0, at));
    const token = state.push(name, "", 0);
    token.content = content.join("\n");
    token.map = [start, line + 1];
    state.line = line + 1;
    return true;
  };
}

function inlineComment(state, silent) {
  if (!state.src.startsWith("%%", state.pos)) return false;
  const end = state.src.indexOf("%%", state.pos + 2);
  if (end < 0 || end + 2 > state.posMax) return false;
  if (!silent) state.push("inline_comment", "", 0).content = state.src.slice(state.pos + 2, end);
  state.pos = end + 2;
  return true;
}

function inlineMath(state, silent) {
  const found = /^(\$\$?)(?!\s)((?:[^$\\]|\\.)+?)(?<!\s)\1(?!\d)/s.exec(state.src.slice(state.pos, Math.min(state.posMax, state.pos + 2000)));
  if (!found) return false;
  if (!silent) {
    const token = state.push("inline_math", "", 0);
    token.content = found[2];
    token.markup = found[1];
  }
  state.pos += found[0].length;
  return true;
}

function wikilink(state, silent) {
  let at = state.pos;
  const embed = state.src[at] === "!";
  if (embed) at++;
  if (!state.src.startsWith("[[", at)) return false;
  const end = state.src.indexOf("]]", at + 2);
  if (end < 0 || end + 2 > state.posMax) return false;
  const content = state.src.slice(at + 2, end);
  if (content === "" || /[\n[\]]/.test(content)) return false;
  if (!silent) {
    const token = state.push("wikilink", "", 0);
    token.content = content;
    token.markup = embed ? "!" : "";
  }
  state.pos = end + 2;
  return true;
}

// blockIds makes tokens of ids at the ends of paragraphs.
function blockIds(state) {
  for (const [i, token] of state.tokens.entries()) {
    if (token.type !== "inline" || state.tokens[i - 1].type !== "paragraph_open" || !token.children.length) continue;
    const last = token.children.at(-1);
    const found = last.type === "text" && /^(.*?)(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$/s.exec(last.content);
    if (!found) continue;
    last.content = found[1];
    const id = new state.Token("block_id", "", 0);
    id.content = found[2];
    token.children.push(id);
  }
}

// callouts marks quotes that are callouts; meta.title is how many inline tokens the title has.
function callouts(state) {
  const { tokens } = state;
  for (let i = 0; i + 2 < tokens.length; i++) {
    if (tokens[i].type !== "blockquote_open" || tokens[i + 2].type !== "inline") continue;
    const found = /^\[!([^\]\n]+)\]([+-]?)/.exec(tokens[i + 2].content);
    if (!found) continue;
    tokens[i].attrSet("data-callout", found[1].toLowerCase() + found[2]);
    tokens[i].meta = { callout: true };
    const { children } = tokens[i + 2];
    const end = children.findIndex((t) => t.type === "softbreak" || t.type === "hardbreak");
    tokens[i + 2].meta = { title: end < 0 ? children.length : end };
  }
}

export function obsidian(md) {
  const alt = ["paragraph", "reference", "blockquote", "list"];
  md.block.ruler.before("fence", "comment", fenced("%%", "comment"), { alt });
  md.block.ruler.before("fence", "math", fenced("$$", "math"), { alt });
  md.inline.ruler.before("escape", "inline_comment", inlineComment);
  md.inline.ruler.before("escape", "inline_math", inlineMath);
  md.inline.ruler.before("link", "wikilink", wikilink);
  md.core.ruler.push("block_ids", blockIds);
  md.core.ruler.push("callouts", callouts);

  const escape = md.utils.escapeHtml;
  for (const name of ["comment", "math", "inline_comment", "inline_math", "wikilink", "block_id"])
    md.renderer.rules[name] = (tokens, i) => `<x-${name}>${tokens[i].markup}${escape(tokens[i].content)}</x-${name}>`;
}
