package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const (
	notesPerWorld    = 25 // sequences that run beside each other in one vault
	stepsPerSequence = 12
	worldsAtOnce     = 2
	worlds           = 3 // of each; make soak runs more
)

// step is one thing that happens to a note. What exactly follows from the random number and from what the note is then,
// so that a sequence without some of its steps is a sequence, too.
type step struct {
	kind string
	rnd  uint64
}

func (st step) String() string { return fmt.Sprintf("%s/%x", st.kind, st.rnd) }

// stepKinds are what can happen and how often.
var stepKinds = []struct {
	kind   string
	weight int
}{
	{"write", 14}, {"replace", 8}, {"look", 6}, {"edit", 10}, {"overwrite", 5}, // agents
	{"person", 14},
	{"accept", 12}, {"reject", 10}, {"undo", 14},
	{"rename", 2}, {"remove", 2}, {"settle", 4},
	{"kill", 1},
}

func randomSteps(r *rand.Rand) (steps []step) {
	total := 0
	for _, k := range stepKinds {
		total += k.weight
	}
	for range stepsPerSequence {
		n := r.IntN(total)
		for _, k := range stepKinds {
			if n -= k.weight; n < 0 {
				steps = append(steps, step{k.kind, r.Uint64()})
				break
			}
		}
	}
	return steps
}

// Writes by agents through the mount and MCP, a person's saves, decisions, undos, renames, deletions and kill -9, in any
// order: after each step both views, the marks, the authors, and the ids and times of what is pending are what the model says.
// There are no comments: which suggestion one goes with depends on which is older and on what stands beside it, and the
// model has words only; bridge/decisiontest has that law.
func TestSequences(t *testing.T) {
	harness.RequireFUSE(t)
	for i := range worldsAtOnce {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			var first sync.Once
			randomtest.Check(t, worlds, func(rt testing.TB, r *rand.Rand) { runSequences(t, rt, r, &first) })
		})
	}
}

// runSequences runs some sequences in one vault, as a round of t. The first one that fails is run alone and made shorter.
func runSequences(t *testing.T, round testing.TB, r *rand.Rand, first *sync.Once) {
	var notes []*sequence
	for i := range notesPerWorld {
		notes = append(notes, &sequence{name: fmt.Sprintf("n%d", i), rnd: r.Uint64(), steps: randomSteps(r)})
	}
	failed, err := runWorld(t, notes)
	if err == nil {
		return
	}
	if failed == nil {
		round.Fatal(err)
	}
	first.Do(func() {
		small := shrink(failed, func(s *sequence) bool { again, err := runWorld(t, []*sequence{s}); return err != nil && again != nil })
		if small == nil {
			round.Logf("%s passes when it runs alone", failed.name)
			return
		}
		_, err := runWorld(t, []*sequence{small})
		round.Logf("made shorter: %v\n%v\n%s", err, small.steps, small.story())
	})
	round.Fatalf("sequence %s: %v\n%s", failed.name, err, failed.story())
}

// shrink leaves steps out as long as the sequence fails; nil if it does not fail at all.
func shrink(s *sequence, fails func(*sequence) bool) *sequence {
	s = s.again(s.steps)
	if !fails(s) {
		return nil
	}
	s = s.again(s.steps[:min(s.done+1, len(s.steps))])
	for size := len(s.steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(s.steps); {
			if less := s.again(slices.Delete(slices.Clone(s.steps), at, at+size)); fails(less) {
				s = s.again(less.steps)
			} else {
				at += size
			}
		}
	}
	return s
}

// pendingEntry is an entry of `suggestions list --json`.
type pendingEntry struct {
	ID, Path, Kind, Old, New, Author string
	Time                             time.Time
}

// sequence is a note and what happens to it.
type sequence struct {
	name  string
	rnd   uint64
	steps []step
	done  int // steps that were taken

	w         *sequenceWorld
	model     model
	path      string // in the vault, without the ending
	made      bool   // by an agent
	fresh     int    // for new words
	decisions []*decision
	removed   int         // the last step in which a person removed text
	shownTo   []shownText // what each agent on the mount has read and not written since
	known     map[string]pendingID
	list      []pendingEntry // what is pending, as of the end of the last step
	moved     *pendingEntry  // a proposal to rename or to delete the note
	stale     bool           // a person has saved the note since that was proposed
	log       []string
}

// shownText is what an agent has read: other words with the same text, which are there later, it has not.
type shownText struct {
	text  string
	words []*word
	step  int
	now   string // what the mount shows when the agent writes
}

// has says whether the word may be one that was read (may), and whether it is (must). Where an author has amended an addition
// since, the words that stay in it are the old ones or were written anew, as the marks read best.
func (t shownText) has(w *word) (may, must bool) {
	read := slices.Contains(t.words, w)
	return read || w.before != nil && slices.Contains(t.words, w.before), read && w.amended <= t.step && standsAlone(t.text, w.text) && standsAlone(t.now, w.text)
}

