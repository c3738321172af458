//go:build linux

package harness

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

func CheckText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s differs at byte %d:\n got %q\nwant %q", what, at, excerpt(got, at), excerpt(want, at))
}

func excerpt(s string, at int) string { return s[max(0, at-40):min(len(s), at+160)] }

// CheckSuggested checks the product's main guarantee for one note: the original view of the vault's file equals the
// argument before, and its accepted view and the mount's text equal the argument after.
func (m *Mount) CheckSuggested(t *testing.T, name, before, after string) {
	t.Helper()
	CheckText(t, "mount's text of "+name, ReadFile(t, m.Path(name)), after)
	raw := ReadFile(t, m.VaultPath(name))
	CheckText(t, "original view of the vault's "+name, diffwrap.Everything.Original(raw), before)
	CheckText(t, "accepted view of the vault's "+name, diffwrap.Everything.Accepted(raw), after)
}

func CheckNames(t *testing.T, vault string, files map[string]string) {
	t.Helper()
	for _, name := range ListFiles(t, vault) {
		if files[name] == "" && !strings.HasSuffix(name, "/") {
			t.Errorf("left behind in the vault: %s", name)
		}
	}
}

func CheckErrno(t *testing.T, err error, want ...error) {
	t.Helper()
	if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
		t.Errorf("got %v, want any of %v", err, want)
	}
}

// CheckRefused checks that a command failed with an error that contains want, and a hint.
func CheckRefused(t *testing.T, out Output, want string) {
	t.Helper()
	if out.Code != 1 {
		t.Errorf("exit code %d, want 1", out.Code)
	}
	if !strings.HasPrefix(out.Stderr, "relayfs: error: ") || !strings.Contains(out.Stderr, "\nrelayfs: hint: ") {
		t.Errorf("no error and hint in %q", out.Stderr)
	}
	if !strings.Contains(out.Stderr, want) {
		t.Errorf("%q does not say %q", out.Stderr, want)
	}
}

func LineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "nothing"
	}
	return strconv.Quote(lines[i])
}
