package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// sharedLines is a note of lines with one word each. Agents add, replace and delete lines of the versions that they
// have read, in any order.
type sharedLines struct {
	r         *rand.Rand
	f         *bridgetest.Fixture
	words     int
	by        map[string]string          // the author of each word, "" for the user
	deleted   map[string]map[string]bool // the agents that have deleted a word
	touched   map[string]map[string]bool // the agents that have changed something at a word
	replaced  map[string]bool            // by word
	contested bool                       // an agent has replaced a line that another one has replaced or deleted
	log       []string
}

const sharedLinesPath = "F/Note.md"

var sharedWord = regexp.MustCompile(`[a-z]\d+[a-z]`)

// TestSharedLines checks the law of fusefs.TestSharedNote on the writes alone: the note has every word of every write
// once, and no deleted word. Each line still is one word, unless an agent has replaced a line that another one has
// replaced or deleted. Each word is a suggestion of the agent that wrote it.
func TestSharedLines(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		n := &sharedLines{r: r, by: map[string]string{}, deleted: map[string]map[string]bool{}, touched: map[string]map[string]bool{}, replaced: map[string]bool{}}
		var first strings.Builder
		for range r.IntN(5) {
			first.WriteString(n.word("") + "\n")
		}
		n.f = bridgetest.New(t, map[string]string{sharedLinesPath: first.String()})
		bases := make(map[string]*model.Version)
		for range 2 + r.IntN(9) {
			agent := randomtest.Pick(r, "claude", "codex", "goose")
			if bases[agent] == nil || r.IntN(3) == 0 {
				v, err := n.f.Open(t.Context(), sharedLinesPath)
				if err != nil {
					t.Fatal(err)
				}
				bases[agent] = v
				continue
			}
			bases[agent] = n.write(t, agent, bases[agent])
		}
		if n.check(t); t.Failed() {
			t.Logf("begins as %q\n%s", first.String(), strings.Join(n.log, "\n"))
		}
	})
}

func (n *sharedLines) word(author string) string {
	n.words++
	word := fmt.Sprintf("%c%d%c", 'a'+n.r.IntN(26), n.words, 'a'+n.r.IntN(26))
	n.by[word] = author
	return word
}

// write makes one change of base and returns the version after it.
func (n *sharedLines) write(t testing.TB, agent string, base *model.Version) *model.Version {
	lines := strings.SplitAfter(base.Text(), "\n")
	lines = lines[:len(lines)-1]
	at := n.r.IntN(len(lines) + 1)
	word := func(i int) string { return strings.TrimSpace(lines[i]) }
	for at > 0 && at < len(lines) && n.by[word(at)] == n.by[word(at-1)] && n.by[word(at)] != "" && n.by[word(at)] != agent {
		at-- // an agent may not change what another agent suggests
	}
	old, added, kind := "", "", n.r.IntN(4)
	if at == len(lines) || n.by[word(at)] != "" && n.by[word(at)] != agent || len(lines) == 1 {
		kind = 0
	}
	near := strings.Fields(strings.Join(lines[max(at-1, 0):min(at+2, len(lines))], " "))
	switch kind {
	case 0, 1:
		added = n.word(agent)
		lines = slices.Insert(lines, at, added+"\n")
	case 2:
		old, added = word(at), n.word(agent)
		lines[at] = added + "\n"
	case 3:
		old = word(at)
		lines = slices.Delete(lines, at, at+1)
	}
	text := strings.Join(lines, "")
	res, err := n.f.Write(t.Context(), sharedLinesPath, bridge.Write{Base: base, Text: text, By: model.Author{Name: agent, Session: agent}})
	n.log = append(n.log, fmt.Sprintf("%s %d: %q becomes %q: %v", agent, base.Seq(), base.Text(), text, err))
	if err != nil {
		contested := func(word string) bool {
			by := n.by[word]
			return by != "" && by != agent || len(n.touched[word]) > 1 || len(n.touched[word]) == 1 && !n.touched[word][agent]
		}
		if !errors.Is(err, model.ErrRefused) || kind != 3 && !slices.ContainsFunc(near, contested) {
			t.Errorf("%s: %v", agent, err)
		}
		delete(n.by, added)
		return base
	}
	n.log = append(n.log, fmt.Sprintf("    %d %q", res.Version.Seq(), res.Version.Raw()))
	for _, word := range near {
		put(n.touched, word, agent)
	}
	if old != "" {
		put(n.deleted, old, agent)
		n.replaced[old] = n.replaced[old] || added != ""
		n.contested = n.contested || n.replaced[old] && len(n.deleted[old]) > 1
	}
	return res.Version
}

func put(m map[string]map[string]bool, word, agent string) {
	if m[word] == nil {
		m[word] = make(map[string]bool)
	}
	m[word][agent] = true
}

func (n *sharedLines) check(t testing.TB) {
	raw := n.f.SourceText(sharedLinesPath)
	count := make(map[string]int)
	for line := range strings.Lines(diffwrap.Everything.Accepted(raw)) {
		if words := sharedWord.FindAllString(line, -1); !n.contested && (len(words) != 1 || line != words[0]+"\n") {
			t.Errorf("a line is %q", line)
		}
		for _, word := range sharedWord.FindAllString(line, -1) {
			count[word]++
		}
	}
	for word, author := range n.by {
		want := 1
		if n.deleted[word] != nil {
			want = 0
		}
		if count[word] != want {
			t.Errorf("the note has %q, of %q, %d times, want %d", word, author, count[word], want)
		}
		delete(count, word)
	}
	for word := range count {
		t.Errorf("the note has %q, which nobody wrote", word)
	}
	for _, s := range pendingOf(t, n.f.Workspace) {
		for _, word := range sharedWord.FindAllString(s.New, -1) {
			if n.by[word] != s.Author {
				t.Errorf("%q has added %q, which %q wrote", s.Author, word, n.by[word])
			}
		}
		for _, word := range sharedWord.FindAllString(s.Old, -1) {
			if n.by[word] != "" || !n.deleted[word][s.Author] {
				t.Errorf("%q has deleted %q, of %q, which %v deleted", s.Author, word, n.by[word], n.deleted[word])
			}
		}
	}
	if t.Failed() {
		t.Logf("the source has %q", raw)
	}
}