// standsAlone says whether something parts a word of a text from those beside it.
func standsAlone(text, word string) bool {
	locs := sequenceWord.FindAllStringIndex(text, -1)
	i := slices.IndexFunc(locs, func(at []int) bool { return text[at[0]:at[1]] == word })
	return i >= 0 && !gluedWord(locs, i)
}

// pendingID is what must not change about a suggestion as long as it waits.
type pendingID struct {
	author string
	time   time.Time
	words  map[*word]*atom
}

func (s *sequence) again(steps []step) *sequence {
	return &sequence{name: s.name, rnd: s.rnd, steps: steps}
}

func (s *sequence) say(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf("  %2d ", s.done)+fmt.Sprintf(format, args...))
}

func (s *sequence) story() string { return strings.Join(s.log, "\n") }

// sequenceWorld is a vault with its mount and agents.
type sequenceWorld struct {
	t      *testing.T
	s      *harness.Sandbox
	vault  string
	m      *harness.Mount
	agents []*sequenceAgent // on the mount; the last one only looks
	mcps   map[string]*harness.MCPClient
	queue  *http.Client // of the mount, see ask
}

// authors of the agents that come by MCP.
const (
	mountAuthor = "alice"
	editAuthor  = "bob"
	writeAuthor = "carol"
)

// runWorld runs sequences beside each other, a step of each at a time. It returns the first that fails.
func runWorld(t *testing.T, notes []*sequence) (failed *sequence, err error) {
	w := &sequenceWorld{t: t, s: harness.NewSandbox(t), mcps: make(map[string]*harness.MCPClient)}
	w.vault = w.s.Vault(t, "Vault", nil)
	for _, s := range notes {
		s.begin(w)
	}
	w.start()
	defer w.stop()
	for range 3 {
		w.agents = append(w.agents, startSequenceAgent(t))
	}
	for _, author := range []string{editAuthor, writeAuthor} {
		w.mcps[author] = w.s.MCP(t, "--author", author, w.vault)
	}
	for _, s := range notes {
		if err := s.beginAsAgent(); err != nil {
			return s, err
		}
	}
	for i := range stepsPerSequence {
		kill := false
		for _, s := range notes {
			if i >= len(s.steps) {
				continue
			}
			s.done = i
			kill = kill || s.steps[i].kind == "kill"
			if err := s.take(s.steps[i]); err != nil {
				return s, fmt.Errorf("step %d, %v: %w", i, s.steps[i], err)
			}
		}
		if kill {
			w.kill()
			for _, s := range notes { // the next process does not know what was read before
				s.shownTo = make([]shownText, len(s.shownTo))
			}
		}
		if s, err := w.look(notes); err != nil {
			return s, fmt.Errorf("after step %d: %w", i, err)
		}
	}
	for _, s := range notes {
		s.done = len(s.steps)
		if err := s.finish(); err != nil {
			return s, fmt.Errorf("at the end: %w", err)
		}
	}
	return nil, nil
}

func (w *sequenceWorld) start() {
	w.m = w.s.Mount(w.t, w.vault, "--author", mountAuthor)
	w.queue = queueClient(w.s, w.m.Cmd.Process.Pid)
}

func (w *sequenceWorld) stop() {
	w.queue.CloseIdleConnections()
	for _, c := range w.mcps {
		c.Close(w.t)
	}
	for _, a := range w.agents {
		a.close()
	}
	w.m.Stop(w.t)
}

func (w *sequenceWorld) kill() {
	w.m.Kill(w.t)
	if out := w.s.Run(w.t, "unmount", w.m.Dir); out.Code != 0 {
		w.t.Fatalf("unmount of the dead mount: exit %d: %s", out.Code, out.Stderr)
	}
	w.start()
}

// begin writes the note, as a person's, before anything is mounted.
func (s *sequence) begin(w *sequenceWorld) {
	s.w, s.path, s.known, s.removed, s.shownTo = w, s.name, make(map[string]pendingID), -1, make([]shownText, 2)
	r := rand.New(rand.NewPCG(s.rnd, 1))
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString("---\nTitle: Kept\n---\n")
	}
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteString("\n\n")
		}
		for k := range 2 + r.IntN(6) {
			if k > 0 {
				b.WriteByte(" \n"[r.IntN(8)/7])
			}
			text := s.word('p')
			s.model.words = append(s.model.words, &word{text: text, born: -1, nth: len(s.model.words)})
			b.WriteString(text)
		}
	}
	if r.IntN(4) > 0 {
		b.WriteByte('\n')
	}
	text := s.highlighted(b.String(), r)
	if r.IntN(10) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	harness.WriteFile(w.t, s.vaultFile(), text)
	s.say("begins as %q", text)
}

