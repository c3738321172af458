package links

// Kind is the syntax of a link.
type Kind uint8

const (
	Wikilink      Kind = iota // [[Note]]
	Embed                     // ![[Note]]
	Markdown                  // [text](Note.md)
	MarkdownEmbed             // ![text](image.png)
)

// Pending is the part that a link has in a CriticMarkup suggestion.
type Pending uint8

const (
	Settled         Pending = iota // in no suggestion
	PendingAddition                // added by a suggestion
	PendingDeletion                // deleted by a suggestion
)

// Link is one link of a text. Offsets and lengths are bytes of the text passed to Extract, also for links in front matter.
type Link struct {
	Kind Kind
	// Target is the linkpath: the name of the note or file, percent-decoded and unescaped.
	// It is "" in a link to a place in the same note ([[#Heading]]).
	Target string
	// Subpath is "" or begins with '#': "#Heading", "#H1#H2", "#^block-id".
	Subpath string
	// Display is the text after '|' of a wikilink (the size, in an embed of an
	// image), or the text in the brackets of a Markdown link.
	Display string
	Pending Pending

	Off, Len int // the whole link, its '!' included
	// TargetOff and TargetLen are the place of the linkpath as it is written: replacing these bytes retargets the link.
	TargetOff, TargetLen int
}
