package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A name that came to be taken while a server had lost its data keeps both texts, here
// and for everybody else: the second one gets a free name, and the log says so.
func TestServerThatLostItsDataKeepsBothTexts(t *testing.T) {
	t.Parallel()
	const ours, theirs = "what stood here before\n", "what was written meanwhile 🦔\n"
	for i := range 2 { // which of the two keeps the name is by chance
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			srv := startNPMServer(t, "y-websocket", "0", "")
			port := srv.port
			s := harness.NewSandbox(t)
			m := s.MountAt(t, "ws://127.0.0.1:"+port+"#Team=team", s.Mkdir(t, "mnt"), "--mode", "direct")
			dir := filepath.Join(m.Dir, "Team", "sub")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"Note.md": ours, "Same.md": "the same\n", "Else.md": "else\n"} {
				if err := harness.WriteAll(filepath.Join(dir, name), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			awaitAcknowledged(t, s)
			m.Stop(t)
			srv.stop()

			startNPMServer(t, "y-websocket", port, "")
			g := gridServer{client: "y-websocket", room: "team", clientURL: "ws://127.0.0.1:" + port}
			p := g.person(t)
			p.do("create", map[string]any{"path": "sub/Note.md", "text": theirs})
			p.do("create", map[string]any{"path": "sub/Same.md", "text": "the same\n"})
			m = s.MountAt(t, "ws://127.0.0.1:"+port+"#Team=team", m.Dir, "--mode", "direct")
			both := func(read func(name string) (string, error)) {
				t.Helper()
				harness.Eventually(t, serverPatience, func() error {
					one, err := read("Note.md")
					if err != nil {
						return err
					}
					two, err := read("Note 2.md")
					if err != nil {
						return err
					}
					if one == two || !strings.Contains(ours+theirs, one) || !strings.Contains(ours+theirs, two) {
						return fmt.Errorf("the two are %q and %q", one, two)
					}
					return nil
				})
			}
			both(func(name string) (string, error) {
				data, err := os.ReadFile(filepath.Join(dir, name))
				return string(data), err
			})
			awaitAcknowledged(t, s)
			q := g.person(t)
			q.do("has", map[string]any{"path": "sub/Note 2.md"})
			both(func(name string) (text string, err error) {
				q.do("text", map[string]any{"path": "sub/" + name}, &text)
				return text, nil
			})
			harness.CheckListing(t, dir, []string{"Else.md", "Note 2.md", "Note.md", "Same.md"})
			m.Log.Says(t, "Note 2.md")
			m.Stop(t)
		})
	}
}
