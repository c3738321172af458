package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/glob"
)

// maxGlob is how many paths glob lists.
const maxGlob = 100

type globArgs struct {
	Pattern string `arg:"pattern" need:"true" doc:"Glob pattern, for example *.md, Folder/**/*.md or {a,b}*.md. A pattern without a slash matches at any depth"`
	Path    string `arg:"path" is:"path" doc:"Folder to search in. Leave it out to search everywhere"`
}

// listed is a path and when what is at it changed.
type listed struct {
	path    bridge.Path
	modTime time.Time
}

func globFiles(ctx context.Context, s *Session, a globArgs) Result {
	under, err := s.folder(ctx, a.Path, false)
	if err != nil {
		return failure(err)
	}
	set, err := glob.Parse(s.withoutRoot(a.Pattern, under))
	if err != nil {
		return failure(wrongArgument("The argument \"pattern\" is not valid: %v.", err))
	}
	found, err := s.find(ctx, under, set)
	if err != nil {
		return failure(err)
	}
	if len(found) == 0 {
		return text("No files found")
	}
	lines := make([]string, 0, min(len(found), maxGlob))
	for _, f := range found[:min(len(found), maxGlob)] {
		lines = append(lines, shown(f.path))
	}
	out, n := joinBounded(lines, maxOutput)
	if n < len(found) {
		out += fmt.Sprintf("\n(Showing %d of %d matching files; %d more are not listed. Narrow the pattern or path to see the rest.)",
			n, len(found), len(found)-n)
	}
	return text(out)
}

// withoutRoot takes what a pattern repeats of the mountpoint and of the folder
// that is searched off its front.
func (s *Session) withoutRoot(pattern string, under bridge.Path) string {
	if mp := s.server.ws.Mountpoint(); mp != "" {
		pattern = strings.TrimPrefix(pattern, mp+"/")
	}
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(pattern, "/"), string(under)+"/"); ok && under != "" {
		return "/" + rest
	}
	return pattern
}

// find lists the notes and files below under that are in set, the one changed
// last first.
func (s *Session) find(ctx context.Context, under bridge.Path, set glob.Set) ([]listed, error) {
	var found []listed
	err := s.server.ws.Walk(ctx, under, func(e bridge.DirEntry, p bridge.Path) error {
		if e.Kind == bridge.KindDir || !set.Has(relative(p, under)) {
			return nil
		}
		changed, err := s.server.ws.ModTime(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		found = append(found, listed{p, changed})
		return nil
	})
	slices.SortFunc(found, func(a, b listed) int {
		return cmp.Or(b.modTime.Compare(a.modTime), strings.Compare(string(a.path), string(b.path)))
	})
	return found, err
}

// relative is p as seen from under, which contains it.
func relative(p, under bridge.Path) string {
	if p == under {
		return p.Base()
	}
	return strings.TrimPrefix(string(p[len(under):]), "/")
}
