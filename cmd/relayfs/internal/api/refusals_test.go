package api

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// What a refusal says of an offline folder and of a full disk has the next step.
func TestRefusalsHaveTheNextStep(t *testing.T) {
	for _, err := range []error{model.ErrOffline, model.ErrNoSpace} {
		var l Refusals
		l.Add(model.Refusal{Path: "V/a.md", Text: err.Error(), Err: err})
		if got := l.Of("V")[0]; got.Text != err.Error()+"; "+Hint(err) || strings.HasSuffix(got.Text, "; ") {
			t.Errorf("%v: %q", err, got.Text)
		}
	}
}

func TestHintOfTooManyOpenFiles(t *testing.T) {
	if err := error(&fs.PathError{Op: "open", Path: "V", Err: syscall.EMFILE}); !strings.Contains(Hint(err), "ulimit -n") {
		t.Errorf("%v: hint %q", err, Hint(err))
	}
}
