package diffwrap

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// checkSigned refuses comments of several lines, and comments in another author's name. It allows comments that the note
// already has, so that the writer may move them. It also sets p.Bare and p.OfNote.
func (p *putter) checkSigned() error {
	body := p.New[p.NewBody:]
	known := p.knownComments()
	p.Bare = make(map[string]bool)
	var zones *markdown.Zones
	for _, c := range critic.CommentsIn(body) {
		text := c.Of(body)
		if zones == nil {
			zones = markdown.NewZones(p.New)
		}
		if (zones.In(p.NewBody+c.Start) || c.Body.Empty()) && !p.OfNote[text] {
			continue
		}
		zones.Skip(p.NewBody + c.End)
		if known[text]--; known[text] >= 0 {
			continue
		}
		if err := p.checkComment(&c, text, span.LineOf(p.New, p.NewBody+c.Start)); err != nil {
			return err
		}
		p.Bare[text] = true
	}
	for i := range p.Doc.Cells {
		if c := &p.Doc.Cells[i]; c.Kind == critic.Comment && !c.Resolved && p.own(c) {
			p.Bare[c.Of(p.Doc.Raw)] = true
		}
	}
	return nil
}

// knownComments counts the comments that the writer may write: comments in the view, comments whose deletion is
// pending, and literal comments of the original view. It also sets p.OfNote.
func (p *putter) knownComments() map[string]int {
	known := make(map[string]int)
	p.OfNote = make(map[string]bool)
	for _, view := range []string{p.Old, p.original} {
		countMost(known, view, critic.CommentsIn(view))
	}
	deleted := make(map[int32]string)
	for i := range p.Doc.Cells {
		switch c := &p.Doc.Cells[i]; {
		case c.Comment > 0:
			deleted[c.Comment] += c.Body.Of(p.Doc.Raw)
		case c.Kind == critic.Comment:
			p.OfNote[c.Of(p.Doc.Raw)] = true
		}
	}
	for _, text := range deleted {
		known[text]++
		p.OfNote[text] = true
	}
	return known
}

// countMost raises the counts of texts to how often the cells of a view have them.
func countMost(counts map[string]int, view string, cells []critic.Cell) {
	here := make(map[string]int)
	for _, c := range cells {
		text := c.Of(view)
		here[text]++
		counts[text] = max(counts[text], here[text])
	}
}

func (p *putter) checkComment(c *critic.Cell, text string, line int) error {
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return &RefusedError{Line: line, Literal: text, Err: ErrComment,
			advice: "write the comment on one line, or write the text into the note, where it becomes a suggestion"}
	case !p.isWritersName(c.By().Author), strings.Contains(text[:c.Body.Start-c.Start], "authorId="):
		return &RefusedError{Line: line, Literal: text, Err: fmt.Errorf("%w: %q", ErrSigned, c.By().Author),
			advice: "write the comment without a name"}
	}
	return nil
}
