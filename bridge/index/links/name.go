package links

import (
	"fmt"
	"path"
	"strings"
)

// NameWarning returns a sentence that describes a problem with the name of a file or folder, or "". Obsidian refuses
// some characters, because the disks of other systems refuse them. Other characters end a link early, and links lose
// blanks at the ends of a name.
func NameWarning(name string) string {
	if i := strings.IndexAny(name, `*"\<>:|?`); i >= 0 {
		return fmt.Sprintf("Obsidian does not create names with %c in them, and some disks refuse them", name[i])
	}
	if i := strings.IndexAny(name, "#^[]"); i >= 0 {
		return fmt.Sprintf("links cannot name a document with %c in its name", name[i])
	}
	if bare := strings.TrimSuffix(name, path.Ext(name)); strings.TrimSpace(bare) != bare || strings.TrimSpace(name) != name {
		return "Obsidian does not create names that begin or end with a blank, and links cannot name such a document"
	}
	if ext := path.Ext(name); ext != "" && strings.HasSuffix(strings.TrimSuffix(name, ext), ext) {
		return "the name ends in " + ext + " twice"
	}
	if strings.Contains(name, "%%") {
		return "links cannot name a document with %% in its name"
	}
	return ""
}
