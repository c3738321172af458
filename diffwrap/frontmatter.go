package diffwrap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// FrontMatterPolicy selects how Put treats changes of front matter. Put never marks them: a mark in YAML makes all
// properties of the note unreadable.
type FrontMatterPolicy int

const (
	// FrontMatterDirect writes the change without marks and reports it in Result.FrontMatter, so that it can be
	// undone.
	FrontMatterDirect FrontMatterPolicy = iota
	// FrontMatterRefuse refuses the change with ErrFrontMatterRefused.
	FrontMatterRefuse
)

// FrontMatterChange is a front matter block before and after a Put, including its fences; "" if there is no block. Both
// texts start with the note's byte order mark if it has one.
type FrontMatterChange struct{ Before, After string }

// HasBody reports whether text has anything besides a byte order mark and front matter.
func HasBody(text string) bool {
	body, _ := FrontMatter(text)
	return body < len(text)
}

// FrontMatter returns the offset of the body of text, after a byte order mark and a block of front matter, and whether
// there is such a block. A block starts with a first line --- and ends with the next such line; both may have trailing
// blanks.
func FrontMatter(text string) (body int, ok bool) { return block.FrontMatter(text) }

// frontMatter is the plan for the front matter in a Put. Its offsets are the starts of the bodies, after a byte order
// mark.
type frontMatter struct {
	rawEnd, oldEnd, newEnd int    // in the raw text, the old and the new accepted view
	text                   string // new front matter
	change                 *FrontMatterChange
	edits                  []Edit
}

// frontMatter plans the front matter of a Put. old and new are the accepted views.
func (o Options) frontMatter(doc *critic.Document, old, original, new string) (frontMatter, error) {
	top := len(doc.Raw) - len(strings.TrimPrefix(doc.Raw, ByteOrderMark))
	f := frontMatter{rawEnd: top, oldEnd: top, newEnd: top}
	end, has := FrontMatter(doc.Raw)
	if has {
		shown, marked, cut := shownOf(doc, end)
		f = frontMatter{rawEnd: end, oldEnd: shown, newEnd: shown, text: doc.Raw[:end]}
		// If the note ends with the closing line, without a line break, text added after it changes that line.
		same := strings.HasPrefix(new, old[:shown]) && (len(new) == shown || strings.HasSuffix(doc.Raw[:end], "\n"))
		switch {
		case cut || marked && !same:
			return f, refuseFrontMatter("holds suggestions", "ask the user to accept or reject them first")
		case same:
			return f, nil
		}
	} else if _, pending := FrontMatter(old); pending {
		return f, nil // a pending addition that looks like front matter counts as ordinary text
	}
	newEnd, hasNew := FrontMatter(new)
	if !hasNew {
		newEnd = top
	}
	ok := block.OpensFrontMatter(old[top:]) || block.OpensFrontMatter(original[top:]) // a first line --- is then a rule
	if !hasNew && block.OpensFrontMatter(new[top:]) && (has || !ok) {
		return f, refuseFrontMatter("has no closing line ---", "add a closing line, or put a blank line above the first line if it is a thematic break")
	}
	if !has && !hasNew {
		return f, nil
	}
	f.newEnd, f.text = newEnd, new[:newEnd]
	f.change = &FrontMatterChange{Before: doc.Raw[:f.rawEnd], After: f.text}
	f.edits = align.Diff(f.change.Before, f.change.After)
	if o.FrontMatter == FrontMatterRefuse && strings.TrimRight(f.change.Before, "\r\n") != strings.TrimRight(f.text, "\r\n") {
		return f, &RefusedError{Line: 1, Literal: "---", Err: ErrFrontMatterRefused, advice: "leave the properties as they are"}
	}
	return f, CheckFrontMatterChange(f.change.Before, f.text)
}

// keepsFrontMatter reports whether a result has the planned front matter. A mark on the closing line would make the
// front matter unreadable.
func (p *putter) keepsFrontMatter(doc *critic.Document) bool {
	end, _ := FrontMatter(doc.Raw)
	return p.matter.text == "" || end == len(p.matter.text)
}

// shownOf describes the accepted view of raw[:end]: shown is its length in bytes, marked reports whether raw[:end] has
// markup, and cut reports whether a mark crosses end.
func shownOf(d *critic.Document, end int) (shown int, marked, cut bool) {
	for i := range d.Cells {
		c := &d.Cells[i]
		switch {
		case c.Start >= end:
			return shown, marked, cut
		case c.Kind == critic.Text:
			shown += min(c.End, end) - c.Start
		default:
			marked = true
			cut = c.End > end
			shown += c.Added().Len()
		}
		cut = cut || c.Highlight >= 0 && c.End >= end
	}
	return shown, marked, cut
}

func refuseFrontMatter(what, advice string) error {
	return &RefusedError{Line: 1, Literal: "---", Err: fmt.Errorf("%w: it %s", ErrFrontMatter, what), advice: advice}
}

// CheckFrontMatterChange returns an error if front matter is invalid after a change. It returns nil if the front matter
// was invalid before, too, so that other properties can be changed.
func CheckFrontMatterChange(before, after string) error {
	err := checkFrontMatter(after)
	if err != nil && checkFrontMatter(before) != nil {
		return nil
	}
	return err
}

// checkFrontMatter returns an error unless a front matter block, given with its fences, is empty or a YAML mapping with
// unique names.
func checkFrontMatter(block string) error {
	if block == "" {
		return nil
	}
	first := span.LineEnd(block, 0)
	last := strings.LastIndex(strings.TrimRight(block, "\r\n"), "\n") + 1
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(block[first:max(first, last)]), &node); err != nil {
		why := err.Error()
		if e, ok := errors.AsType[*yaml.LoadError](err); ok {
			why = fmt.Sprintf("line %d: %s", e.Mark.Line+1, e.Message) // the opening fence is line 1
		}
		return refuseFrontMatter("is not YAML ("+why+")", "correct the properties")
	}
	if len(node.Content) == 0 {
		return nil
	}
	if node.Content[0].Kind != yaml.MappingNode {
		return refuseFrontMatter("is not a mapping of names to values", "write it as name: value lines")
	}
	seen := make(map[string]bool)
	for i := 0; i < len(node.Content[0].Content); i += 2 {
		key := node.Content[0].Content[i].Value
		if seen[key] {
			return refuseFrontMatter(fmt.Sprintf("has the property %q twice", key), "keep one of them")
		}
		seen[key] = true
	}
	return nil
}

func ParseFrontMatterPolicy(s string) (FrontMatterPolicy, error) {
	if p := slices.Index([]string{"direct", "refuse"}, s); p >= 0 {
		return FrontMatterPolicy(p), nil
	}
	return FrontMatterDirect, fmt.Errorf("front matter policy %q: must be direct or refuse", s)
}
