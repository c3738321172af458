package document

import (
	"context"
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

// AtURI returns the document and the position that a URI names.
func (r Resolver) AtURI(ctx context.Context, uri string) (p model.Path, begin textrange.Position, err error) {
	readings, err := parseURI(uri)
	if err != nil {
		return "", begin, err
	}
	for _, x := range readings {
		if p, err := r.LookUp(x.name); err == nil {
			return p, x.begin, nil
		}
	}
	p, err = r.Resolve(ctx, readings[0].name)
	return p, begin, err
}

type reading struct {
	name  string
	begin textrange.Position
}

var position = regexp.MustCompile(`\?((?:(?:line|column)=[1-9][0-9]{0,8}&?)+)$`)

// parseURI returns the possible interpretations of a URI: with a percent-encoded path, with a literal path, and with a
// literal path followed by a line and a column.
func parseURI(uri string) ([]reading, error) {
	plain, ok := strings.CutPrefix(uri, scheme+":///")
	if !ok || plain == "" {
		return nil, result.InvalidArgument("Resource %q is not an address like note:///Folder/Name.md.", uri)
	}
	list, at := []reading{{name: plain}}, reading{name: plain}
	if m := position.FindStringSubmatch(plain); m != nil {
		at.name = strings.TrimSuffix(plain, m[0])
		query, _ := url.ParseQuery(m[1])
		at.begin.Line, _ = strconv.Atoi(query.Get("line")) // 0 if the parameter is missing
		at.begin.Column, _ = strconv.Atoi(query.Get("column"))
		list = append(list, at)
	}
	if decoded, err := url.PathUnescape(at.name); err == nil {
		list = append([]reading{{decoded, at.begin}}, list...)
	}
	return list, nil
}