// highlighted is the text of a new note with some words of one line highlighted, now and then.
func (s *sequence) highlighted(text string, r *rand.Rand) string {
	if r.IntN(4) > 0 {
		return text
	}
	locs := sequenceWord.FindAllStringIndex(text, -1)
	first := r.IntN(len(locs))
	last := first
	for n := r.IntN(3); n > 0 && last+1 < len(locs) && text[locs[last][1]] == ' '; n-- {
		last++
	}
	light := new(highlight)
	for _, w := range s.model.words[first : last+1] {
		w.light = light
	}
	return text[:locs[first][0]] + "{==" + text[locs[first][0]:locs[last][1]] + "==}" + text[locs[last][1]:]
}

// beginAsAgent lets some notes be an agent's.
func (s *sequence) beginAsAgent() error {
	r := rand.New(rand.NewPCG(s.rnd, 3))
	if r.IntN(8) > 0 {
		return nil
	}
	s.made = true
	s.path += "_new"
	s.model = model{}
	text := s.word('a') + " " + s.word('a') + "\n\n" + s.word('a') + "\n"
	s.say("an agent makes it: %q", text)
	s.done = -1 // before all steps
	defer func() { s.done = 0 }()
	if _, err := s.w.agents[0].do(agentRequest{Op: "write", Path: s.shown(), Text: text}); err != nil {
		return err
	}
	return s.wrote(mountAuthor, "", shownText{}, text, false)
}

// gone says whether a note that an agent made went with the last of its text.
func (s *sequence) gone() bool {
	_, err := os.Stat(s.vaultFile())
	return s.made && len(s.model.live()) == 0 && errors.Is(err, fs.ErrNotExist)
}

func (s *sequence) vaultFile() string { return filepath.Join(s.w.vault, s.path+".md") }

// shown is where the mount has the note.
func (s *sequence) shown() string {
	if s.moved != nil && s.moved.Kind == "rename" {
		return filepath.Join(s.w.m.Dir, filepath.FromSlash(s.moved.New))
	}
	return s.w.m.Path(s.path + ".md")
}

func (s *sequence) raw() (string, error) {
	if s.gone() {
		return "", nil
	}
	raw, err := os.ReadFile(s.vaultFile())
	return string(raw), err
}

// hidden says whether the mount does not show the note.
func (s *sequence) hidden() bool { return s.moved != nil && s.moved.Kind == "delete" || s.gone() }

// take takes one step and compares the note with the model.
func (s *sequence) take(st step) error {
	r := rand.New(rand.NewPCG(st.rnd, 2))
	if s.hidden() && !slices.Contains([]string{"settle", "kill"}, st.kind) && !(s.gone() && st.kind == "undo") {
		return nil // nobody can see it
	}
	switch st.kind {
	case "look":
		i := r.IntN(2)
		text, err := s.w.agents[i].do(agentRequest{Op: "read", Path: s.shown()})
		s.shownTo[i] = shownText{text: text, words: s.model.inAccepted(), step: s.done}
		s.say("agent %d reads", i)
		return err
	case "write", "replace":
		return s.mountWrite(st.kind, r)
	case "edit", "overwrite":
		return s.mcpWrite(st.kind, r)
	case "person":
		return s.personSave(r)
	case "accept", "reject":
		return s.decide(st.kind == "accept", r)
	case "undo":
		return s.undo(r)
	case "rename", "remove":
		return s.propose(st.kind, r)
	case "settle":
		return s.decideProposal(r)
	}
	return nil
}

// word is a new word. It has letters in common with others: nobody's are taken for another's for that.
func (s *sequence) word(letter byte) string {
	s.fresh++
	return fmt.Sprintf("%c%03d", letter, s.fresh) // none is the beginning of another
}

// mountWrite lets one of two processes change the note, which it may have read a while ago.
func (s *sequence) mountWrite(how string, r *rand.Rand) error {
	i := r.IntN(2)
	shown := s.shownTo[i]
	stale := shown.text != ""
	if !stale {
		base, err := s.w.agents[i].do(agentRequest{Op: "read", Path: s.shown()})
		if err != nil {
			return err
		}
		if err := s.checkAccepted("read before a write", base); err != nil {
			return err
		}
		shown = shownText{text: base}
	}
	s.shownTo[i] = shownText{}
	base := shown.text
	var err error
	if shown.now, err = s.w.agents[2].do(agentRequest{Op: "read", Path: s.shown()}); err != nil {
		return err
	}
	before, err := s.raw()
	if err != nil {
		return err
	}
	text := s.change(base, byte('a'), r)
	if text == "" && s.foreign(mountAuthor, before) {
		text = s.word('a') // that it may not be emptied shows when there is no program to tell any more
	}
	s.say("agent %d (%s, stale %v): %q -> %q", i, how, stale, base, text)
	if _, err := s.w.agents[i].do(agentRequest{Op: how, Path: s.shown(), Text: text}); err != nil {
		return s.refused(mountAuthor, err)
	}
	return s.wrote(mountAuthor, before, shown, text, stale)
}

