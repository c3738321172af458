package diffwrap

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Thread is a conversation in a raw text: adjacent open comments, as the plugin Commentator shows them. It is attached
// to a suggestion or a highlight, or is in plain text.
type Thread struct {
	Start, End int
	Line       int          // 1-based line of the accepted view
	About      string       // text of the highlight, or else the words of the accepted view, before the thread
	Comments   []Suggestion // all of kind Comment
}

func Threads(raw string) []Thread { return Known{}.Threads(raw) }
func (k Known) Threads(raw string) []Thread {
	if !strings.Contains(raw, ">>") {
		return nil
	}
	doc := k.parse(raw)
	lines := lineCounter{doc: doc, line: 1}
	var out []Thread
	for i := 0; i < len(doc.Cells); i++ {
		if !opensComment(doc, i) {
			continue
		}
		t := Thread{Start: doc.Cells[i].Start, Line: lines.at(i), About: wordsBefore(doc, i)}
		for ; opensComment(doc, i); i++ {
			c := &doc.Cells[i]
			t.Comments = append(t.Comments, Suggestion{Kind: Comment, Start: c.Start, End: c.End, Line: t.Line,
				New: c.Body.Of(raw), Author: c.By().Author, Time: c.By().Time})
			t.End = c.End
		}
		out = append(out, t)
	}
	return out
}

func opensComment(d *critic.Document, i int) bool {
	return d.IsMark(i, critic.Comment) && !d.Cells[i].Resolved
}

// maxAbout is the maximum length of Thread.About in characters, without the ellipsis before a shortened text.
const maxAbout = 40

// wordsBefore returns the last words of the text that the thread at cell i concerns: the highlight that ends before it,
// or else the words before it on its line.
func wordsBefore(d *critic.Document, i int) string {
	text, highlight := "", i > 0 && d.Cells[i-1].Kind == critic.HighlightClose
	for k := i - 1; k >= 0; k-- {
		c := &d.Cells[k]
		if highlight && c.Kind == critic.HighlightOpen {
			break
		}
		if c.Kind == critic.Comment {
			continue
		}
		text = c.Added().Of(d.Raw) + text
		if at := strings.LastIndexByte(text, '\n'); !highlight && at >= 0 {
			text = text[at+1:]
			break
		}
		if len(text) > 4*maxAbout {
			break
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxAbout {
		return text
	}
	r := []rune(text)
	tail := string(r[len(r)-maxAbout:])
	if _, whole, ok := strings.Cut(tail, " "); ok {
		tail = whole
	}
	return "… " + tail
}

// WriteComment returns a comment in the dialect. The text must have one line and no delimiters; CommentFits reports
// whether the comment parses back.
func WriteComment(d Dialect, author, text string, now time.Time) string {
	return d.Comment(author, text, now)
}

// CommentFits reports whether the comment can be inserted at an offset of raw. The results of Texts, and the number of
// suggestions, must stay the same. The insertion must parse as one comment, and must not split a character, link or
// similar token.
func (k Known) CommentFits(raw string, at int, comment string) bool {
	if at < 0 || at > len(raw) || splits(raw, at) {
		return false
	}
	after := raw[:at] + comment + raw[at:]
	written := Known{marks: k.marks.AfterEdits(raw, []Edit{{Off: at, New: comment}}).And(at)}
	o, a := k.Texts(raw)
	if o2, a2 := written.Texts(after); o != o2 || a != a2 || len(k.Suggestions(raw)) != len(written.Suggestions(after)) {
		return false
	}
	doc := written.parse(after)
	insertedSpan := span.New(at, at+len(comment))
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.Kind == critic.Comment && c.Span == insertedSpan {
			return true
		}
	}
	return false
}

// splits reports whether an offset is inside an indivisible token. A word may be split between its characters.
func splits(raw string, at int) bool {
	t, inside := tokenAround(raw, at)
	if !inside || t.Class != markdown.Word {
		return inside
	}
	i := t.Start
	for i < at {
		i += markdown.ClusterLength(raw[i:t.End])
	}
	return i != at
}

// afterConstruct returns the end of the link or other indivisible construct that an offset is inside, or the offset.
func afterConstruct(raw string, at int) int {
	if t, inside := tokenAround(raw, at); inside && t.Class == markdown.Atom {
		return t.End
	}
	return at
}

// CommentPlace returns the offset at which a comment on the text before an offset of a view is placed: after the
// construct that the offset is inside, and before the block ID that ends the line. ok is false if a comment there would
// be literal text, or would change the meaning of a marker or a whole line.
func CommentPlace(view string, at int) (place int, ok bool) {
	at = afterConstruct(view, at)
	if id := markdown.BlockID(view, at); at >= id {
		if at = len(strings.TrimRight(view[:id], " \t")); at == span.LineStart(view, at) { // the ID of the block before
			return at, false
		}
	}
	return at, !markdown.NewZones(view).In(at) && !markdown.Fixed(view, at)
}

// tokenAround returns the token that starts before an offset and ends after it.
func tokenAround(raw string, at int) (markdown.Token, bool) {
	line := span.New(span.LineStart(raw, at), span.LineEnd(raw, at))
	for t := range markdown.Tokens(raw, line, nil) {
		if t.End > at {
			return t, t.Start < at
		}
	}
	return markdown.Token{}, false
}
