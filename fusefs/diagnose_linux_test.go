package fusefs

import (
	"os"
	"path/filepath"
	"testing"
)

// Whether setuid programs work is read from the process's status.
func TestDiagnosePrivileges(t *testing.T) {
	restricted := Fail
	if os.Geteuid() == 0 {
		restricted = OK
	}
	for text, want := range map[string]Severity{
		"Name:\trelayfs\nNoNewPrivs:\t0\n": OK,
		"Name:\trelayfs\nNoNewPrivs:\t1\n": restricted,
	} {
		status := filepath.Join(t.TempDir(), "status")
		if err := os.WriteFile(status, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := diagnosePrivileges(status); got.Severity != want || got.Detail == "" {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
	if got := diagnosePrivileges(filepath.Join(t.TempDir(), "missing")); got.Severity != Warn {
		t.Errorf("no status: %+v, want %s", got, Warn)
	}
}
