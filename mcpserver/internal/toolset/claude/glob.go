package claude

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const maxGlob = 100

type globArgs struct {
	Pattern string `arg:"pattern" need:"true" max:"10000" doc:"For example *.md or Folder/**/{a,b}*.md. Without a slash it matches at any depth"`
	Path    string `arg:"path" is:"path" doc:"Folder; everywhere if left out"`
	result.Listing
}

// globKey is the place of a file in the list, with its modification time in nanoseconds.
type globKey struct {
	Time int64
	Path string
}

type listed struct {
	path    model.Path
	modTime time.Time
}

func globFiles(ctx context.Context, c *tool.Client, a globArgs) (result.Result, error) {
	under, err := c.Resolver.Folder(ctx, "path", a.Path, " Pass its name as the pattern instead.")
	if err != nil {
		return result.Result{}, err
	}
	set, err := grep.ParseGlobs(literalGlob(ctx, c, a.Pattern, under))
	if err != nil {
		return result.Result{}, result.InvalidArgument("The argument \"pattern\" is not valid: %v.", err)
	}
	found, err := findFiles(ctx, c, under, set)
	if err != nil {
		return result.Result{}, err
	}
	if len(found) == 0 {
		res := result.Text("No files found")
		if under == "" {
			res.Text = append(res.Text, belowARoot(ctx, c, set)...)
		}
		return res, nil
	}
	rest, err := result.Rest(a.Listing, found, listed.key, compareKeys)
	if err != nil {
		return result.Result{}, err
	}
	if len(rest) == 0 {
		return result.Text("No more files"), nil
	}
	lines := make([]string, 0, maxGlob)
	for _, f := range rest[:min(len(rest), maxGlob)] {
		lines = append(lines, result.Escape(f.path))
	}
	out, n := result.JoinBounded(lines, result.Max-result.ProtocolOverhead-8000)
	res := result.Text(out)
	if n < len(rest) {
		a.Continue(&res, rest[n-1].key(),
			fmt.Sprintf("Showing %d of %d matching files; %d more are not listed.", n, len(found), len(rest)-n))
	}
	return res, nil
}

func (f listed) key() globKey { return globKey{f.modTime.UnixNano(), string(f.path)} }

// compareKeys puts the most recently changed file first.
func compareKeys(a, b globKey) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Path, b.Path))
}

// belowARoot returns a hint if the globs match no path, but would match paths relative to one of the top-level folders.
func belowARoot(ctx context.Context, c *tool.Client, set grep.Globs) (hint []string) {
	root, n := "", 0
	err := c.Workspace.Walk(ctx, "", func(e bridge.Info) error {
		folder, rel := e.Path.Split()
		switch {
		case e.Kind == model.KindDir || e.Kind == model.KindLink:
		case set.Has(string(e.Path)):
			n = 0
			return fs.SkipAll
		case (root == "" || root == folder) && set.Has(rel):
			root = folder
			n++
		}
		return nil
	})
	if err != nil || n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("[Globs are relative to path: with path: %q this glob matches %s.]", root, result.Count(n, "document"))}
}

func withoutRoot(c *tool.Client, pattern string, under model.Path) string {
	if mp := c.Workspace.Mountpoint(); mp != "" {
		pattern = strings.TrimPrefix(pattern, mp+"/")
	}
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(pattern, "/"), string(under)+"/"); ok && under != "" {
		return "/" + rest
	}
	return pattern
}

// literalGlob returns a glob relative to under. If there is a file or folder with exactly this name or path, the special
// characters in it are escaped (model.LiteralGlob). A path may also be relative to a top-level folder: then the glob
// matches nothing, and belowARoot returns a hint.
func literalGlob(ctx context.Context, c *tool.Client, pattern string, under model.Path) string {
	pattern, exclude := strings.CutPrefix(withoutRoot(c, pattern, under), "!")
	pattern = model.LiteralGlob(pattern, func(p string) bool { return exists(ctx, c, p, under, strings.Contains(pattern, "/")) })
	if exclude {
		return "!" + pattern
	}
	return pattern
}

// exists reports whether there is a file or folder with the path p in under, or in a top-level folder if under is "".
// Unless isPath is set, p is a name at any depth.
func exists(ctx context.Context, c *tool.Client, p string, under model.Path, isPath bool) (found bool) {
	if isPath {
		roots := []string{string(under)}
		if under == "" {
			roots = append(roots, c.Resolver.Folders()...)
		}
		return slices.ContainsFunc(roots, func(root string) bool {
			_, err := c.Workspace.Stat(ctx, model.Path(root).Join(strings.TrimPrefix(p, "/")))
			return err == nil
		})
	}
	_ = c.Workspace.Walk(ctx, under, func(e bridge.Info) error { // the search itself reports its errors
		if found = e.Path.Base() == p; found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// findFiles lists the files of set in a folder (under) and its subfolders, most recently changed first.
func findFiles(ctx context.Context, c *tool.Client, under model.Path, set grep.Globs) ([]listed, error) {
	var found []listed
	err := c.Workspace.Walk(ctx, under, func(e bridge.Info) error {
		if e.Kind == model.KindDir || e.Kind == model.KindLink || !set.Has(relative(e.Path, under)) {
			return nil
		}
		found = append(found, listed{path: e.Path, modTime: e.ModTime})
		return nil
	})
	slices.SortFunc(found, func(a, b listed) int { return compareKeys(a.key(), b.key()) })
	return found, err
}

func relative(p, under model.Path) string {
	if p == under {
		return p.Base()
	}
	return strings.TrimPrefix(string(p[len(under):]), "/")
}
