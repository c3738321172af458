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

// The URI of a note has the form note:///Folder/Name.md.

const scheme = "note"

func IsURI(uri string) bool { return strings.HasPrefix(uri, scheme+":") }

func URIOf(p model.Path) string { return URIAt(p, textrange.Position{}) }

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

type Reading struct {
	Name  string
	Begin textrange.Position
}

// position matches the parameters of a URI whose path is not percent-encoded.
var position = regexp.MustCompile(`\?(?:line=([0-9]+))?&?(?:column=([0-9]+))?$`)

// ParseURI returns the possible interpretations of a URI: with a percent-encoded path, with a literal path, and with a
// literal path followed by a line and a column.
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
