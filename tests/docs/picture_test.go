package docs

import (
	"encoding/xml"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// maxPicture is how large README's picture may be, in bytes: everybody who reads the page fetches it.
const maxPicture = 60 << 10

// The moving picture of README.md shows what the commands in it print today.
func TestPicture(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "python3", "fusermount3", "mountpoint")
	s := harness.NewSandbox(t)
	file := s.Path("session.svg")
	cmd := exec.CommandContext(t.Context(), harness.Repo("tests", "scripts", "picture.py"), file)
	cmd.Env = append(os.Environ(), pathWithRelayfs(t, s))
	if out := harness.RunCommand(t, cmd); out.Code != 0 {
		t.Fatalf("picture.py: exit code %d\n%s", out.Code, out.Stderr)
	}
	picture := harness.ReadFile(t, harness.Repo("docs", "session.svg"))
	if got, want := texts(t, picture), texts(t, harness.ReadFile(t, file)); !slices.Equal(got, want) {
		t.Errorf("docs/session.svg shows\n%q\nThe commands print\n%q\nDraw it again: make picture", got, want)
	}
	if len(picture) > maxPicture {
		t.Errorf("docs/session.svg has %d bytes, at most %d are allowed", len(picture), maxPicture)
	}
}

// texts are the texts of an SVG, without what differs from run to run.
func texts(t *testing.T, svg string) (texts []string) {
	t.Helper()
	var root struct {
		Groups []struct {
			Text string `xml:"text"`
		} `xml:"g"`
	}
	if err := xml.NewDecoder(strings.NewReader(svg)).Decode(&root); err != nil {
		t.Fatal(err)
	}
	for _, g := range root.Groups {
		texts = append(texts, stable(g.Text))
	}
	if len(texts) == 0 {
		t.Fatal("the picture shows no text")
	}
	return texts
}
