package save

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"golang.org/x/sys/unix"
)

// swaps exchange or rotate notes; done is what a plain folder has afterwards.
var swaps = []saver{
	{"through a scratch name", nil, harness.Shell(`mv a.md a.md.tmp && mv b.md a.md && mv a.md.tmp b.md`)},
	{"through rename(2) and a backup's name", []string{"python3"}, python(`
import os
os.rename('a.md', 'a.md.bak'); os.rename('b.md', 'a.md'); os.rename('a.md.bak', 'b.md')`)},
	{"three in a circle", nil, harness.Shell(`mv a.md hold.tmp && mv b.md a.md && mv c.md b.md && mv hold.tmp c.md`)},
	{"with a folder's note", nil, harness.Shell(`mv a.md a.md~ && mv sub/d.md a.md && mv a.md~ sub/d.md`)},
	{"through a note's name", nil, harness.Shell(`mv a.md hold.md && mv b.md a.md && mv hold.md b.md`)},
	{"twice", nil, harness.Shell(`
for i in 1 2; do mv a.md x.tmp && mv b.md a.md && mv x.tmp b.md || exit 1; done
mv c.md x.tmp && mv b.md c.md && mv x.tmp b.md`)},
	{"there and back", nil, harness.Shell(`for i in 1 2; do mv a.md x.tmp && mv b.md a.md && mv x.tmp b.md || exit 1; done`)},
}

func renameat2(dir, from, to string, flags uint) error {
	return unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, from), unix.AT_FDCWD, filepath.Join(dir, to), flags)
}

var swapped = map[string]string{
	"a.md": "# A\n\nThe text of a.\n", "b.md": "# B\n\nWhat b says.\n", "c.md": "# C\n\nAnd c.\n", "sub/d.md": "# D\n\nBelow.\n",
}

// texts are the files below dir and what they hold.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	have := make(map[string]string)
	for _, name := range harness.ListFiles(t, dir) {
		if !strings.HasSuffix(name, "/") {
			have[name] = harness.ReadFile(t, filepath.Join(dir, name))
		}
	}
	return have
}

func checkTexts(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s:\n%q\nwant\n%q", what, got, want)
	}
}

// Notes that exchange their names are exchanged: at once on the mount, and in the
// vault as a person decides.
func TestSwaps(t *testing.T) {
	t.Parallel()
	for _, swap := range swaps {
		for mode, flags := range harness.FileModes {
			for _, verdict := range []string{"accept", "reject"} {
				if mode == "direct" && verdict == "reject" {
					continue // there is nothing to decide on
				}
				t.Run(strings.Join([]string{swap.name, mode, verdict}, ", "), func(t *testing.T) {
					t.Parallel()
					need.Programs(t, swap.tools...)
					testSwap(t, swap, verdict, flags...)
				})
			}
		}
	}
}

func testSwap(t *testing.T, swap saver, verdict string, flags ...string) {
	plain := t.TempDir()
	for name, text := range swapped {
		harness.WriteFile(t, filepath.Join(plain, name), text)
	}
	swap.save(t, plain)
	want := texts(t, plain)
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", swapped), flags...)
	swap.save(t, m.Path(""))
	checkTexts(t, "mount", texts(t, m.Path("")), want)
	time.Sleep(heldBack)
	checkTexts(t, "mount after a while", texts(t, m.Path("")), want)
	if len(flags) == 0 {
		checkNotUnseen(t, texts(t, m.Vault), swapped)
	}
	out := s.Run(t, "suggestions", verdict, "--all", m.Vault)
	if out.Code != 0 {
		t.Errorf("%s: exit %d: %s%s", verdict, out.Code, out.Stdout, out.Stderr)
	}
	if verdict == "reject" {
		want = swapped
	}
	left := func(dir string) map[string]string {
		have := texts(t, dir)
		// A new note whose renaming was to be decided on, too, stays when it is rejected.
		maps.DeleteFunc(have, func(_, text string) bool { return text == "" })
		return have
	}
	for _, dir := range []string{m.Vault, m.Path("")} { // the kernel is told of new names a moment after the decision
		harness.Eventually(t, harness.StartTimeout, func() error {
			if got := left(dir); !maps.Equal(got, want) {
				return fmt.Errorf("%s has %q, want %q", dir, got, want)
			}
			return nil
		})
	}
}

