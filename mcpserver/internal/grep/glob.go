package grep

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Globs match as in ripgrep's --glob. A pattern without a slash matches a name at any depth. A pattern with a slash
// matches the path from the root of the search. * and ? do not match a slash; ** does. [...] and {a,b} are sets.

// Globs is a set of paths, defined by a list of patterns. The last pattern that matches a path decides; a pattern with
// '!' excludes the path. A path that no pattern matches is in the set if all patterns have a '!'. The zero value
// contains every path.
type Globs struct {
	patterns []pattern
	includes bool // whether any pattern includes paths
}

type pattern struct {
	glob    model.Glob
	exclude bool
	dirs    bool // whether only folders match
}

func ParseGlobs(patterns ...string) (Globs, error) {
	var s Globs
	for _, text := range patterns {
		var p pattern
		glob, exclude := strings.CutPrefix(text, "!")
		glob, p.dirs = strings.CutSuffix(glob, "/")
		if strings.Contains(glob, "/") {
			glob = strings.TrimPrefix(glob, "/")
		} else {
			glob = "**/" + glob
		}
		if strings.HasSuffix(glob, "/**") {
			glob += "/*" // matches the content of a folder, not the folder itself
		}
		var err error
		if p.glob, err = model.ParseGlob(glob); err != nil {
			return Globs{}, fmt.Errorf("glob %.200q is not valid: %w", text, err)
		}
		p.exclude = exclude
		s.patterns = append(s.patterns, p)
		s.includes = s.includes || !p.exclude
	}
	return s, nil
}

func SplitGlobs(list string) []string {
	var out []string
	depth, begin := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= 0 {
				out = append(out, strings.TrimSpace(list[begin:i]))
				begin = i + 1
			}
		}
	}
	out = append(out, strings.TrimSpace(list[begin:]))
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func (s Globs) All() bool { return len(s.patterns) == 0 }

// Has reports whether the file at p is in the set and outside the excluded folders. p is relative to the root of the
// search.
func (s Globs) Has(p string) bool {
	if len(s.patterns) == 0 {
		return true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if s.last(dir, true) < 0 {
			return false
		}
	}
	switch s.last(p, false) {
	case 1:
		return true
	case -1:
		return false
	}
	return !s.includes
}

// last returns 1 if the last pattern that matches p includes it, -1 if that pattern excludes p, and 0 if no pattern
// matches.
func (s Globs) last(p string, dir bool) int {
	for _, pat := range slices.Backward(s.patterns) {
		if pat.dirs && !dir || !pat.glob.Matches(p) {
			continue
		}
		if pat.exclude {
			return -1
		}
		return 1
	}
	return 0
}

func TypeGlobs(name string) (patterns []string, ok bool) {
	patterns, ok = fileTypes[name]
	return patterns, ok
}

func Types() []string { return slices.Sorted(maps.Keys(fileTypes)) }

var fileTypes = map[string][]string{
	"all":      {"*"},
	"c":        {"*.[chH]"},
	"config":   {"*.cfg", "*.conf", "*.config", "*.ini"},
	"css":      {"*.css", "*.scss"},
	"csv":      {"*.csv"},
	"go":       {"*.go"},
	"html":     {"*.ejs", "*.htm", "*.html"},
	"java":     {"*.java"},
	"js":       {"*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"},
	"json":     {"*.json"},
	"jsonl":    {"*.jsonl"},
	"log":      {"*.log"},
	"lua":      {"*.lua"},
	"markdown": markdownGlobs,
	"md":       markdownGlobs,
	"org":      {"*.org", "*.org_archive"},
	"py":       {"*.py", "*.pyi"},
	"rst":      {"*.rst"},
	"rust":     {"*.rs"},
	"sh":       {"*.bash", "*.ksh", "*.sh", "*.zsh"},
	"sql":      {"*.psql", "*.sql"},
	"svg":      {"*.svg"},
	"tex":      {"*.bib", "*.cls", "*.ltx", "*.sty", "*.tex"},
	"toml":     {"*.toml"},
	"ts":       {"*.cts", "*.mts", "*.ts", "*.tsx"},
	"txt":      {"*.txt"},
	"xml":      {"*.dtd", "*.xhtml", "*.xml", "*.xsd", "*.xsl", "*.xslt"},
	"yaml":     {"*.yaml", "*.yml"},
}

var markdownGlobs = []string{"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"}
