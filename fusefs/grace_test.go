package fusefs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

// A note that was only truncated stays as it is for others for a while: its
// writer may have been killed before it wrote.
func TestTruncationIsPutOff(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Killed.md": tideTable})
	start := time.Now()
	m.sh(t, "F", ": > Note.md; : > Killed.md; test ! -s Note.md")
	if text := m.SourceText("F/Note.md"); time.Since(start) < 3*time.Second {
		checkText(t, "source", text, tideTable)
	}
	m.sh(t, "F", "echo late >> Killed.md")
	m.checkSuggested(t, "F/Killed.md", tideTable, "late\n")
	eventually(t, func() error {
		return wants("accepted view", diffwrap.Everything.Accepted(m.SourceText("F/Note.md")), "")
	})
	if waited := time.Since(start); waited < 3*time.Second {
		t.Errorf("the source was emptied after %v", waited)
	}
	checkText(t, "original view", diffwrap.Everything.Original(m.SourceText("F/Note.md")), tideTable)
}

// fsync says that empty is meant, and so does the end of the mount.
func TestEmptinessIsMeant(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": tideTable})
	start := time.Now()
	m.sh(t, "F", `python3 -c 'import os; fd = os.open("Note.md", os.O_WRONLY | os.O_TRUNC); os.fsync(fd)'; : > Other.md`)
	m.checkSuggested(t, "F/Note.md", tideTable, "")
	if text := m.SourceText("F/Other.md"); time.Since(start) < 3*time.Second { // later it may be put off no longer
		checkText(t, "source before the unmount", text, tideTable)
	}
	if err := m.server.Unmount(); err != nil {
		t.Fatal(err)
	}
	m.checkSuggested(t, "F/Other.md", tideTable, "")
}

// A new note is published with its first bytes; one that is left empty, after a
// moment; one that is removed before, never.
func TestNewNotes(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "x\n"})
	start := time.Now()
	m.sh(t, "F", "echo new > New.md; touch Empty.md; touch Probe.md; rm Probe.md; mkdir sub; echo deep > sub/Deep.md")
	if m.exists(t, "F/Empty.md") && time.Since(start) < time.Second {
		t.Error("an empty note was published at once")
	}
	m.checkNames(t, "F", "Empty.md", "New.md", "Note.md", "sub")
	for p, want := range map[string]string{"F/New.md": "new\n", "F/sub/Deep.md": "deep\n"} {
		checkText(t, p, m.cat(t, p), want)
		checkText(t, "accepted view of "+p, diffwrap.Everything.Accepted(m.SourceText(p)), want)
		checkText(t, "original view of "+p, diffwrap.Everything.Original(m.SourceText(p)), "")
	}
	eventually(t, func() error {
		if !m.exists(t, "F/Empty.md") {
			return fmt.Errorf("the empty note was not published")
		}
		return nil
	})
	if m.exists(t, "F/Probe.md") {
		t.Error("a note that was removed at once was published")
	}
	m.sh(t, "F", "echo more >> New.md; echo first > Empty.md")
	checkText(t, "accepted view of New.md", diffwrap.Everything.Accepted(m.SourceText("F/New.md")), "new\nmore\n")
	checkText(t, "accepted view of Empty.md", diffwrap.Everything.Accepted(m.SourceText("F/Empty.md")), "first\n")
}

// What a mapping brings after the last close is committed all the same.
func TestMappedPagesAfterClose(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	a := m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "r+b"))`)
	a.do(`keep("m", mmap.mmap(held["f"].fileno(), 0))`)
	a.do(`held["f"].close()`)
	a.do(`held["m"].write(b"# TIDE") and held["m"].flush()`)
	eventually(t, func() error {
		return wants("accepted view", diffwrap.Everything.Accepted(m.SourceText("F/Note.md")), "# TIDE"+tideTable[6:])
	})
}

// What cannot be written is reported, and the note stays as it was.
func TestBadContent(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	a := m.agent(t, "F")
	for _, tt := range []struct{ expr, want string }{
		{`os.close(keep("fd", os.open("Note.md", os.O_WRONLY | os.O_TRUNC)) or os.write(held["fd"], b"bad \xff") and held["fd"])`, `"Invalid or incomplete multibyte or wide character"`},
		{`os.ftruncate(keep("fd", os.open("Note.md", os.O_WRONLY)) or held["fd"], (16 << 20) + 1)`, `"File too large"`},
		{`os.close(held["fd"])`, `null`},
		{`open("Bad.md", "wb").write(b"bad \xff")`, `5`}, // the error of the implicit close is nobody's
		{`os.close(keep("fd", os.open("x.tmp", os.O_WRONLY | os.O_CREAT)) or os.write(held["fd"], b"bad \xff") and held["fd"])`, `null`},
		{`os.rename("x.tmp", "Note.md")`, `"Invalid or incomplete multibyte or wide character"`},
		{`os.unlink("x.tmp")`, `null`},
	} {
		checkText(t, tt.expr, a.do("%s", tt.expr), tt.want)
	}
	eventually(t, func() error { return wants("Note.md", m.cat(t, "F/Note.md"), tideTable) })
	checkText(t, "source", m.SourceText("F/Note.md"), tideTable)
	m.checkNames(t, "F", "Note.md")
}
