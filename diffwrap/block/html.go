package block

import (
	"regexp"
	"strings"
)

// blockTags are the elements that start a block at the start of any line, see CommonMark 0.31, section 4.6.
var blockTags = func() map[string]bool {
	tags := make(map[string]bool)
	for _, name := range strings.Fields(`address article aside base basefont blockquote body caption center col colgroup dd details
		dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend
		li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead
		title tr track ul`) {
		tags[name] = true
	}
	return tags
}()

var loneTag = regexp.MustCompile(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)[ \t]*$`)

// html reports whether a line starts an HTML block. closers are the texts, in lower case, that end the block; if there
// are none, a blank line ends it.
func html(s string, inParagraph bool) (closers []string, ok bool) {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return []string{"-->"}, true
	case strings.HasPrefix(s, "<?"):
		return []string{"?>"}, true
	case strings.HasPrefix(s, "<![CDATA["):
		return []string{"]]>"}, true
	case len(s) > 2 && s[1] == '!' && isLetter(s[2]):
		return []string{">"}, true
	}
	name, closing := strings.CutPrefix(s[1:], "/")
	n := 0
	for n < len(name) && (isLetter(name[n]) || n > 0 && name[n] >= '0' && name[n] <= '9') {
		n++
	}
	after := name[n:]
	name = strings.ToLower(name[:n])
	ends := after == "" || strings.IndexByte(" \t>", after[0]) >= 0
	if ends && !closing && rawTextTags[name] {
		return []string{"</script>", "</pre>", "</style>", "</textarea>"}, true
	}
	return nil, blockTags[name] && (ends || strings.HasPrefix(after, "/>")) || !inParagraph && n > 0 && loneTag.MatchString(s)
}

var rawTextTags = map[string]bool{"script": true, "pre": true, "style": true, "textarea": true}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (s *scanner) html(l line, closers []string) line {
	for {
		text := strings.ToLower(l.rest)
		for _, c := range closers {
			if strings.Contains(text, c) {
				return l
			}
		}
		next, ok := s.after(l)
		if !ok || closers == nil && next.blank() {
			return l
		}
		l = next
	}
}
