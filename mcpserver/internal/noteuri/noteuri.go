// Package noteuri writes and reads the URIs of notes as MCP resources, note:///Folder/Name.md.
// It knows no note. It has no locks.
package noteuri

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

const scheme = "note"

// Of returns the URI of the note at p.
func Of(p model.Path) string {
	return (&url.URL{Scheme: scheme, Path: "/" + string(p)}).String()
}

// Parse returns the path that is written in a URI, and the position in its parameters line and column.
func Parse(uri string) (name string, begin passage.Position, err error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != scheme || u.Host != "" || u.Path == "" {
		return "", begin, fmt.Errorf("resource %q is not an address like note:///Folder/Name.md", uri)
	}
	for name, to := range map[string]*int{"line": &begin.Line, "column": &begin.Column} {
		if s := u.Query().Get(name); s != "" {
			if *to, err = strconv.Atoi(s); err != nil || *to < 1 {
				return "", begin, fmt.Errorf("resource %q: %s is not a number from 1 on", uri, name)
			}
		}
	}
	return u.Path, begin, nil
}
