package fusefs

import "testing"

func TestIsScratch(t *testing.T) {
	t.Parallel()
	scratch := []string{
		".Note.md.swp", ".Note.md.swo", ".Note.md.swx", ".Note.md.swpx", "Note.md.swp", "4913", "5036",
		"Note.md~", "Note~", ".#Note.md", "#Note.md#",
		"Note.md.tmp.123.ab12cd34ef56", "Note.md.tmp", "x.tmp", "Note.md.lock", "index.lock", "Note.md.oAbC123",
		"Note.md.bak", "Note.md.orig", "Note.md.old", "Note.md.XyZ123", "Note.md1234567",
		".goutputstream-AB12CD", "file.part", ".~lock.Note.odt#", ".DS_Store", "._Note.md",
		".fuse_hidden0001", ".Trash-1000", ".git", ".obsidian", ".claude", ".Note.md", "Note.md___jb_tmp___",
		"Note.md.new", "Note.md.tmp1", "Note.md.1", "Note.md.kate-swp",
		"Note.md.gawk.Ab12Cd", "Note.md_original", "Note.md-2026-01-31", "Note.md,v", "Note.md.~1~",
	}
	for _, name := range scratch {
		if !isScratchName(name) {
			t.Errorf("isScratch(%q) = false, want true", name)
		}
	}
	shared := []string{
		"Note.md", "note.MD", "tmpmeeting.md", "tmpmeetings.md", "sedlecky.md", "4913.md", "2024.md", "#idea#.md", "Note~.md",
		"Note.tmp.md", "chart.png", "data.csv", "Note.md.gz", "Note.md.html", "Note.txt", "README", "bak", "tmp", "lock",
		"a", "#", "##", "Übersicht", "Note.mdx", "sedan", "Daily notes",
		"İİİİ.mdx", "\xff\xff.md ", "Note.md export.pdf", "Note.md_export.pdf", "Note.mdc", "Note.md.tar.gz",
	}
	for _, name := range shared {
		if isScratchName(name) {
			t.Errorf("isScratch(%q) = true, want false", name)
		}
	}
}

func TestIsBackupOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want bool
	}{
		{"Note.md.save", true}, {"Note.md~", true}, {"Note.md,v", true},
		{"Note.md", false}, {"Note.md.md", false}, {"Other.md.save", false}, {"Note", false},
	}
	for _, tt := range tests {
		if got := isBackupOf(tt.name, "Note.md"); got != tt.want {
			t.Errorf("isBackupOf(%q) = %v, want %v", tt.name, got, tt.want)
		}
	}
}
