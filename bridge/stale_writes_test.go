package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestStaleWrites has agents add, replace and remove words of their own in versions that others have changed since,
// while a user adds lines. After each write that succeeds, the note has each writer's words once.
func TestStaleWrites(t *testing.T) {
	randomtest.Check(t, 200, func(t testing.TB, r *rand.Rand) {
		const path = "F/Note.md"
		f := bridgetest.New(t, map[string]string{path: "first words here\nmore words\n"})
		words, bases := map[string][]string{}, map[string]*model.Version{}
		made := 0
		var log []string
		for range 5 + r.IntN(40) {
			who := randomtest.Pick(r, "claude", "codex", "goose", "")
			made++
			word := fmt.Sprintf("%c%dz", append([]byte(who), 'p')[0], made)
			if who == "" {
				f.Source("F").Person(t).Edit("Note.md", func(raw string) string {
					lines := strings.SplitAfter(raw, "\n")
					for {
						at := r.IntN(len(lines))
						if before := strings.Join(lines[:at], ""); strings.Count(before, "{") == strings.Count(before, "}") {
							return strings.Join(slices.Insert(lines, at, word+"\n"), "")
						}
					}
				})
				words[who] = append(words[who], word)
				log = append(log, fmt.Sprintf("user adds %s: %q", word, f.SourceText(path)))
				continue
			}
			if bases[who] == nil || r.IntN(3) == 0 {
				v, err := f.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				bases[who] = v
			}
			if r.IntN(3) == 0 {
				continue
			}
			base := bases[who]
			lines, after := strings.Split(base.Text(), "\n"), append(slices.Clone(words[who]), word)
			kind, at := r.IntN(6), r.IntN(len(strings.Split(base.Text(), "\n")))
			own := ""
			if len(words[who]) > 0 {
				own = randomtest.Pick(r, words[who]...)
			}
			line := slices.IndexFunc(lines, func(line string) bool { return slices.Contains(strings.Fields(line), own) })
			switch {
			case kind < 2 && own != "" && line >= 0:
				there := strings.Split(lines[line], " ")
				i := slices.Index(there, own)
				after = slices.DeleteFunc(after, func(w string) bool { return w == own || w == word && kind == 0 })
				if kind == 1 {
					there[i] = word
				} else {
					there = slices.Delete(there, i, i+1)
				}
				lines[line] = strings.Join(there, " ")
				if len(there) == 0 {
					lines = slices.Delete(lines, line, line+1)
				}
			case kind == 2 && lines[at] != "":
				lines[at] += " " + word
			default:
				lines = slices.Insert(lines, at, word)
			}
			text := strings.Join(lines, "\n")
			res, err := f.Write(t.Context(), path, bridge.Write{Base: base, Text: text, By: model.Author{Name: who, Session: who}})
			log = append(log, fmt.Sprintf("%s %d: %q becomes %q: %v", who, base.Seq(), base.Text(), text, err))
			if errors.Is(err, model.ErrRefused) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, fmt.Sprintf("    %d %q", res.Version.Seq(), res.Version.Raw()))
			bases[who], words[who] = res.Version, after
			want := []string{"first", "here", "more", "words", "words"}
			for _, own := range words {
				want = append(want, own...)
			}
			slices.Sort(want)
			if got := slices.Sorted(strings.FieldsSeq(diffwrap.Everything.Accepted(f.SourceText(path)))); !slices.Equal(got, want) {
				t.Errorf("the note has the words %q, want %q", got, want)
			}
			if t.Failed() {
				t.Logf("%s", strings.Join(log, "\n"))
				return
			}
		}
	})
}
