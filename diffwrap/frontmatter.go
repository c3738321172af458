package diffwrap

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// FrontMatterPolicy says what Put does with a change of the front matter, which is never marked: a mark in YAML makes
// all properties of the note unreadable.
type FrontMatterPolicy int

const (
	// FrontMatterDirect writes the change plainly and reports it in Result.FrontMatter, so that it can be undone.
	FrontMatterDirect FrontMatterPolicy = iota
	// FrontMatterRefuse refuses it with ErrFrontMatterRefused.
	FrontMatterRefuse
)

// FrontMatterChange is a front matter block before and after a Put, fences included; "" where there was or is none.
type FrontMatterChange struct{ Before, After string }

// HasBody says whether there is anything in text besides a byte order mark and front matter.
func HasBody(text string) bool {
	body, _ := FrontMatter(text)
	return body < len(text)
}

// FrontMatter returns the offset at which the body of text begins, after a byte order mark and a block of front matter,
// and whether there is such a block. It opens with a line --- and ends with the next such line.
func FrontMatter(text string) (body int, ok bool) { return block.FrontMatter(text) }

// frontMatter is what a Put does with the front matter. The offsets say where the body starts. They are 0 without
// front matter.
type frontMatter struct {
	rawEnd, oldEnd, newEnd int    // in the raw text, in the old and in the new accepted view
	text                   string // the front matter as it will be stored
	change                 *FrontMatterChange
	edits                  []Edit
}

// frontMatter decides about the front matter of a Put; old and new are the accepted views.
func (o Options) frontMatter(doc *critic.Document, old, new string) (frontMatter, error) {
	var f frontMatter
	end, has := FrontMatter(doc.Raw)
	if has {
		shown, marked, cut := shownOf(doc, end)
		f = frontMatter{rawEnd: end, oldEnd: shown, newEnd: shown, text: doc.Raw[:end]}
		// A closing line that ends the note without a line break is another one as soon as something follows it.
		same := strings.HasPrefix(new, old[:shown]) && (len(new) == shown || strings.HasSuffix(doc.Raw[:end], "\n"))
		switch {
		case cut || marked && !same:
			return f, refuseFrontMatter("holds suggestions", "ask a person to accept or reject them first")
		case same:
			return f, nil
		}
	} else if _, pending := FrontMatter(old); pending {
		return f, nil // a pending addition that looks like front matter is text like any other
	}
	newEnd, hasNew := FrontMatter(new)
	if !hasNew {
		newEnd = 0
	}
	known := block.OpensFrontMatter(old) || block.OpensFrontMatter(doc.Render(OriginalView)) // a rule on the first line, not half a block
	if !hasNew && block.OpensFrontMatter(new) && (has || !known) {
		return f, refuseFrontMatter("has no closing line ---", "close it, or put a blank line above a rule")
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

// keepsFrontMatter reports whether a result has the front matter that it is to have: a mark on its closing line would
// make it unreadable.
func (p *putter) keepsFrontMatter(doc *critic.Document) bool {
	end, _ := FrontMatter(doc.Raw)
	return p.matter.text == "" || end == len(p.matter.text)
}

// shownOf returns how much the accepted view shows of raw[:end], whether there is markup in it, and whether a mark runs
// across its end.
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
			shown += c.Added.Len()
		}
		cut = cut || c.Highlight >= 0 && c.End >= end
	}
	return shown, marked, cut
}

func refuseFrontMatter(what, advice string) error {
	return &RefusedError{Line: 1, Literal: "---", Err: fmt.Errorf("%w: it %s", ErrFrontMatter, what), advice: advice}
}

// CheckFrontMatterChange says what is wrong with front matter after a change. What was broken before is no reason against a change
// of something else.
func CheckFrontMatterChange(before, after string) error {
	err := checkFrontMatter(after)
	if err != nil && checkFrontMatter(before) != nil {
		return nil
	}
	return err
}

// checkFrontMatter says what is wrong with a front matter block, fences included: it must be a YAML mapping, or empty.
func checkFrontMatter(block string) error {
	if block == "" {
		return nil
	}
	first := span.LineEnd(block, 0)
	last := strings.LastIndex(strings.TrimRight(block, "\r\n"), "\n") + 1
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(block[first:max(first, last)]), &node); err != nil {
		return refuseFrontMatter(fmt.Sprintf("is not YAML (%s)", strings.TrimPrefix(err.Error(), "yaml: ")), "correct the properties")
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

// ParseFrontMatterPolicy returns the policy of a name: "direct" or "refuse".
func ParseFrontMatterPolicy(s string) (FrontMatterPolicy, error) {
	if p := slices.Index([]string{"direct", "refuse"}, s); p >= 0 {
		return FrontMatterPolicy(p), nil
	}
	return FrontMatterDirect, fmt.Errorf("front matter policy %q: must be direct or refuse", s)
}
