package critic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Dialect int

const (
	// Plain writes marks without attribution. It is the only form that every tool accepts and rejects correctly.
	Plain Dialect = iota
	// Commentator writes {++{"author":"AI","time":1700000000}@@text++}, time in seconds. The parser also reads
	// lens-editor's variant, "timestamp" in milliseconds.
	Commentator
	// RelayComments writes a plain mark, directly followed by an authored comment without text:
	// {++text++}{{author="AI" date="2026-07-13T07:01:55Z">><<}}.
	RelayComments
)

var dialectNames = []string{"plain", "commentator", "relay-comments"}

func (d Dialect) String() string { return dialectNames[d] }

func ParseDialect(s string) (Dialect, error) {
	if d := slices.Index(dialectNames, s); d >= 0 {
		return Dialect(d), nil
	}
	return Plain, fmt.Errorf("dialect %q: must be plain, commentator or relay-comments", s)
}

// maxMetadata is the maximum length of Commentator's metadata in bytes. It limits the cost of a text full of openers.
const maxMetadata = 4096

type metadata struct {
	Attribution
	resolved bool
	names    names // all names in the metadata except authorId
}

// readMetadata reads the JSON object that Commentator and lens-editor put before the text of a mark. It returns the
// length including "@@", or 0 if there is no metadata.
func readMetadata(body string) (metadata, int) {
	if len(body) == 0 || body[0] != '{' {
		return metadata{}, 0
	}
	object, _, found := strings.Cut(body[:min(len(body), maxMetadata)], metadataEnd)
	if !found || !strings.HasSuffix(object, "}") {
		return metadata{}, 0
	}
	var fields struct {
		Author      names    `json:"author"`
		ShortAuthor names    `json:"a"`
		Time        *float64 `json:"time"`
		ShortTime   *float64 `json:"t"`
		Timestamp   *float64 `json:"timestamp"`
		Done        bool     `json:"done"`
		ShortDone   bool     `json:"d"`
	}
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		return metadata{}, 0
	}
	var m metadata
	m.Author = string(fields.Author + fields.ShortAuthor)
	m.resolved = fields.Done || fields.ShortDone
	if seconds := cmp.Or(fields.Time, fields.ShortTime); seconds != nil {
		m.Time = time.Unix(int64(*seconds), 0).UTC()
	} else if fields.Timestamp != nil {
		m.Time = time.UnixMilli(int64(*fields.Timestamp)).UTC()
	}
	return m, len(object) + len(metadataEnd)
}

// names has all values of a property that may occur repeatedly, because parsers differ in the value that they use.
type names string

func (n *names) UnmarshalJSON(value []byte) error {
	var name string
	err := json.Unmarshal(value, &name)
	n.add(name)
	return err
}

func (n *names) add(name string) {
	if *n == "" {
		*n = names(name)
	} else if name != "" && string(*n) != name {
		*n += ", " + names(name)
	}
}

// readTail extends a mark over the attribution after it: Relay's authored comment without text.
func (p *parser) readTail(text string, c *Cell) {
	for {
		m, n := readTail(text[c.End:])
		if n == 0 {
			return
		}
		c.End += n
		c.tail += int32(n)
		p.tails = true
		c.attribute(c.By().OrElse(m.Attribution))
		c.Resolved = c.Resolved || m.resolved && c.Kind == Comment
	}
}

func (a Attribution) OrElse(b Attribution) Attribution {
	if a.Time.IsZero() {
		a.Time = b.Time
	}
	a.Author = cmp.Or(a.Author, b.Author)
	return a
}

// readTail reads one attribution at the start of text; the length is 0 if there is none.
func readTail(text string) (metadata, int) { return readAttributes(text, ">><<}}") }

var (
	attributes = regexp.MustCompile(`^\{\{(?: *[A-Za-z]+="[^"\r\n]*")+ *`)
	attribute  = regexp.MustCompile(`([A-Za-z]+)="([^"\r\n]*)"`)
)

// readAttributes reads "{{", name="value" pairs, and close, from the start of text. It returns the length of the match,
// or 0 if text does not match.
func readAttributes(text, close string) (m metadata, size int) {
	if !strings.HasPrefix(text, "{{") {
		return m, 0
	}
	n := len(attributes.FindString(text))
	if n == 0 || !strings.HasPrefix(text[n:], close) {
		return m, 0
	}
	for _, a := range attribute.FindAllStringSubmatch(text[:n], -1) {
		m.set(a[1], a[2])
	}
	return m, n + len(close)
}

func (m *metadata) set(name, value string) {
	switch name {
	case "author":
		m.names.add(value)
		m.Author = string(m.names)
	case "authorId":
		if m.Author == "" {
			m.Author = value
		}
	case "date":
		m.Time, _ = time.Parse(time.RFC3339, value)
	case "resolved", "done":
		m.resolved = value == "true"
	}
}

// authoredComment reads Relay's {{author="..." date="...">>text<<}} at offset i. A comment without text is only an
// attribution, so it is hidden.
func (p *parser) authoredComment(find *span.Finder, i int) (Cell, bool) {
	m, n := readAttributes(find.Text[i:], ">>")
	if n == 0 {
		return Cell{}, false
	}
	end := find.Next("<<}}", i+n)
	if end < 0 {
		return Cell{}, false
	}
	c := Cell{Kind: Comment, Resolved: m.resolved, Body: span.New(i+n, end), Span: span.New(i, end+len("<<}}"))}
	c.attribute(m.Attribution)
	if c.Body.Empty() {
		c.Kind = Hidden
		return c, true
	}
	p.readTail(find.Text, &c)
	return c, true
}

// Metadata returns the text that the dialect writes between the opener of a run and its content.
func (d Dialect) Metadata(author string, now time.Time) string {
	if d != Commentator || author == "" {
		return ""
	}
	fields := struct {
		Author string `json:"author"`
		Time   int64  `json:"time,omitempty"`
	}{Author: author}
	if !now.IsZero() {
		fields.Time = now.Unix()
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return "" // Marshal cannot fail for a struct of a string and a number
	}
	// A delimiter in the author's name would end the mark for every parser.
	name := strings.NewReplacer("}", `\u007d`, "{", `\u007b`, "@", `\u0040`)
	return "{" + name.Replace(string(object[1:len(object)-1])) + "}" + metadataEnd
}

// Tail returns the text that the dialect writes after a mark.
func (d Dialect) Tail(author string, now time.Time) string {
	author = AttributeName(author)
	if d != RelayComments || author == "" {
		return ""
	}
	tail := `{{author="` + author + `"`
	if !now.IsZero() {
		tail += ` date="` + now.UTC().Format(time.RFC3339) + `"`
	}
	return tail + ">><<}}"
}

// AttributeName returns an author's name in a form that is valid in an attribute.
func AttributeName(author string) string {
	return strings.NewReplacer(`"`, "'", "\n", " ", "\r", " ", "<", "(", ">", ")", "{", "(", "}", ")").Replace(author)
}

func (d Dialect) Comment(author, text string, now time.Time) string {
	if tail := d.Tail(author, now); tail != "" {
		return strings.TrimSuffix(tail, "<<}}") + text + "<<}}"
	}
	return "{>>" + d.Metadata(author, now) + text + "<<}"
}
