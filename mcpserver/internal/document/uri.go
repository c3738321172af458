package document

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

// URIs of notes as MCP resources are note:///Folder/Name.md.

const scheme = "note"

// IsURI reports whether a URI is of the scheme of notes.
func IsURI(uri string) bool { return strings.HasPrefix(uri, scheme+":") }

// URIOf returns the URI of the note at p.
func URIOf(p model.Path) string { return URIAt(p, textrange.Position{}) }

// URIAt returns the URI of the note at p from a position on, if that is not zero.
func URIAt(p model.Path, begin textrange.Position) string {
	u := url.URL{Scheme: scheme, Path: "/" + string(p)}
	query := url.Values{}
	if begin.Line > 0 {
		query.Set("line", strconv.Itoa(begin.Line))
	}
	if begin.Column > 0 {
		query.Set("column", strconv.Itoa(begin.Column))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Reading is what a URI may mean: a note's path, and a position in the parameters line and column.
type Reading struct {
	Name  string
	Begin textrange.Position
}

// position finds the parameters of a URI whose path is not percent-encoded, and may have any character.
var position = regexp.MustCompile(`\?(?:line=([0-9]+))?&?(?:column=([0-9]+))?$`)

// ParseURI returns the readings of a URI, the likeliest first: with its path percent-encoded, as it should be, and as
// it stands.
func ParseURI(uri string) ([]Reading, error) {
	var list []Reading
	if u, err := url.Parse(uri); err == nil && u.Scheme == scheme && u.Host == "" && u.Path != "" {
		begin, err := positionIn(uri, u.Query())
		if err != nil {
			return nil, err
		}
		list = append(list, Reading{u.Path, begin})
	}
	if plain, ok := strings.CutPrefix(uri, scheme+":///"); ok && plain != "" {
		list = append(list, Reading{Name: plain})
		if m := position.FindStringSubmatch(plain); m != nil {
			query := url.Values{"line": {m[1]}, "column": {m[2]}}
			begin, err := positionIn(uri, query)
			if err != nil {
				return nil, err
			}
			list = append(list, Reading{strings.TrimSuffix(plain, m[0]), begin})
		}
	}
	if list == nil {
		return nil, result.InvalidArgument("Resource %q is not an address like note:///Folder/Name.md.", uri)
	}
	return list, nil
}

func positionIn(uri string, query url.Values) (begin textrange.Position, err error) {
	for name, to := range map[string]*int{"line": &begin.Line, "column": &begin.Column} {
		if s := query.Get(name); s != "" {
			if *to, err = strconv.Atoi(s); err != nil || *to < 1 {
				return begin, result.InvalidArgument("Resource %q: %s is not a number from 1 on.", uri, name)
			}
		}
	}
	return begin, nil
}