func (s *sequence) mcpWrite(how string, r *rand.Rand) error {
	author := map[string]string{"edit": editAuthor, "overwrite": writeAuthor}[how]
	c := s.w.mcps[author]
	path := strings.TrimPrefix(s.shown(), s.w.m.Dir+"/")
	base, err := s.w.agents[2].do(agentRequest{Op: "read", Path: s.shown()}) // the tool's answer has line numbers
	if err != nil {
		return err
	}
	if res := c.Call(s.w.t, "read", "file_path", path); res.IsError && base != "" {
		return errors.New(res.Text)
	}
	before, err := s.raw()
	if err != nil {
		return err
	}
	text := s.change(base, author[0], r)
	args := []any{"file_path", path, "content", text}
	tool := "write"
	if how == "edit" {
		words := wordsOf(base)
		if len(words) == 0 {
			return nil
		}
		old := words[r.IntN(len(words))]
		if strings.Count(base, old) > 1 {
			return nil // which one is meant must be clear
		}
		repl := []string{s.word('b'), old + " " + s.word('b'), s.word('b') + "\n\n" + s.word('b')}[r.IntN(3)]
		at := sequenceWord.FindAllStringIndex(base, -1)
		for _, loc := range at {
			if base[loc[0]:loc[1]] == old {
				text = base[:loc[0]] + repl + base[loc[1]:]
				break
			}
		}
		tool, args = "edit", []any{"file_path", path, "old_string", old, "new_string", repl}
	}
	s.say("%s by MCP: %q -> %q", author, base, text)
	if res := c.Call(s.w.t, tool, args...); res.IsError {
		return s.refused(author, errors.New(res.Text))
	}
	return s.wrote(author, before, shownText{text: base}, text, false)
}

// refused accepts that a write would have changed what another author proposed. It has changed nothing.
func (s *sequence) refused(author string, err error) error {
	raw, readErr := s.raw()
	if readErr != nil {
		return readErr
	}
	if text := err.Error(); !s.foreign(author, raw) || !strings.Contains(text, "another author's pending") && !strings.Contains(text, "invalid argument") {
		return err
	}
	s.say("is refused: %v", err)
	return s.checkAll("after a refusal")
}

// foreign says whether something of others than author waits: words, or blanks in the raw text.
func (s *sequence) foreign(author, raw string) bool {
	return s.model.foreign(author) || strings.Contains(raw, "{++")
}

