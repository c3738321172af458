package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// What Create made can be undone, for good, until somebody has changed it.
func TestRetract(t *testing.T) {
	for name, meanwhile := range map[string]func(person){
		"nothing":         nil,
		"saved in place":  func(p person) { p.Save("N.md", "typed") },
		"saved by rename": func(p person) { p.Save("N.md~", "typed"); p.Rename("N.md~", "N.md") },
	} {
		v, p := open(t, vault.Options{})
		stamp, err := v.Create(t.Context(), "N.md", model.NewFile{Data: []byte("new"), Mode: 0o644, ModTime: time.Now()})
		p.check(err)
		if meanwhile != nil {
			meanwhile(p)
		}
		err = v.Retract(t.Context(), "N.md", stamp)
		switch {
		case meanwhile == nil:
			p.check(err)
			if err := v.Retract(t.Context(), "N.md", stamp); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("retracted again: %v", err)
			}
			if left, err := os.ReadDir(p.dir); err != nil || len(left) > 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
		case !errors.Is(err, model.ErrConflict) || p.Content("N.md") != "typed":
			t.Errorf("%s meanwhile: error %v, the file holds %q", name, err, p.Content("N.md"))
		}
	}
}
