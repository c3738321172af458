package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/relayfs/relayfs/bridge/remote/control"
)

var ann = control.Login{
	Service: control.Service{API: "https://api.example.org", Auth: "https://auth.example.org"},
	User:    "ann@example.org", Token: "user-secret", Since: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
}

// everything returns the text of all files below dir, and fails the test for one that others may read.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", path, info.Mode())
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// Where there is a keyring the secret is in no file; where there is none it is in a file of the user alone. Either way it
// is there until logout, and a refresh that comes after that does not bring it back.
func TestLogin(t *testing.T) {
	for _, c := range []struct {
		name   string
		ring   error // of the keyring
		inFile bool
	}{{"keyring", nil, false}, {"no keyring", errors.New("no D-Bus"), true}} {
		t.Run(c.name, func(t *testing.T) {
			if keyring.MockInit(); c.ring != nil {
				keyring.MockInitWithError(c.ring)
			}
			base := t.TempDir()
			a := AccountOf(base)
			if _, err := a.Load(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("before the login: %v", err)
			}
			if err := a.Store(ann); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(everything(t, base), ann.Token); got != c.inFile {
				t.Errorf("the secret is in a file: %v, want %v", got, c.inFile)
			}
			if l, err := AccountOf(base).Load(); err != nil || l != ann {
				t.Errorf("login %+v, %v, want %+v", l, err, ann)
			}
			next, stale := ann, ann
			next.Token, stale.Token = "user-secret-2", "user-secret-3"
			if err := a.Replace(ann, next); err != nil {
				t.Error(err)
			}
			if err := a.Replace(ann, stale); err != nil {
				t.Error(err)
			}
			if l, err := a.Load(); err != nil || l != next {
				t.Errorf("login %+v, %v, want %+v", l, err, next)
			}
			left, err := a.Remove()
			if err != nil || left.User != ann.User || left.Token != "" {
				t.Errorf("removed %+v, %v", left, err)
			}
			if err := a.Replace(next, ann); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("refreshed after the logout: %v", err)
			}
			if _, err := a.Load(); !errors.Is(err, fs.ErrNotExist) || everything(t, base) != "" {
				t.Errorf("after the logout: %v", err)
			}
			if secret, err := keyring.Get("relayfs", filepath.Join(base, "login")); err == nil {
				t.Errorf("the keyring still has %q", secret)
			}
		})
	}
}

// Another login does not get what the earlier one could open.
func TestAnotherLogin(t *testing.T) {
	keyring.MockInit()
	base := t.TempDir()
	a := AccountOf(base)
	if err := a.Store(ann); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "login", "folders.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Store(ann); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(filepath.Join(base, "login")); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; want the login alone", files, err)
	}
	if _, err := a.Folders(); err == nil {
		t.Error("the list of the earlier login is still there")
	}
}
