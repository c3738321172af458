package fusefs

import (
	"os"
	"path/filepath"
	"testing"
)

// Whether setuid programs work is read from the process's status.
func TestDiagnosePrivileges(t *testing.T) {
	t.Parallel()
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

// Without the capability to mount, which containers lack, nobody can.
func TestCheckPrivilege(t *testing.T) {
	t.Parallel()
	const all, noAdmin = "000001ffffffffff", "000001ffffdfffff"
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{"CapEff:\t" + all + "\nCapBnd:\t" + all + "\n", true},
		{"CapEff:\t" + noAdmin + "\nCapBnd:\t" + noAdmin + "\n", false},
		{"Name:\trelayfs\n", true},
	} {
		status := filepath.Join(t.TempDir(), "status")
		if err := os.WriteFile(status, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkPrivilege(status); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
}
