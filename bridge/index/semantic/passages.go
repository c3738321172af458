package semantic

import (
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// A passage has about passageSize bytes, and at most maxPassage. This is long enough to have a subject, and short
// enough to have only one.
const (
	passageSize = 1500
	maxPassage  = 3000
)

// passages cuts the body of a note into passages, between paragraphs if possible. A heading begins a new passage if the
// text before it is long enough.
func passages(note string) []string {
	_, body, _ := frontmatter.Split(note)
	var list []string
	from := body
	for at := body; at < len(note); {
		end := paragraphEnd(note, at)
		heading := strings.HasPrefix(note[at:], "#")
		if long := at - from; long >= passageSize || heading && long >= passageSize/2 {
			list, from = appendPassage(list, note[from:at]), at
		}
		at = end
	}
	return appendPassage(list, note[from:])
}

func paragraphEnd(text string, at int) int {
	blank := false
	for line := range strings.Lines(text[at:]) {
		empty := strings.TrimSpace(line) == ""
		if blank && !empty {
			break
		}
		blank = empty
		at += len(line)
	}
	return at
}

// appendPassage adds a passage. It cuts a passage that is too long, at white space if possible.
func appendPassage(list []string, text string) []string {
	for len(text) > maxPassage {
		cut := strings.LastIndexAny(text[:maxPassage], " \t\n")
		if cut < passageSize {
			cut = characterStart(text, maxPassage)
		}
		list, text = append(list, strings.TrimSpace(text[:cut])), text[cut:]
	}
	if text = strings.TrimSpace(text); text != "" {
		list = append(list, text)
	}
	return list
}

func characterStart(s string, i int) int {
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
