package bridgetest_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

const plan = "Notes/Plan.md"

func open(t *testing.T, f *bridgetest.Fixture, p model.Path) *model.Version {
	t.Helper()
	v, err := f.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPersonIsPublished(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n", "Other/sub/N.md": "two\n"})
	if got := open(t, f, plan).Text(); got != "one\n" {
		t.Errorf("text is %q", got)
	}
	f.Person(plan, "three\n")
	if got := open(t, f, plan).Text(); got != "three\n" {
		t.Errorf("text is %q after a person's save", got)
	}
	f.Person("Other/new/M.md", "four\n")
	if got := open(t, f, "Other/new/M.md").Text(); got != "four\n" {
		t.Errorf("text of the new note is %q", got)
	}
	f.Rename("Other/sub", "Other/moved")
	if got := open(t, f, "Other/moved/N.md").Text(); got != "two\n" {
		t.Errorf("text of the moved note is %q", got)
	}
	f.Delete("Other/moved")
	if _, err := f.Open(t.Context(), "Other/moved/N.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of a deleted note: %v, want %v", err, fs.ErrNotExist)
	}
}

func TestWriteReachesTheSource(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	if _, err := f.Write(t.Context(), plan, bridge.Write{Text: "two\n"}); err != nil {
		t.Fatal(err)
	}
	if got := f.SourceText(plan); got != "two\n" {
		t.Errorf("source holds %q", got)
	}
}

func TestOffline(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"})
	f.SetOffline("Notes", true)
	if _, err := f.Write(t.Context(), plan, bridge.Write{Text: "two\n"}); !errors.Is(err, model.ErrOffline) {
		t.Errorf("write: %v, want %v", err, model.ErrOffline)
	}
	f.SetOffline("Notes", false)
	if _, err := f.Write(t.Context(), plan, bridge.Write{Text: "two\n"}); err != nil {
		t.Errorf("write: %v", err)
	}
}
