package tests

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// checkText compares two texts and shows where they part.
func checkText(t *testing.T, what, got, want string) {
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

// checkSuggested checks the law of the product for one note: the vault's file
// holds the difference between before and after as suggestions, no more and no
// less, and the mount shows after.
func (m *mount) checkSuggested(t *testing.T, name, before, after string) {
	t.Helper()
	checkText(t, "mount's text of "+name, readFile(t, m.path(name)), after)
	raw := readFile(t, m.vaultPath(name))
	checkText(t, "original view of the vault's "+name, diffwrap.Original(raw), before)
	checkText(t, "accepted view of the vault's "+name, diffwrap.Accepted(raw), after)
}

// checkWhole checks that a note's views are what they must be, and that no mark is left
// when everything is decided.
func (m *mount) checkWhole(t *testing.T, when, name, original, accepted string) {
	t.Helper()
	raw := readFile(t, m.vaultPath(name))
	checkText(t, when+": original view", diffwrap.Original(raw), original)
	checkText(t, when+": accepted view", diffwrap.Accepted(raw), accepted)
	checkText(t, when+": on the mount", readFile(t, m.path(name)), accepted)
	for _, view := range []string{original, accepted} {
		if strings.Contains(view, "++}") || strings.Contains(view, "{++") {
			t.Errorf("%s: a mark in a view: %q", when, view)
		}
	}
}

// checkNames finds what relayfs left behind in a vault.
func checkNames(t *testing.T, vault string, files map[string]string) {
	t.Helper()
	for _, name := range listFiles(t, vault) {
		if files[name] == "" && !strings.HasSuffix(name, "/") {
			t.Errorf("left behind in the vault: %s", name)
		}
	}
}

func checkErrno(t *testing.T, err error, want ...error) {
	t.Helper()
	if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
		t.Errorf("got %v, want any of %v", err, want)
	}
}

func checkRefused(t *testing.T, out output, want string) {
	t.Helper()
	if out.code != 1 {
		t.Errorf("exit code %d, want 1", out.code)
	}
	if !strings.HasPrefix(out.stderr, "relayfs: error: ") || !strings.Contains(out.stderr, "\nrelayfs: hint: ") {
		t.Errorf("no error and hint in %q", out.stderr)
	}
	if !strings.Contains(out.stderr, want) {
		t.Errorf("%q does not say %q", out.stderr, want)
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "nothing"
	}
	return strconv.Quote(lines[i])
}
