package links

type Kind uint8

const (
	Wikilink      Kind = iota // [[Note]]
	Embed                     // ![[Note]]
	Markdown                  // [text](Note.md)
	MarkdownEmbed             // ![text](image.png)
	Definition                // [label]: Note.md
)

// Link is one link of a text. Offsets and lengths are in bytes of the text passed to Extract, even for links in front
// matter.
type Link struct {
	Kind Kind
	// Target is the linkpath: the name of the note or file, percent-decoded and unescaped. It is "" in a link within
	// the same note ([[#Heading]]).
	Target string
	// Subpath is "" or begins with '#': "#Heading", "#H1#H2", "#^block-id".
	Subpath string

	Off, Len int // range of the whole link, including '!'
	// TargetOff and TargetLen are the range of the linkpath as it is written. Replacing these bytes retargets the link.
	TargetOff, TargetLen int
}
