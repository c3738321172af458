package save

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// savedNameHolds is how long a name shows what was saved to it, and nothing else.
const savedNameHolds = 300 * time.Millisecond

// A program that looks by path, right after a save, whether it saved what it meant to,
// finds its own bytes, whatever became of them in the note: Claude Code does, and says
// otherwise that the write failed. A moment later it finds the note, with a later time.
func TestSavedBytesAreThereToVerify(t *testing.T) {
	t.Parallel()
	const text = "# Note\n\nalpha beta\n\nlast line\n"
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	replaced := func(s string) string { return strings.Replace(s, "beta", "BETA", 1) }
	type saved struct {
		note, written, shown string
		before, after        string // what a person saves before and after the save, if anything
	}
	cases := map[string]saved{
		"LF for CR LF":            {note: crlf, written: replaced(text), shown: replaced(crlf)},
		"CR LF for LF":            {note: text, written: replaced(crlf), shown: replaced(text)},
		"line ends only":          {note: crlf, written: text}, // which stays, see TestFormStaysAsWritten
		"no final newline":        {note: text, written: strings.TrimSuffix(text, "\n")},
		"no byte order mark":      {note: "\ufeff" + text, written: replaced(text)},
		"nothing else":            {note: text, written: replaced(text), shown: replaced(text)},
		"a person saved before":   {note: text, written: replaced(text), before: text + "by a person\n", shown: replaced(text) + "by a person\n"},
		"a person saves after it": {note: text, written: replaced(text), after: "by a person\n", shown: replaced(text) + "by a person\n"},
	}
	for _, mode := range []string{"suggest", "direct"} {
		files := make(map[string]string)
		for name, c := range cases {
			for how := range verifiedSaves {
				files[name+", "+how+".md"] = c.note
			}
		}
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Vault", files), "--mode", mode)
		for name, c := range cases {
			for how, save := range verifiedSaves {
				t.Run(name+", "+mode+", "+how, func(t *testing.T) {
					t.Parallel()
					shown, after := c.shown, c.after
					if mode == "direct" && c.before+c.after == "" {
						shown = c.written
					}
					inVault := m.VaultPath(name + ", " + how + ".md")
					note := m.Path(name + ", " + how + ".md")
					harness.CheckText(t, "note", harness.ReadFile(t, note), c.note)
					if c.before != "" {
						harness.WriteFile(t, inVault, c.before)
					}
					started := time.Now()
					if err := save(note, c.written); err != nil {
						t.Fatal(err)
					}
					mtime := checkOwnBytes(t, note, c.written, started, func() {
						if after != "" {
							harness.WriteFile(t, inVault, harness.ReadFile(t, inVault)+after)
						}
					})
					if shown == "" || shown == c.written {
						return
					}
					harness.Eventually(t, need.Scaled(10*time.Second), func() error {
						if got := harness.ReadFile(t, note); got != shown {
							return fmt.Errorf("the note is %q, want %q", got, shown)
						}
						return nil
					})
					if info, err := os.Stat(note); err != nil || info.Size() != int64(len(shown)) || !info.ModTime().Truncate(time.Millisecond).After(mtime.Truncate(time.Millisecond)) {
						t.Errorf("it has %d bytes as of %v, %v; what was saved is as of %v", info.Size(), info.ModTime(), err, mtime)
					}
				})
			}
		}
	}
}

var verifiedSaves = map[string]func(note, text string) error{
	"in place": func(note, text string) error { return os.WriteFile(note, []byte(text), 0o644) },
	"by rename": func(note, text string) error {
		tmp := note + ".tmp.4711.0123456789ab"
		if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
			return err
		}
		if err := os.Chmod(tmp, 0o644); err != nil {
			return err
		}
		return os.Rename(tmp, note)
	},
}

// checkOwnBytes looks at a note for as long as it shows what was saved to it, and
// returns its time. then is called after the first look.
func checkOwnBytes(t *testing.T, note, text string, started time.Time, then func()) (mtime time.Time) {
	t.Helper()
	for looks := 0; ; looks++ {
		info, err := os.Stat(note)
		data, readErr := os.ReadFile(note)
		after := time.Since(started)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		if after > savedNameHolds {
			if looks == 0 {
				t.Skip("the machine is too slow to look in time")
			}
			return mtime
		}
		if info.Size() != int64(len(text)) || string(data) != text {
			t.Fatalf("%v after the save the note has %d bytes, %q, want those of %q", after, info.Size(), data, text)
		}
		if mtime = info.ModTime(); looks == 0 {
			then()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What a person does is on the mount soon, however often a program saves.
func TestSavesHideNobodysChangesForLong(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Note.md": "program 0\n\nmiddle\n"}))
	note := m.Path("Note.md")
	stop, saving, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				failed <- nil
				return
			default:
			}
			for _, save := range verifiedSaves {
				if err := save(note, fmt.Sprintf("program %d\n\nmiddle\n", i)); err != nil {
					failed <- err
					return
				}
			}
			if i == 1 {
				close(saving)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	select {
	case <-saving:
	case err := <-failed:
		t.Fatal(err)
	}
	harness.WriteFile(t, m.VaultPath("Note.md"), harness.ReadFile(t, m.VaultPath("Note.md"))+"by a person\n")
	took := harness.Eventually(t, need.Scaled(5*time.Second), func() error {
		// Another process reads: one that opens the note has read it, and what it writes without the person's line deletes that.
		if text, err := exec.Command("cat", note).Output(); err != nil || !strings.HasSuffix(string(text), "by a person\n") {
			return fmt.Errorf("the note is %q, %v, the file %q", text, err, harness.ReadFile(t, m.VaultPath("Note.md")))
		}
		return nil
	})
	t.Logf("seen after %v", took)
	close(stop)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}
