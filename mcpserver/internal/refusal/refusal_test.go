package refusal_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/refusal"
)

// A model is told what is wrong with a name.
func TestBadName(t *testing.T) {
	err := &model.Error{Op: "create", Path: "Team/a:b.md", Err: model.CheckWindowsName("a:b.md")}
	got := refusal.Of(err, refusal.Words{})
	const want = `The path "Team/a:b.md" is not allowed: it holds the character ':', so people on Windows could not have it; choose another name.`
	if !got.IsError || len(got.Text) != 1 || got.Text[0] != want {
		t.Errorf("%+v, want %q", got, want)
	}
}
