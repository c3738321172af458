package remote_test

import (
	"errors"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
)

// Names that Windows cannot have are not given to anything, neither at once nor as a
// proposal. What has one is served, written, moved and removed.
func TestNamesForWindows(t *testing.T) {
	t.Parallel()
	for _, structure := range []bridge.StructurePolicy{bridge.StructureDirect, bridge.StructurePropose} {
		t.Run(structure.String(), func(t *testing.T) {
			t.Parallel()
			s := sharedServer(t, "y-websocket")
			p := s.person()
			p.do("create", args{"path": "Why?.md", "text": "because\n"})
			p.do("create", args{"path": "Good.md", "text": "good\n"})
			c := mustOpen(t, s, direct, func(_ *remote.Options, o *bridge.Options) { o.Structure = structure })
			c.awaitText("Team/Why?.md", "because\n")
			c.awaitText("Team/Good.md", "good\n")

			_, create := c.Create(t.Context(), "Team/a:b.md", bridge.Write{Text: "x\n", By: model.Author{Name: "ai"}})
			_, inFolder := c.Create(t.Context(), "Team/nul/x.md", bridge.Write{Text: "x\n", By: model.Author{Name: "ai"}})
			_, rename := c.Rename(t.Context(), "Team/Good.md", "Team/Good?.md", bridge.ChangeRequest{})
			_, file := c.WriteFile(t.Context(), "Team/pic*.png", []byte("x"), bridge.ChangeRequest{})
			for what, err := range map[string]error{
				"create": create, "a folder of a new note": inFolder, "rename": rename, "file": file,
				"mkdir": c.Mkdir(t.Context(), "Team/etc.", bridge.ChangeRequest{}), "may write": c.MayWrite("Team/a|b.md"),
			} {
				if _, bad := errors.AsType[*model.BadNameError](err); !bad || !errors.Is(err, model.ErrBadName) {
					t.Errorf("%s: %v", what, err)
				}
			}
			c.write("Team/Why?.md", func(s string) string { return s + "of that\n" })
			p.do("awaitText", args{"path": "Why?.md", "text": "because\nof that\n"})
			noError(t, c.Mkdir(t.Context(), "Team/Old", bridge.ChangeRequest{}))
			c.rename("Team/Why?.md", "Team/Old/Why?.md")
			c.rename("Team/Old/Why?.md", "Team/Old/Why.md")
		})
	}
}
