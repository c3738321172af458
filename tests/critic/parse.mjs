// Reads CriticMarkup with two parsers of other people. One JSON string per input line; one JSON object per output line:
//   {"regex": [[kind, from, to], ...], "lezer": [[kind, from, to], ...]}
// kind is "addition", "deletion", "substitution", "comment" or "highlight"; offsets are UTF-16 units, in order.
// A mark without its closing delimiter, which the Lezer parser reports as an error, is left out.
import { createInterface } from "node:readline";
import { parse } from "critic-markup";
import { parser } from "lang-criticmarkup/dist/critic.js";

function withRegex(text) {
  return parse(text).map((t) => [t.type, t.start, t.end]);
}

function withLezer(text) {
  const marks = [];
  parser.parse(text).iterate({
    enter(node) {
      const kind = node.name.toLowerCase();
      if (["addition", "deletion", "substitution", "comment", "highlight"].includes(kind)) {
        if (node.node.getChild(node.name + "End")) marks.push([kind, node.from, node.to]);
        return false;
      }
    },
  });
  return marks;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const text = JSON.parse(line);
  process.stdout.write(JSON.stringify({ regex: withRegex(text), lezer: withLezer(text) }) + "\n");
}
