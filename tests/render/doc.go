// Package render tests how marks affect the rendered page: a note with pending suggestions must still look like the
// note. A Node program (render.mjs: markdown-it, GFM, and Obsidian's additions) renders notes; the tests compare the
// pages.
//
// # When a page is broken
//
// An edit has three texts: the original text, the pending text, in which the lens has marked the edit, and the accepted
// text. The page of a text is the sequence of its blocks: front matter, or a top-level Markdown token with its content.
// A block has a source, which is its lines without trailing blank lines, and a look, which is its HTML. Obsidian
// without a plugin shows delimiters of marks ({++ ++} {-- --}) as text. In prose, that is, in paragraphs, items and
// cells, delimiters may be next to unchanged text: there the look omits them, and adjacent blanks, and line breaks at
// the ends. In headings, titles of callouts, code, formulas, comments, HTML and destinations of links they are part of
// the look. Footnotes stay where they are defined, and are shown by their labels.
//
// The unchanged blocks of an edit are a common subsequence of the original and the accepted page: blocks with the same
// source and the same look. If there are several such subsequences, the test takes one with the most lines. If the
// looks of these blocks are a subsequence of the looks of the pending page, nothing is broken. Otherwise the test takes
// a longest common subsequence of the looks of these blocks and of the pending page; the blocks that are not in it are
// broken. So blocks may move, change, appear and disappear, but an unchanged block must look as before, be in the same
// order, and be a separate block. For example, two quotes that became one are broken, and so is a paragraph that became
// a heading. Additional content of the pending page does not matter.
//
// Two blocks with the same source can have different looks if a definition elsewhere changed; they count as changed. If
// a block moved past other blocks and the subsequence contains the others, it is not an unchanged block. If blocks
// changed their order, the lens may move other blocks than the subsequence does. In that case a block whose lines are
// completely in one deletion and in one addition is not broken.
//
// A construct is lost if the pending page has fewer tables, code blocks, formulas, callouts, HTML or comments than both
// other pages. This includes changed blocks: a table whose delimiter row was marked is text while the change is
// pending.
//
// # Boxed in
//
// An unchanged block is boxed in if the change touches it and no mark can be placed there. An example is text after a
// closing fence at the end of a note without a line break: the line break is new, so it is in the mark, and the mark
// begins on the line of the fence. To find such blocks, the test replaces each range between unchanged blocks
// completely, with the mark at each place where it can begin and end (room_test.go). If all attempts break a block, the
// edit counts as boxed in and not as broken. The attempts do not rewrite unchanged blocks, nor lines without output,
// such as definitions of links.
//
// # Edits
//
// TestMarks makes edits of each kind on the notes of the sample vault and on Markdown files of the npm packages that
// the tests install. An edit depends on the seed, its number and the notes. If a note lacks the element that a kind
// changes, the test first inserts it. "make marks" runs many edits and reports; these flags select them:
//
//	go test ./tests/render -run '^TestMarks$' -count=1 -v -edits=5000 -kind=cell,callout -seed=7 -show=3
package render