// wrote compares the note with what an agent wrote. rawBefore is what the vault had.
func (s *sequence) wrote(author, rawBefore string, base shownText, text string, stale bool) error {
	before := s.model.inAccepted()
	original := s.model.original()
	raw, err := s.raw()
	if err != nil {
		return err
	}
	if text == "" && base.text != "" && author == mountAuthor { // a program that empties a note may be about to write
		err = until(func() error {
			if raw, err = s.raw(); err == nil && raw == rawBefore {
				err = errors.New("a note that was emptied has its text still")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	s.say("raw %q", raw)
	if raw == rawBefore {
		same := func() error { return s.checkMountNow("after a write") }
		if stale && until(same) == nil || same() == nil { // for a moment the mount shows a stale agent's own bytes
			return nil // it was there already; else what a person typed in a deletion is in that now
		}
	}
	asWritten := text
	if strings.Contains(rawBefore, "\r\n") { // line ends become those of the note, also where its view has no line left
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	for id, k := range s.known { // it may have amended what it proposed before
		if k.author == author {
			delete(s.known, id)
		}
	}
	if err := s.model.written(raw, author, s.done); err != nil {
		return fmt.Errorf("%w\nraw %q", err, raw)
	}
	if got := s.model.original(); !slices.Equal(got, original) {
		return fmt.Errorf("an agent's write changes the original view from %q to %q", original, got)
	}
	got := s.model.accepted()
	if !stale {
		if want := wordsOf(text); !slices.Equal(got, want) {
			return fmt.Errorf("the accepted view has %q, the agent wrote %q", got, want)
		}
		if author == mountAuthor {
			return s.checkShown(text, asWritten) // for now a mount shows the bytes that it was given
		}
		return until(func() error { return s.checkShown(text) }) // the mount is told of it a moment later
	}
	// What the writer did is done, and all else is as it was.
	// A write may mark a word as deleted and write it again beside that, so that it is there under its text only.
	now := wordsOf(text)
	for _, w := range before {
		there, kept := slices.Contains(got, w.text), slices.Contains(now, w.text)
		if may, must := base.has(w); !there && (kept || !may) || there && !kept && must {
			return fmt.Errorf("%q: a stale agent has read it: %v; it has kept it: %v; it is in the accepted view: %v", w.text, may, kept, there)
		}
	}
	old := wordsOf(base.text)
	for _, w := range now {
		if !slices.Contains(old, w) && !slices.Contains(got, w) {
			return fmt.Errorf("%q, which a stale agent wrote, is not in the accepted view %q", w, got)
		}
	}
	return nil
}

// checkShown compares the bytes on the mount, as another process sees them.
func (s *sequence) checkShown(want ...string) error {
	got, err := s.w.agents[2].do(agentRequest{Op: "read", Path: s.shown()})
	if err == nil && !slices.Contains(want, got) {
		err = fmt.Errorf("the mount shows %q, want %q", got, want)
	}
	return err
}

func (s *sequence) checkAccepted(what, text string) error {
	if strings.Contains(text, "{++") || strings.Contains(text, "{--") || strings.Contains(text, "++}") || strings.Contains(text, "--}") {
		return fmt.Errorf("%s: a mark that nobody typed is shown: %q", what, text)
	}
	if got, want := wordsOf(text), s.model.accepted(); !slices.Equal(got, want) {
		return fmt.Errorf("%s: the accepted view has %q, want %q", what, got, want)
	}
	return nil
}

// change edits a text as an agent or a person does; the new words begin with letter.
func (s *sequence) change(text string, letter byte, r *rand.Rand) string {
	nl := "\n"
	if strings.Contains(text, "\r\n") {
		nl = "\r\n"
	}
	head := 0
	if fence := nl + "---" + nl; strings.HasPrefix(text, fence[len(nl):]) && strings.Contains(text, fence) {
		head = strings.Index(text, fence) + len(fence)
	}
	front, body := text[:head], text[head:]
	locs := sequenceWord.FindAllStringIndex(body, -1)
	paragraphs := strings.Split(body, nl+nl)
	if len(locs) == 0 {
		return front + s.word(letter) + " " + s.word(letter) + nl
	}
	i := r.IntN(len(locs))
	at, kind := locs[i], r.IntN(10)
	if kind <= 3 && gluedWord(locs, i) {
		kind = 5
	}
	switch kind {
	case 0, 1: // another word
		body = body[:at[0]] + s.word(letter) + body[at[1]:]
	case 2: // one more
		body = body[:at[1]] + " " + s.word(letter) + body[at[1]:]
	case 3: // one less
		body = body[:at[0]] + strings.TrimPrefix(body[at[1]:], " ")
	case 4: // a paragraph becomes two
		paragraphs[r.IntN(len(paragraphs))] = s.word(letter) + " " + s.word(letter) + "." + nl + nl + s.word(letter) + " " + s.word(letter)
		body = strings.Join(paragraphs, nl+nl)
	case 5: // one more at the end
		body = strings.TrimRight(body, "\r\n") + nl + nl + s.word(letter) + " " + s.word(letter) + nl
	case 6: // one less
		if len(paragraphs) > 1 {
			body = strings.Join(slices.Delete(paragraphs, 0, 1), nl+nl)
		}
	case 7: // one more before another
		body = strings.Join(slices.Insert(paragraphs, r.IntN(len(paragraphs)), s.word(letter)+" "+s.word(letter)), nl+nl)
	case 8: // the end of the file
		if body = body[:at[0]] + s.word(letter) + body[at[1]:]; strings.HasSuffix(body, nl) {
			body = strings.TrimSuffix(body, nl)
		} else {
			body += nl
		}
	case 9: // all anew
		body = s.word(letter) + " " + s.word(letter) + nl + nl + s.word(letter) + nl
	}
	return front + body
}

// gluedWord says whether nothing parts a word from the one beside it any more. Then they are one to relayfs: it is replaced
// as a whole, and what of it was taken away is found letter by letter, where several answers are right.
func gluedWord(locs [][]int, i int) bool {
	return i > 0 && locs[i-1][1] == locs[i][0] || i+1 < len(locs) && locs[i+1][0] == locs[i][1]
}

// personSave changes words of the raw text in the vault, inside of marks or outside of them.
func (s *sequence) personSave(r *rand.Rand) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	locs := sequenceWord.FindAllStringIndex(raw, -1)
	live := s.model.live()
	words, err := parseRaw(raw)
	if err != nil || len(words) != len(live) {
		return fmt.Errorf("%d words in the vault, %d in the model: %q: %w", len(words), len(live), raw, err)
	}
	text := raw
	type typed struct{ behind, word *word }
	var add *typed
	var deleted *word
	if len(live) == 0 {
		add = &typed{nil, &word{text: s.word('h'), born: s.done}}
		text = raw + add.word.text
	} else {
		i := r.IntN(len(live))
		at := locs[i]
		switch k := r.IntN(7); {
		case k == 6: // highlights
			if live[i].ins != nil || words[i].mark != ' ' || words[i].lit || live[i].light != nil || gluedWord(locs, i) {
				return nil // a highlight in a mark is the mark's, and none is in another
			}
			live[i].light = new(highlight)
			text = raw[:at[0]] + "{==" + raw[at[0]:at[1]] + "==}" + raw[at[1]:]
		case k < 4: // types
			add = &typed{live[i], &word{text: s.word('h'), born: s.done, within: words[i].mark != ' '}}
			text = raw[:at[1]] + " " + add.word.text + raw[at[1]:]
		case k == 4: // removes
			deleted = live[i]
			text = raw[:at[0]] + strings.TrimPrefix(raw[at[1]:], " ")
			text = strings.NewReplacer("{====}", "", "{=={----}==}", "").Replace(text) // which without a body is ordinary text
		default: // does both
			if gluedWord(locs, i) {
				return nil
			}
			deleted = live[i]
			add = &typed{live[i], &word{text: s.word('h'), born: s.done, within: words[i].mark != ' '}}
			text = raw[:at[0]] + add.word.text + raw[at[1]:]
		}
	}
	s.say("a person: %q", text)
	s.stale = s.moved != nil
	if add != nil {
		if i := slices.Index(live, add.behind); i >= 0 {
			add.word.light = lightAt(i, words, live)
		}
		s.model.insert(add.behind, add.word)
	}
	if deleted != nil {
		deleted.dead = true
		s.removed = s.done
		s.model.tear()
	}
	if r.IntN(2) == 0 {
		err = os.WriteFile(s.vaultFile(), []byte(text), 0o644)
	} else {
		tmp := s.vaultFile() + "~"
		err = errors.Join(os.WriteFile(tmp, []byte(text), 0o644), os.Rename(tmp, s.vaultFile()))
	}
	if err != nil {
		return err
	}
	return until(func() error {
		shown, err := s.w.agents[2].do(agentRequest{Op: "read", Path: s.shown()})
		if err != nil {
			return err
		}
		return s.checkAccepted("after a person's save", shown)
	})
}

// until waits for what a person's save brings about.
func until(check func() error) error {
	deadline := time.Now().Add(need.Scaled(10 * time.Second))
	for {
		err := check()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// cli runs a command of the queue and decodes what it says.
func (s *sequence) cli(args ...string) (answer queueAnswer, err error) {
	out := s.w.s.Run(s.w.t, append([]string{"suggestions"}, args...)...)
	if out.Code != 0 {
		return answer, fmt.Errorf("suggestions %v: exit %d: %s%s", args, out.Code, out.Stdout, out.Stderr)
	}
	if err := json.Unmarshal([]byte(out.Stdout), &answer); err != nil {
		return answer, fmt.Errorf("suggestions %v: %w: %s", args, err, out.Stdout)
	}
	return answer, nil
}

func verdictOf(accept bool) string {
	if accept {
		return "accept"
	}
	return "reject"
}

// decide decides on up to three suggestions.
func (s *sequence) decide(accept bool, r *rand.Rand) error {
	if len(s.list) == 0 {
		return nil
	}
	var chosen []pendingEntry
	for _, i := range r.Perm(len(s.list))[:1+r.IntN(min(3, len(s.list)))] {
		chosen = append(chosen, s.list[i])
	}
	_, err := s.decideOn(chosen, accept)
	return err
}

func (s *sequence) decideOn(chosen []pendingEntry, accept bool) (*decision, error) {
	var ids []string
	for _, c := range chosen {
		if !slices.Contains(ids, c.ID) { // one may have several places
			ids = append(ids, c.ID)
		}
	}
	before, err := s.raw()
	if err != nil {
		return nil, err
	}
	s.say("%s %v", verdictOf(accept), ids)
	d, err := s.model.decide(s.list, chosen, accept, s.done)
	if err != nil {
		return nil, err
	}
	answer, err := s.w.decideIDs(ids, accept)
	if err != nil {
		return nil, err
	}
	d.batch, d.raw = answer.Batch, before
	s.decisions = append(s.decisions, d)
	return d, s.checkAll("after " + verdictOf(accept))
}

// checkAll compares the raw text and what the mount shows with the model.
func (s *sequence) checkAll(what string) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	s.say("raw %q", raw)
	if err := s.model.checkRaw(raw); err != nil {
		return fmt.Errorf("%s: %w\nraw %q", what, err, raw)
	}
	return s.checkMount(what)
}

// checkMount compares what the mount shows, a moment after the change at the latest.
func (s *sequence) checkMount(what string) error {
	return until(func() error { return s.checkMountNow(what) })
}

func (s *sequence) checkMountNow(what string) error {
	shown, err := s.w.agents[2].do(agentRequest{Op: "read", Path: s.shown()})
	if s.hidden() {
		if err == nil {
			return fmt.Errorf("%s: the mount still has %s", what, s.shown())
		}
		return nil
	}
	if err != nil {
		return err
	}
	return s.checkAccepted(what, shown)
}

// undo takes one of the decisions back, not always the newest.
func (s *sequence) undo(r *rand.Rand) error {
	var left []*decision
	for _, d := range s.decisions {
		if !d.undone {
			left = append(left, d)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return s.takeBack(left[r.IntN(len(left))])
}

func (s *sequence) takeBack(d *decision) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	s.say("undo of %v", d.ids)
	old, deleted := s.model.shape(), s.gone() // which only the decision that took it brings back
	back := s.model.undo(d)
	mayStay := func(w *word) bool { return s.removed >= d.step || d.adrift(w) } // what was around it has been removed
	if _, err := s.w.undoBatch(d.batch); err != nil {
		allStay := !slices.ContainsFunc(back, func(w *word) bool { return !mayStay(w) })
		if s.model.shape() != old && !deleted && !(allStay && len(back) > 0) && s.removed < d.step {
			return err
		}
		for _, a := range d.atoms { // nothing of it can be taken back
			a.status = rejected
			if d.accept {
				a.status = accepted
			}
		}
		s.say("is refused: %v", err)
		return s.checkAll("after a refused undo")
	}
	now, err := s.raw()
	if err != nil {
		return err
	}
	s.say("raw %q", now)
	if err := s.model.settle(now, back, mayStay); err != nil {
		return fmt.Errorf("after undo: %w\nraw %q\nwas %q", err, now, raw)
	}
	return s.checkMount("after undo")
}

// shape tells which words are in which view.
func (m *model) shape() string {
	var b strings.Builder
	for _, w := range m.words {
		o, a := w.views()
		fmt.Fprint(&b, w.text, o, a, " ")
	}
	return b.String()
}

// propose renames or removes the note on the mount.
func (s *sequence) propose(kind string, r *rand.Rand) error {
	switch {
	case s.moved != nil, s.made: // what an agent made it may take away without asking
		return nil
	case kind == "remove" && s.rnd%6 > 0: // a burst of deletions is stopped
		return nil
	}
	q := agentRequest{Op: kind, Path: s.shown()}
	if kind == "rename" {
		for q.To = q.Path; q.To == q.Path; { // not the name that it has
			q.To = s.w.m.Path(fmt.Sprintf("%s_%d.md", s.name, r.IntN(1000)))
		}
	}
	s.say("%s %s %s", kind, filepath.Base(q.Path), filepath.Base(q.To))
	s.shownTo = make([]shownText, 2)
	if _, err := s.w.agents[r.IntN(2)].do(q); err != nil {
		return err
	}
	// A deletion may be the beginning of a save, and so becomes a proposal a moment later.
	err := until(func() error {
		list, err := s.w.listed()
		for _, l := range list {
			if l.Line() == 0 && l.Old == "Vault/"+s.path+".md" {
				s.moved = &l
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("nothing is proposed for %s", s.path))
	})
	if err != nil {
		return err
	}
	return s.checkAll("after " + kind)
}

// Line is 0 for what is no text.
func (l pendingEntry) Line() int {
	if l.Kind == "rename" || l.Kind == "delete" {
		return 0
	}
	return 1
}

// decideProposal decides on a proposed rename or deletion, and may take that back.
func (s *sequence) decideProposal(r *rand.Rand) error {
	if s.moved == nil {
		return nil
	}
	p := *s.moved
	accept := r.IntN(2) == 0
	s.say("%s of the %s", verdictOf(accept), p.Kind)
	args := []string{verdictOf(accept), "--json", s.w.vault, p.ID}
	answer, err := s.cli(args...)
	if accept && s.stale {
		if err == nil {
			return fmt.Errorf("a %s is accepted although a person has saved the note since", p.Kind)
		}
		answer, err = s.cli(append(args, "--force")...)
	}
	if err != nil {
		return err
	}
	stale := s.stale
	s.stale = false
	old := s.path
	if accept && p.Kind == "rename" {
		s.path = strings.TrimSuffix(strings.TrimPrefix(p.New, "Vault/"), ".md")
	}
	s.moved = nil
	if accept && p.Kind == "delete" {
		if _, err := os.Stat(s.vaultFile()); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the note is accepted to be deleted and still there: %v", err)
		}
	} else if err := s.checkAll("after a decision on a " + p.Kind); err != nil {
		return err
	}
	if !accept || p.Kind == "rename" && r.IntN(2) == 0 {
		return nil
	}
	s.say("undo of that")
	if _, err := s.cli("undo", "--json", s.w.vault, answer.Batch); err != nil {
		return err
	}
	s.path, s.moved, s.stale = old, &p, stale // it waits as it did
	return s.checkAll("after undo of a " + p.Kind)
}

// look compares what is pending with the models, a moment after the last change at the latest: a person's save of what is
// in neither view shows nowhere else that it was noticed.
func (w *sequenceWorld) look(notes []*sequence) (failed *sequence, err error) {
	err = until(func() (err error) {
		failed, err = w.lookNow(notes)
		return err
	})
	return failed, err
}

func (w *sequenceWorld) lookNow(notes []*sequence) (failed *sequence, err error) {
	list, err := w.listed()
	if err != nil {
		return nil, err
	}
	byPath := make(map[string][]pendingEntry)
	for _, l := range list {
		if l.Line() > 0 {
			byPath[l.Path] = append(byPath[l.Path], l)
		}
	}
	for _, s := range notes {
		if err := s.checkMountNow("at the end of a step"); err != nil {
			return s, err
		}
		if s.hidden() { // what is to be deleted is not asked about
			s.list = nil
			continue
		}
		path := strings.TrimPrefix(s.shown(), w.m.Dir+"/")
		s.list = byPath[path]
		if err := s.checkListed(); err != nil {
			return s, err
		}
		delete(byPath, path)
	}
	return nil, nil
}

// checkListed checks that each pending word is listed under its author's name, and that what waited before has kept its
// id and time.
func (s *sequence) checkListed() error {
	seen := make(map[*word]bool)
	known := make(map[string]pendingID)
	words := s.model.wordsOf(s.list)
	for i, l := range s.list {
		if named := slices.Concat(wordsOf(l.Old), wordsOf(l.New)); len(words[i]) != len(named) {
			return fmt.Errorf("suggestion %s is about %q, of which the model has %d words there", l.ID, named, len(words[i]))
		}
		k, ok := known[l.ID]
		if !ok {
			k = pendingID{l.Author, l.Time, make(map[*word]*atom)}
		}
		for _, w := range words[i] {
			seen[w] = true
			a := w.proposedBy(l.Author)
			if a == nil {
				return fmt.Errorf("suggestion %s (%q -> %q) is listed under %s, who did not propose anything about %q", l.ID, l.Old, l.New, l.Author, w.text)
			}
			k.words[w] = a
		}
		known[l.ID] = k
	}
	for _, w := range s.model.live() {
		if len(w.proposals()) > 0 && !seen[w] {
			return fmt.Errorf("%q (mark %q) is in no suggestion: %+v", w.text, w.mark(), s.list)
		}
	}
	for id, old := range s.known {
		left := 0
		for w, a := range old.words {
			if a.status == pending && len(w.proposals()) == 1 { // what two propose to delete is in one suggestion
				left++
			}
		}
		now, ok := known[id]
		switch {
		case left == 0:
			continue
		case !ok:
			return fmt.Errorf("suggestion %s has lost its id: %+v", id, s.list)
		case !now.time.Equal(old.time) || now.author != old.author:
			return fmt.Errorf("suggestion %s is by %s at %v, was by %s at %v", id, now.author, now.time, old.author, old.time)
		}
	}
	for id, k := range known { // also of what is decided now and comes back later
		s.known[id] = k
	}
	return nil
}

// finish rejects all that is pending, takes that back, and accepts it: what stays is the one view and the other.
func (s *sequence) finish() error {
	if s.moved != nil {
		if _, err := s.cli("reject", "--json", s.w.vault, s.moved.ID); err != nil {
			return err
		}
		s.moved = nil
		list, err := s.w.listed()
		if err != nil {
			return err
		}
		s.list = slices.DeleteFunc(list, func(l pendingEntry) bool { return l.Path != "Vault/"+s.path+".md" })
	}
	if _, err := os.Stat(s.vaultFile()); errors.Is(err, fs.ErrNotExist) && len(s.list) == 0 {
		return nil // deleted
	}
	if len(s.list) == 0 {
		return s.checkUnmarked("at the end")
	}
	raw, err := s.raw()
	if err != nil {
		return err
	}
	d, err := s.decideOn(s.list, false)
	if err != nil {
		return err
	}
	if err := s.checkUnmarked("after reject of all"); err != nil {
		return err
	}
	if err := s.takeBack(d); err != nil {
		return err
	}
	if now, err := s.raw(); err != nil || now != raw && s.removed < 0 && !strings.Contains(raw, "h") {
		return fmt.Errorf("reject of all and its undo make %q of %q", now, raw)
	}
	if _, err := s.decideOn(s.list, true); err != nil {
		return err
	}
	return s.checkUnmarked("after accept of all")
}

func (s *sequence) checkUnmarked(what string) error {
	raw, err := s.raw()
	raw, _ = withoutHighlights(raw)
	if s.removed >= 0 { // a mark in which a person has left nothing but their own text goes with the next write
		raw = sequenceMark.ReplaceAllStringFunc(raw, func(mark string) string {
			for _, text := range wordsOf(mark) {
				if !slices.ContainsFunc(s.model.live(), func(w *word) bool { return w.text == text && w.within }) {
					return mark
				}
			}
			return mark[3 : len(mark)-3]
		})
	}
	if err == nil && strings.ContainsAny(raw, "{}") {
		err = fmt.Errorf("%s: a mark is left: %q", what, raw)
	}
	return err
}
