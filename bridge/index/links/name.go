package links

import (
	"fmt"
	"strings"
)

// NameWarning returns a sentence on what is wrong with the name of a file or folder, ""
// if nothing is: Obsidian refuses some characters, because disks of other systems do, and
// other characters end a link early.
func NameWarning(name string) string {
	if i := strings.IndexAny(name, `*"\<>:|?`); i >= 0 {
		return fmt.Sprintf("Obsidian makes no names with %c in them, and some disks refuse them", name[i])
	}
	if i := strings.IndexAny(name, "#^[]"); i >= 0 {
		return fmt.Sprintf("links cannot name a document with %c in its name", name[i])
	}
	if strings.Contains(name, "%%") {
		return "links cannot name a document with %% in its name"
	}
	return ""
}
