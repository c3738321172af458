// Package render measures what marks do to a page: a note with pending suggestions must still look like the note. A
// program of Node (render.mjs: markdown-it, GFM, and what Obsidian adds) renders notes, the tests compare the pages.
//
// # When a page is broken
//
// An edit has three texts: the original, the pending text, in which the lens has marked the edit, and the accepted text.
// The page of a text is the sequence of its blocks: front matter, or a token of Markdown's top level with all that is in
// it. A block has a source, which is its lines without blank ones at their end, and a look, which is its HTML. Delimiters
// of marks ({++ ++} {-- --}) are text, as Obsidian shows them without a plugin. In prose, that is in paragraphs, items and
// cells, they may stand beside text that did not change: there the look has them left out, and blanks and line breaks at
// the ends with them. In headings, titles of callouts, code, formulas, comments, HTML and destinations of links
// they are part of the look. Footnotes stay where they are defined, and are shown by their labels.
//
// The unchanged blocks of an edit are a common subsequence of the original and the accepted page: of blocks with the same
// source and the same look, one with the most lines. If there is one that is also a subsequence of the looks of the pending
// page, nothing is broken. Otherwise those of its blocks are broken that a longest common subsequence with the looks of the
// pending page leaves out, at least one of them. So blocks may move, change, come and go, but what stays
// has to be seen as before and in the same order, and has to be a block of its own: two quotes that became one are broken,
// and so is a paragraph that became a heading. What the pending page shows in addition does not matter.
//
// Two blocks of one source can have different looks, since a definition elsewhere changed; they are changed blocks. A block
// that moved beside others is no unchanged one where the subsequence has the others. If blocks changed their order, the lens
// may move others than the subsequence does: a block whose lines stand whole in one deletion and in one addition is not
// broken then.
//
// A construct is lost where tables, code, formulas, callouts, HTML or comments are fewer on the pending page than on both
// others. That counts changed blocks, too: a table whose delimiter row was marked is text while the change is pending.
//
// # Boxed in
//
// A block that stays can be boxed in: the change touches it, and no mark can stand there. Text behind a closing fence that ends a note
// without a line break is an example: the line break is new, so it is in the mark, and the mark begins on the line of the fence.
// Whether that is so is found out by trying (room_test.go): each stretch between blocks that stay is replaced whole, with the mark
// at each place where it can begin and end. If all of that breaks a block, the edit is counted as boxed in and not as broken.
// Blocks that stay are not written again for this, nor are lines that show nothing, such as definitions of links.
//
// # Edits
//
// TestMarks makes edits of each kind on the notes of the sample vault and on Markdown files of the npm packages that the
// tests install. An edit depends on the seed, its number and the notes. Where a note lacks what a kind changes, it is put
// in before. "make marks" runs many of them and reports; these flags say what is run:
//
//	go test ./tests/render -run '^TestMarks$' -count=1 -v -edits=5000 -kind=cell,callout -seed=7 -show=3
package render