// checkNotUnseen checks that no note's text is gone from the vault that nobody has
// decided on.
func checkNotUnseen(t *testing.T, have, before map[string]string) {
	t.Helper()
	for name, text := range before {
		words := strings.TrimSpace(text[strings.Index(text, "\n"):])
		if !slices.ContainsFunc(slices.Collect(maps.Values(have)), func(s string) bool { return strings.Contains(s, words) }) {
			t.Errorf("the text of %s is gone from the vault: %q", name, have)
		}
	}
}

// A note that is moved to a backup's name and replaced by another note is replaced.
func TestReplacedAfterBackup(t *testing.T) {
	t.Parallel()
	for mode, flags := range harness.FileModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", swapped), flags...)
			harness.Shell(`mv a.md a.md.bak && mv b.md a.md`)(t, m.Path(""))
			check := func() {
				t.Helper()
				got := texts(t, m.Path(""))
				if got["a.md"] != swapped["b.md"] || got["a.md.bak"] != swapped["a.md"] || got["b.md"] != "" {
					t.Errorf("mount has %q", got)
				}
			}
			check()
			time.Sleep(heldBack)
			check()
			if mode == "direct" {
				harness.CheckText(t, "the vault's trash", harness.ReadFile(t, m.VaultPath(".trash/b.md")), swapped["a.md"])
				return
			}
			if out := s.Run(t, "suggestions", "reject", "--all", m.Vault); out.Code != 0 {
				t.Errorf("reject: exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
			}
			checkTexts(t, "vault after a rejection", texts(t, m.Vault), swapped)
		})
	}
}

// What the flags refuse stays as it is.
func TestRenameFlags(t *testing.T) {
	t.Parallel()
	for mode, flags := range harness.FileModes {
		t.Run(mode, func(t *testing.T) {
			s := harness.NewSandbox(t)
			files := maps.Clone(swapped)
			files["pic.png"] = "png"
			m := s.Mount(t, s.Vault(t, "Vault", files), flags...)
			dir := m.Path("")
			harness.WriteFile(t, filepath.Join(dir, "x.tmp"), "scratch")
			before := texts(t, dir)
			for _, tt := range []struct {
				from, to string
				flags    uint
				want     syscall.Errno
			}{
				{"a.md", "b.md", unix.RENAME_EXCHANGE, syscall.EINVAL},
				{"a.md", "x.tmp", unix.RENAME_EXCHANGE, syscall.EINVAL},
				{"a.md", "b.md", unix.RENAME_NOREPLACE, syscall.EEXIST},
				{"a.md", "x.tmp", unix.RENAME_NOREPLACE, syscall.EEXIST},
				{"x.tmp", "a.md", unix.RENAME_NOREPLACE, syscall.EEXIST},
				{"a.md", "a.md", unix.RENAME_NOREPLACE, syscall.EEXIST},
				{"missing.md", "b.md", unix.RENAME_NOREPLACE, syscall.ENOENT},
				{"a.md", "b.md", unix.RENAME_WHITEOUT, syscall.EINVAL},
			} {
				if err := renameat2(dir, tt.from, tt.to, tt.flags); !errors.Is(err, tt.want) {
					t.Errorf("rename %s to %s with flags %d: %v, want %v", tt.from, tt.to, tt.flags, err, tt.want)
				}
			}
			checkTexts(t, "mount", texts(t, dir), before)
			if err := renameat2(dir, "a.md", "new.md", unix.RENAME_NOREPLACE); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "new.md")); err != nil {
				t.Error(err)
			}
		})
	}
}

// heldBack is longer than anything is held back on a mount: a name may be missing for
// three seconds during a save.
var heldBack = need.Scaled(3500 * time.Millisecond)
