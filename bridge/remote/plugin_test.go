package remote_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// The rules of the Obsidian plugin watch the folder's document while relayfs and
// the plugin's model create, rename, move, edit and delete: they never see a
// Markdown entry without its twin, a rename in two steps, an empty document or a
// key with an empty element.
func TestPluginRules(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		c := mustOpen(t, s, direct)
		r := rand.New(rand.NewPCG(rand.Uint64(), 2))
		const steps = 100
		var notes []string
		for i := range steps {
			switch n := r.IntN(10); {
			case n < 3 || len(notes) < 3:
				path := fmt.Sprintf("%s/n%d.md", []string{"a", "b", "a/sub"}[r.IntN(3)], i)
				if r.IntN(2) == 0 {
					p.do("create", args{"path": path, "text": "by a person\n"})
				} else {
					c.create(model.Path("Team/"+path), []string{"", "by an agent\n"}[r.IntN(2)])
				}
				notes = append(notes, path)
			case n < 5:
				c.tryRename(notes, r.IntN(len(notes)), fmt.Sprintf("b/moved%d.md", i))
			case n < 6:
				at := r.IntN(len(notes))
				to := fmt.Sprintf("a/sub/m%d.md", i)
				p.do("rename", args{"from": notes[at], "to": to})
				notes[at] = to
			case n < 7:
				at := r.IntN(len(notes))
				if r.IntN(2) == 0 {
					c.tryRemove(notes[at])
				} else {
					p.do("remove", args{"path": notes[at]})
				}
				notes = append(notes[:at], notes[at+1:]...)
			case n < 8:
				p.do("edit", args{"path": notes[r.IntN(len(notes))]})
			default:
				c.tryWrite(notes[r.IntN(len(notes))])
			}
		}
		c.awaitSent()
		p.clean()
		q := s.person()
		q.clean()
	})
}

// tryRename, tryRemove and tryWrite do what a program does that does not know
// yet what a person has just done: they may find nothing.

func (c *client) tryRename(notes []string, at int, to string) {
	_, err := c.Rename(c.t.Context(), model.Path("Team/"+notes[at]), model.Path("Team/"+to), bridge.ChangeRequest{})
	if err == nil {
		notes[at] = to
	}
}

func (c *client) tryRemove(path string) {
	_, _ = c.Remove(c.t.Context(), model.Path("Team/"+path), bridge.ChangeRequest{})
}

func (c *client) tryWrite(path string) {
	_, _ = c.Update(c.t.Context(), model.Path("Team/"+path), model.Author{Name: "ai"}, nil, func(current *model.Version) (string, error) {
		return strings.ToUpper(current.Text()) + "more\n", nil
	})
}
