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

// position matches the parameters of a URI.
var position = regexp.MustCompile(`\?(?:line=([1-9][0-9]{0,8}))?&?(?:column=([1-9][0-9]{0,8}))?$`)

// ParseURI returns the possible interpretations of a URI: with a percent-encoded path, with a literal path, and with a
// literal path followed by a line and a column.
func ParseURI(uri string) ([]Reading, error) {
	plain, ok := strings.CutPrefix(uri, scheme+":///")
	if !ok || plain == "" {
		return nil, result.InvalidArgument("Resource %q is not an address like note:///Folder/Name.md.", uri)
	}
	list, at := []Reading{{Name: plain}}, Reading{Name: plain}
	if m := position.FindStringSubmatch(plain); m != nil {
		at.Name = strings.TrimSuffix(plain, m[0])
		at.Begin.Line, _ = strconv.Atoi(m[1]) // 0 if the parameter is missing
		at.Begin.Column, _ = strconv.Atoi(m[2])
		list = append(list, at)
	}
	if decoded, err := url.PathUnescape(at.Name); err == nil {
		list = append([]Reading{{decoded, at.Begin}}, list...)
	}
	return list, nil
}
