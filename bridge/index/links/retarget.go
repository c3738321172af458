package links

import (
	"path"
	"strings"
)

// Retarget returns a new linkpath for the link l in the note at from. The new linkpath resolves to the file at want.
// written is the linkpath as the note spells it now. Retarget keeps the link's style: a bare name stays bare if that is
// enough, a path becomes the path from the vault's root, and a relative path stays relative. It keeps ".md" and percent
// escapes. It returns false if no linkpath of that style resolves to want.
func (x *Index) Retarget(from string, l Link, written, want string) (string, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, target := range candidates(from, l.Target, want) {
		if isNote(want) && !isNote(l.Target) {
			target = target[:len(target)-len(path.Ext(target))]
		}
		if f := x.resolve(from, target); f == nil || f.path != want {
			continue
		}
		if now, ok := l.write(target, written); ok {
			return now, true
		}
	}
	return "", false
}

// candidates returns linkpaths from a note to the file at want, in the style of the linkpath target, best first.
func candidates(from, target, want string) []string {
	_, rel, _ := strings.Cut(want, "/")
	switch {
	case isRelative(target):
		return []string{relativePath(path.Dir(from), want)}
	case strings.HasPrefix(target, "/"):
		return []string{"/" + rel}
	case strings.Contains(target, "/"):
		return []string{rel, "/" + rel}
	}
	return []string{path.Base(want), rel, "/" + rel}
}

func relativePath(dir, want string) string {
	up := ""
	for dir != "." && !strings.HasPrefix(want, dir+"/") {
		dir, up = path.Dir(dir), up+"../"
	}
	if up == "" {
		up = "./"
	}
	return up + strings.TrimPrefix(want, dir+"/")
}

func (l *Link) write(target, written string) (string, bool) {
	if l.Kind == Wikilink || l.Kind == Embed {
		return target, !strings.ContainsAny(target, "#^|[]") && strings.TrimSpace(target) == target
	}
	if strings.ContainsAny(written, " <>") { // the linkpath is in angle brackets
		return target, !strings.ContainsAny(target, "#<>\\%")
	}
	return strings.NewReplacer(
		"%", "%25", " ", "%20", "#", "%23", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C",
	).Replace(target), true
}
