package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
)

// Limits of read, as Claude Code documents them for its own tool.
const (
	defaultLines = 2000 // lines, when no limit is given
	maxLine      = 2000 // characters of a line
	// maxSuggestions bounds the block of pending suggestions, in bytes.
	maxSuggestions = 16 << 10
)

type readArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document, for example Folder/sub/Name.md"`
	Offset   int    `arg:"offset" min:"0" doc:"Line number to begin at, counted from 1. Give it only for documents too long to read at once"`
	Limit    int    `arg:"limit" min:"0" doc:"Number of lines to read. Give it only for documents too long to read at once"`
}

func read(ctx context.Context, s *Session, a readArgs) Result {
	p, v, err := s.note(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	list, err := s.server.ws.Suggestions(ctx, p)
	if err != nil {
		return failure(err)
	}
	known, _ := s.known(p)
	now, news := s.shownNow(p, known, v, list)
	s.remember(p, now)
	page := numbered(v.Text(), a.Offset, a.Limit)
	return text(slices.DeleteFunc([]string{page.text, pending(p, list), newsBlock(news), page.notice, notUTF8(v.Text())}, func(b string) bool { return b == "" })...)
}

// notUTF8 warns of a document that is shown otherwise than it is stored.
func notUTF8(doc string) string {
	if utf8.ValidString(doc) {
		return ""
	}
	return "[This document is not valid UTF-8: \ufffd stands for what cannot be shown. It cannot be edited.]"
}

// page is one part of a document, as a model is shown it.
type page struct {
	text   string
	notice string // how to get the rest, if something was cut
}

// numbered lays lines out as `cat -n` does: the number in six columns, a tab,
// the line. offset counts from 1; a limit of 0 means the default.
func numbered(doc string, offset, limit int) page {
	lines := splitLines(doc)
	switch {
	case len(lines) == 0:
		return page{text: "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"}
	case offset > len(lines):
		return page{text: fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). "+
			"The file has %d lines.</system-reminder>", offset, len(lines))}
	}
	first := max(offset, 1)
	last := len(lines)
	if limit == 0 {
		limit = defaultLines
	}
	last = min(last, first-1+limit)
	var b strings.Builder
	cut := false
	n := first
	for ; n <= last; n++ {
		line, shortened := cutLine(lines[n-1])
		if b.Len()+len(line)+8 > maxOutput-maxSuggestions-maxNews {
			break
		}
		cut = cut || shortened
		fmt.Fprintf(&b, "%6d\t%s\n", n, line)
	}
	return page{strings.TrimSuffix(b.String(), "\n"), cutNotice(first, n-1, len(lines), cut)}
}

// cutNotice says what of a document was not shown.
func cutNotice(first, last, total int, cut bool) string {
	var parts []string
	if last < total {
		parts = append(parts, fmt.Sprintf("Showing lines %d-%d of %d. Call read with offset: %d to see more.", first, last, total, last+1))
	}
	if cut {
		parts = append(parts, fmt.Sprintf("Lines over %d characters were cut. Use grep with -o to see their other parts.", maxLine))
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// splitLines splits a document at its line breaks, of either kind; the last one
// ends the last line. A byte order mark is not shown.
func splitLines(doc string) []string {
	doc = strings.TrimPrefix(doc, "\ufeff")
	if doc == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(doc, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// cutLine shortens a line to maxLine characters, and not within what a person
// sees as one character.
func cutLine(line string) (short string, cut bool) {
	if len(line) <= maxLine {
		return line, false
	}
	runes, end := 0, 0
	for g := uniseg.NewGraphemes(line); g.Next(); {
		if runes += len(g.Runes()); runes > maxLine {
			return line[:end], true
		}
		_, end = g.Positions()
	}
	return line, false
}

// pending lists the pending suggestions of the note at p, a line each, or is "".
func pending(p bridge.Path, list []bridge.Suggestion) string {
	if len(list) == 0 {
		return ""
	}
	lines := []string{"[Pending suggestions]"}
	for _, sg := range list {
		lines = append(lines, fmt.Sprintf("  L%d: %s%s", sg.Line, describe(sg), comments(sg.Comments)))
	}
	block, n := joinBounded(lines, maxSuggestions)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; call list_suggestions with path: %q to see them)", len(lines)-n, string(p))
	}
	return block
}

// maxSide is how many words of a suggestion's old and new text are shown.
const maxSide = 10

// describe is a suggestion in one line, with its author.
func describe(sg bridge.Suggestion) string {
	author := sg.Author
	if author == "" {
		author = "unknown"
	}
	return sides(sg.Suggestion) + " (" + shown(author) + ")"
}

// sides are the old and the new text of a suggestion as they stand in a note.
func sides(sg diffwrap.Suggestion) string {
	var b strings.Builder
	if sg.Old != "" {
		b.WriteString("{--" + oneLine(sg.Old) + "--}")
	}
	if sg.New != "" {
		b.WriteString("{++" + oneLine(sg.New) + "++}")
	}
	return b.String()
}

// oneLine shows s without line breaks; the middle of a long text is left out.
func oneLine(s string) string {
	words := strings.SplitAfter(s, " ")
	if len(words) > maxSide {
		s = strings.Join(words[:maxSide/2], "") + "... " + strings.Join(words[len(words)-maxSide/2:], "")
	}
	if runes := []rune(s); len(runes) > 40*maxSide {
		s = string(runes[:20*maxSide]) + "..." + string(runes[len(runes)-20*maxSide:])
	}
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`).Replace(s)
}
