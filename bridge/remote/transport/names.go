package transport

import "strings"

// uuidLen is the length of a UUID in its usual form.
const uuidLen = 36

// DocumentName is the name at the server of the document with the given id in a
// folder. Relay names all documents of a relay by its id and theirs, two UUIDs
// joined by '-', the folder's among them; elsewhere the id is the name.
func DocumentName(folder, id string) string {
	if len(folder) == 2*uuidLen+1 && isUUID(folder[:uuidLen]) && isUUID(folder[uuidLen+1:]) && isUUID(id) {
		return folder[:uuidLen+1] + id
	}
	return id
}

// DocumentIDs are the ids that a document of this name may have: see DocumentName.
func DocumentIDs(name string) []string {
	if len(name) <= uuidLen+1 {
		return []string{name}
	}
	return []string{name, name[uuidLen+1:]}
}

func isUUID(s string) bool {
	return len(s) == uuidLen && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}
