package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// gardenNotes are a vault as people have them, with changes of two agents.
var gardenNotes = map[string]string{
	"Garden/Open Day.md": `---
status: draft
tags: [event, 2026]
---
# Open day in the garden

We open the gates on {--Saturday--}{++Sunday++} at ten.{>>The church fete is on Saturday, so I moved it.<<} Everybody who has helped in the last year is {++very ++}welcome, and so are their dogs.

> [!tip] What to bring
> Boots, a cup{++ and a towel++}.

## Who does what

1. Ann waters the {--pots--}{++seedlings++}.
2. Bob bakes{++ two cakes++}.
{++3. Cleo looks after the gate.
++}4. Dan sings.

- [{-- --}{++x++}] print the ==posters==
- [ ] ask about [[Parking|the meadow]]
- [ ] buy {--coffee--}{++tea++}

| Hour | Where | What |
|------|-------|------|
| 10 | gate | {--coffee--}{++tea and coffee++} |
| 12 | pond | a talk on frogs |

{--Parking is on the meadow behind the church, and nowhere else on that day, because the farmer asked us to keep the lane free.--}{++There is no room for cars this year. Everybody comes by bus or on foot; the bus stops at the church every half hour.++}

A source.[^1] And $a^2 + b^2 = c^2$.

[^1]: The parish magazine, {--May--}{++June++} 2026.
`,
	"Garden/Pond.md":             "# Pond\n\nThere {--is one frog--}{++are two frogs++} in it, {--one very loud--}{++both very loud++}.\n\nIt freezes over in {++most ++}winters.\n",
	"Garden/Compost.md":          "# Compost\n\n{--Turn it--}{++Turn the heap++} each month.\n",
	"Letters/Letters on Soil.md": "# Letters on soil\n\nDear {--Sir--}{++Madam++},\n\nthe soil is {>>is it?<<}sandy.\n",
	"Notes/Remarks.md":           "Only a comment here{>>Could this be shorter?<<}.\n",
	"Notes/Slugs.md":             "# Slugs\n\nThey eat everything. Beer helps.\n",
	"Notes/Plan.md":              "# Plan\n\nSee [[Slugs]].\n",
}

// newMap is what an agent makes of a canvas.
const newMap = `{"nodes":[{"id":"a","type":"text","text":"Beds","x":0,"y":0,"width":200,"height":80},{"id":"b","type":"text","text":"Pond","x":320,"y":120,"width":200,"height":80}],"edges":[{"id":"e","fromNode":"a","toNode":"b","label":"water"}]}`

// The page is usable by people who cannot see it, or not well, in every state, both colours and on every screen.
func TestReviewPageIsAccessible(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Garden", gardenNotes)
	harness.WriteFile(t, filepath.Join(vault, "Map.canvas"), `{"nodes":[{"id":"a","type":"text","text":"Beds","x":0,"y":0,"width":200,"height":80}],"edges":[]}`)
	client := s.MCP(t, "--toolsets", "content", "--author", "claude", vault)
	client.MustCall(t, "get_content", "entity_type", "canvas", "path", "Garden/Map.canvas")
	client.MustCall(t, "replace_content", "entity_type", "canvas", "path", "Garden/Map.canvas", "content", newMap)
	client.Close(t)
	m := s.Mount(t, vault)
	if err := os.Remove(m.Path("Notes/Slugs.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.Path("Notes/Plan.md"), m.Path("Garden/Plan for June.md")); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, m.Path("Garden/New ideas.md"), "# New ideas\n\nA hedgehog house.\n")
	b := openPage(t, reviewPage(t, s, vault))
	shots := os.Getenv("RELAYFS_SHOTS") // a folder, to look at it
	sizes := []string{"400 800", "800 900", "1280 800"}
	states := 0
	check := func(state string) {
		t.Helper()
		states++
		for i, size := range sizes {
			// axe-core takes long: for most states it looks at one size, and for make soak at all.
			looks := i == states%len(sizes) || state == "note" || randomtest.Soaks() || shots != ""
			for _, scheme := range []string{"light", "dark"} {
				p := b.do(t, "look "+size+" "+scheme)
				if p.Overflow > 0 {
					t.Errorf("%s at %s: %v too wide", state, size, p.Overflow)
				}
				if !looks {
					break // the colours change nothing else
				}
				for _, f := range b.do(t, "axe").Findings {
					t.Errorf("%s at %s, %s: %s", state, size, scheme, f)
				}
				if shots != "" {
					b.do(t, fmt.Sprintf("shot %s/%s-%.4s-%s.png", shots, state, size, scheme))
				}
			}
		}
	}
	b.do(t, "wait pending suggestions")
	check("proposals")
	b.do(t, "click Open Day")
	b.do(t, "wait everybody")
	b.do(t, "wait parish magazine")
	check("note")
	b.do(t, "press e")
	check("editing")
	b.do(t, "press Escape")
	b.do(t, "press y")
	b.do(t, "wait ✓ accepted")
	b.do(t, "press n")
	b.do(t, "wait ✗ rejected")
	check("decided")
	b.do(t, "press t")
	b.do(t, "wait status: draft")
	check("source")
	b.do(t, "press t")
	b.do(t, "press ?")
	check("keys")
	b.do(t, "press Escape")
	b.do(t, "press /")
	b.do(t, "type garden")
	b.do(t, "press Enter")
	b.do(t, "click Accept 1") // of all notes
	b.do(t, "wait goes to .trash")
	check("question")
	b.do(t, "press Escape")
	b.do(t, "press h")
	b.do(t, "wait Take back")
	check("history")
	b.do(t, "press /")
	b.do(t, "type nothing like this")
	check("nothing matches")
	b.do(t, "press /")
	b.do(t, "type ")
	m.Stop(t)
	b.do(t, "wait has ended")
	check("disconnected")
}
