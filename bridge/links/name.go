package links

import (
	"fmt"
	"strings"
)

// NameWarning says what is the matter with the name of a file or folder, "" if
// nothing is: Obsidian makes no file with some characters, since other systems'
// disks refuse them, and others end a link before the name is over.
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
