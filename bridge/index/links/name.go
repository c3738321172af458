package links

import (
	"fmt"
	"path"
	"strings"
)

// NameWarning returns a sentence on what is wrong with the name of a file or folder, ""
// if nothing is: Obsidian refuses some characters, because disks of other systems do, and
// other characters end a link early; links lose blanks at the ends of a name.
func NameWarning(name string) string {
	if i := strings.IndexAny(name, `*"\<>:|?`); i >= 0 {
		return fmt.Sprintf("Obsidian makes no names with %c in them, and some disks refuse them", name[i])
	}
	if i := strings.IndexAny(name, "#^[]"); i >= 0 {
		return fmt.Sprintf("links cannot name a document with %c in its name", name[i])
	}
	if bare := strings.TrimSuffix(name, path.Ext(name)); strings.TrimSpace(bare) != bare || strings.TrimSpace(name) != name {
		return "Obsidian makes no names with a blank at their beginning or end, and links cannot name such a document"
	}
	if ext := path.Ext(name); ext != "" && strings.HasSuffix(strings.TrimSuffix(name, ext), ext) {
		return "the name ends in " + ext + " twice"
	}
	if strings.Contains(name, "%%") {
		return "links cannot name a document with %% in its name"
	}
	return ""
}
