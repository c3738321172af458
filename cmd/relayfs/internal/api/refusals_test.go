package api

import (
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// What a refusal says of an offline folder, a full disk and too many open files has the next step.
func TestRefusalsHaveTheNextStep(t *testing.T) {
	for _, err := range []error{model.ErrOffline, model.ErrNoSpace, syscall.EMFILE} {
		var l Refusals
		l.Add(model.Refusal{Path: "V/a.md", Text: err.Error(), Err: err})
		if got := l.Of("V")[0]; got.Text != err.Error()+"; "+Hint(err) || strings.HasSuffix(got.Text, "; ") {
			t.Errorf("%v: %q", err, got.Text)
		}
	}
}
