package diffwrap

// Diff returns a small script of edits that turns old into new: compared line by line, then word by word, then trimmed
// by whole characters. No edit cuts a grapheme cluster. Markup has no meaning here; this is what brings a change that a person
// made to a file into the document.
func Diff(old, new string) []Edit {
	if old == "" && new != "" {
		return []Edit{{New: new}}
	}
	a := aligner{old: side{text: old}, new: side{text: new}, exact: true}
	return script(a.align(), new)
}

// script writes hunks as edits of the old text.
func script(hunks []hunk, new string) []Edit {
	var edits []Edit
	for _, h := range hunks {
		edits = appendEdit(edits, Edit{Off: h.old.start, Len: h.old.len(), New: h.new.of(new)})
	}
	return edits
}
