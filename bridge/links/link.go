package links

import "sort"

// Kind is the syntax of a link.
type Kind uint8

const (
	Wikilink      Kind = iota // [[Note]]
	Embed                     // ![[Note]]
	Markdown                  // [text](Note.md)
	MarkdownEmbed             // ![text](image.png)
)

var kindNames = [...]string{"wikilink", "embed", "markdown", "markdown embed"}

func (k Kind) String() string { return kindNames[k] }

// Pending says whether a link is part of a CriticMarkup suggestion.
type Pending uint8

const (
	Settled         Pending = iota // in nobody's suggestion
	PendingAddition                // there once a person accepts
	PendingDeletion                // gone once a person accepts
)

// Link is one link of a text. Offsets and lengths are bytes of the text that
// Extract was given, also for links in front matter.
type Link struct {
	Kind Kind
	// Target is the linkpath: what the link names, percent-decoded and unescaped.
	// It is "" in a link to a place in the same note ([[#Heading]]).
	Target string
	// Subpath is "" or begins with '#': "#Heading", "#H1#H2", "#^block-id".
	Subpath string
	// Display is the text after '|' of a wikilink (the size, in an embed of an
	// image), or the text in the brackets of a Markdown link.
	Display string
	Pending Pending

	Off, Len int // the whole link, its '!' included
	// TargetOff and TargetLen are where the linkpath is written, as it is
	// written: replacing these bytes retargets the link and keeps the rest.
	TargetOff, TargetLen int
}

// sortByOffset puts links in the order of the text: a link around an image is
// found after the image.
func sortByOffset(ls []Link) {
	sort.SliceStable(ls, func(i, j int) bool { return ls[i].Off < ls[j].Off })
}
