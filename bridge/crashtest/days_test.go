package crashtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A day is what two agents and a person do to a small vault, with kills of relayfs in between: edits, renames, deletions, new
// notes and files, decisions and undos. At its end everything is undone: the vault then has what it had at first, and what the
// person did. The person adds lines to notes, makes notes, and while relayfs is stopped renames and deletes some. Agents never
// change the first line of a note, by which it is known again. Words of the person are P1, those of agents A2.
type day struct {
	t     testing.TB
	r     *rand.Rand
	dir   string
	w     *world
	p     *process
	words int
	// notes are what the vault has to have at the end, by where: the texts without the person's lines.
	notes map[string]string
	typed map[string]bool // the words of the person that have to be there, each once
	saved bool            // the person has saved in this act
	log   []string
}

var dayFiles = map[string]string{
	"Plan.md": "Plan\none two three\n\nfour five\n", "Home.md": "Home\nsee [[Plan]] and [[Log]]\nsix seven\n",
	"Index.md": "---\nup: \"[[Plan]]\"\n---\nIndex\neight nine\n", "d/Log.md": "Log\nten [[Home]]\neleven\n", "d/e/Deep.md": "Deep\ntwelve\n",
	"data.csv": "a,b\n",
}

func TestDays(t *testing.T) {
	randomtest.Check(t, 10, func(t testing.TB, r *rand.Rand) {
		d := &day{t: t, r: r, dir: bridgetest.Scratch(t), notes: maps.Clone(dayFiles), typed: make(map[string]bool)}
		defer func() {
			if t.Failed() {
				t.Logf("the day:\n%s", strings.Join(d.log, "\n"))
			}
		}()
		d.w = newWorld(t, machines[0].volumes, nil)
		for _, rel := range slices.Sorted(maps.Keys(dayFiles)) {
			at := vaultDir
			for _, name := range strings.Split(path.Dir(rel), "/") {
				dir, err := d.w.disk.Person().Open(at)
				check(t, err)
				if err := dir.Mkdir(name); name != "." && !errors.Is(err, fs.ErrExist) {
					check(t, err)
				}
				dir.Close()
				at = path.Join(at, name)
			}
			check(t, d.w.disk.Person().Save(path.Join(vaultDir, rel), dayFiles[rel]))
		}
		d.start()
		defer func() { d.p.stop() }()
		for range 10 + r.IntN(30) {
			d.act()
		}
		d.undoAll()
		check(t, d.p.stop())
		d.check()
	})
}

func (d *day) note(format string, args ...any) { d.log = append(d.log, fmt.Sprintf(format, args...)) }

func (d *day) start() {
	var err error
	d.p, err = start(d.t, d.w, d.dir)
	check(d.t, err)
}

func (d *day) word(letter string) string {
	d.words++
	return fmt.Sprintf("%s%d", letter, d.words)
}

// act is one thing that somebody does.
func (d *day) act() {
	acts := []func(){
		d.agentEdits, d.agentEdits, d.agentEdits, d.agentRenames, d.agentRenames, d.agentDeletes, d.agentCreates, d.agentWritesFile,
		d.decides, d.decides, d.undoes, d.takesBack, d.types, d.types, d.stops,
	}
	act := randomtest.Pick(d.r, acts...)
	if d.r.IntN(8) > 0 {
		act()
		return
	}
	// What is done is as far as a kill before one of its calls leaves it.
	n, calls := d.r.IntN(60), 0
	d.saved = false
	var left *world
	w := d.w
	w.disk.Before(func(disktest.Call) error {
		if calls++; calls == n {
			left = w.now()
		}
		return nil
	})
	act()
	w.disk.Before(nil)
	if w != d.w {
		return // relayfs was stopped
	}
	if left == nil || d.saved { // relayfs's own calls may have come before the save
		left = w.now()
	}
	d.note("  killed before call %d of %d", n, calls)
	d.p.stop()
	d.w = left
	d.start()
}

func (d *day) done(what string, err error) { d.note("%s: %v", what, err) }

func (d *day) agent() model.Author { return randomtest.Pick(d.r, ann, bob) }

// shown draws something that is shown, "" if there is nothing.
func (d *day) shown(fits func(bridge.Info) bool) model.Path {
	var all []model.Path
	check(d.t, d.p.ws.Walk(d.t.Context(), "Notes", func(e bridge.Info) error {
		if e.Path != "Notes" && fits(e) {
			all = append(all, e.Path)
		}
		return nil
	}))
	if len(all) == 0 {
		return ""
	}
	return randomtest.Pick(d.r, all...)
}

func isNote(e bridge.Info) bool { return e.Kind == model.KindNote }

func (d *day) agentEdits() {
	p, author := d.shown(isNote), d.agent()
	if p == "" {
		return
	}
	v, err := d.p.ws.Open(d.t.Context(), p)
	check(d.t, err)
	head, body, _ := cutHead(v.Text())
	lines := strings.SplitAfter(body, "\n")
	i := d.r.IntN(len(lines))
	switch d.r.IntN(4) {
	case 0:
		lines = slices.Insert(lines, i, d.word("A")+"\n")
	case 1:
		if !strings.Contains(lines[i], "P") { // an agent may delete what a person wrote; the test cannot tell then
			lines = slices.Delete(lines, i, i+1)
		}
	default:
		words := strings.Split(lines[i], " ")
		if k := d.r.IntN(len(words)); !strings.Contains(words[k], "P") {
			words[k] = d.word("A") + strings.TrimLeft(words[k], "abcdefghijklmnopqrstuvwxyzAHLP[]0123456789")
		}
		lines[i] = strings.Join(words, " ")
	}
	text := head + strings.Join(lines, "")
	_, err = d.p.ws.Write(d.t.Context(), p, bridge.Write{Base: v, Text: text, By: author})
	d.done(fmt.Sprintf("%s writes %s: %q", author.Name, p, text), err)
}

// cutHead cuts a note behind its first line of text.
func cutHead(text string) (head, body string, ok bool) {
	at := 0
	if strings.HasPrefix(text, "---\n") {
		at = strings.Index(text[4:], "---\n") + 8
	}
	i := strings.Index(text[at:], "\n")
	if i < 0 {
		return text, "", false
	}
	return text[:at+i+1], text[at+i+1:], true
}

func (d *day) agentRenames() {
	author := d.agent()
	from := d.shown(func(bridge.Info) bool { return true })
	info, err := d.p.ws.Stat(d.t.Context(), from)
	if err != nil {
		return
	}
	to := d.newName(info)
	_, err = d.p.ws.Rename(d.t.Context(), from, to, bridge.ChangeRequest{Author: author, Replace: d.r.IntN(3) == 0})
	d.done(fmt.Sprintf("%s renames %s to %s", author.Name, from, to), err)
}

func (d *day) newName(info bridge.Info) model.Path {
	names := []string{"Plan.md", "Home.md", "Log.md", "X.md", "Y.md"}
	switch info.Kind {
	case model.KindDir:
		names = []string{"d", "e", "f"}
	case model.KindFile:
		names = []string{"data.csv", "x.csv"}
	}
	dir := d.shown(func(e bridge.Info) bool { return e.Kind == model.KindDir })
	if dir == "" || d.r.IntN(2) == 0 {
		dir = "Notes"
	}
	return dir.Join(randomtest.Pick(d.r, names...))
}

func (d *day) agentDeletes() {
	author, p := d.agent(), d.shown(func(bridge.Info) bool { return true })
	if p == "" {
		return
	}
	_, err := d.p.ws.Remove(d.t.Context(), p, bridge.ChangeRequest{Author: author})
	d.done(fmt.Sprintf("%s deletes %s", author.Name, p), err)
}

func (d *day) agentCreates() {
	author := d.agent()
	if d.r.IntN(3) == 0 {
		p := d.newName(bridge.Info{Kind: model.KindDir})
		d.done(fmt.Sprintf("%s makes folder %s", author.Name, p), d.p.ws.Mkdir(d.t.Context(), p, bridge.ChangeRequest{Author: author}))
		return
	}
	p, text := d.newName(bridge.Info{Kind: model.KindNote}), d.word("A")+"\n"+d.word("A")+" [[Home]]\n"
	_, err := d.p.ws.Create(d.t.Context(), p, bridge.Write{Text: text, By: author})
	d.done(fmt.Sprintf("%s creates %s: %q", author.Name, p, text), err)
}

func (d *day) agentWritesFile() {
	author, p, data := d.agent(), d.newName(bridge.Info{Kind: model.KindFile}), d.word("A")+"\n"
	_, err := d.p.ws.WriteFile(d.t.Context(), p, []byte(data), bridge.ChangeRequest{Author: author})
	d.done(fmt.Sprintf("%s writes %s: %q", author.Name, p, data), err)
}

// pending are the IDs of all that waits.
func (d *day) pending() (ids []string) {
	list, err := d.p.ws.Suggestions(d.t.Context(), "")
	check(d.t, err)
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	proposals, err := d.p.ws.Proposals(d.t.Context(), "")
	check(d.t, err)
	for _, p := range proposals {
		ids = append(ids, p.ID)
	}
	return ids
}

func (d *day) decides() {
	share := 1 + d.r.IntN(3)
	ids := slices.DeleteFunc(d.pending(), func(string) bool { return d.r.IntN(share) > 0 })
	verdict := model.Accepted
	if d.r.IntN(2) == 0 {
		verdict = model.Rejected
	}
	out, err := d.p.ws.DecideStale(d.t.Context(), ids, verdict, person)
	d.done(fmt.Sprintf("the person has %s %v, but %v", verdict, ids, out.Failed), err)
}

func (d *day) undoes() {
	out, err := d.p.ws.Undo(d.t.Context(), "", person)
	d.done(fmt.Sprintf("the person undoes %d, but %v", out.Notes, out.Failed), err)
}

func (d *day) takesBack() {
	author := d.agent()
	out, err := d.p.ws.UndoSession(d.t.Context(), author.Session, person)
	d.done(fmt.Sprintf("the person takes back what %s did, but %v", author.Name, out.Failed), err)
}

// types adds a line to a note of the vault, or makes one.
func (d *day) types() {
	d.saved = true
	line := d.word("P")
	notes := d.w.notes()
	rel := randomtest.Pick(d.r, slices.Sorted(maps.Keys(notes))...)
	raw := notes[rel]
	if d.r.IntN(6) == 0 || !strings.HasSuffix(rel, ".md") {
		d.notes[line+".md"], d.typed[line] = line+"\n", true
		check(d.t, d.w.disk.Person().Save(path.Join(vaultDir, line+".md"), line+"\n"))
		d.note("the person makes %s.md", line)
		return
	}
	head, body, ok := cutHead(raw)
	if !ok || d.isAgentsAtAName(rel, raw) {
		return
	}
	var ends []int // of lines, outside of marks
	for i, c := range body {
		if c == '\n' && strings.Count(raw[:len(head)+i], "{") == strings.Count(raw[:len(head)+i], "}") {
			ends = append(ends, i+1)
		}
	}
	at := 0
	if len(ends) > 0 {
		at = randomtest.Pick(d.r, ends...)
	}
	if strings.Contains(head, "{") {
		return // the first line is an agent's, who may have put more of the note into one mark
	}
	text := head + body[:at] + line + "\n" + body[at:]
	save := randomtest.Pick(d.r, disktest.Person.Save, disktest.Person.SaveByRename)
	check(d.t, save(d.w.disk.Person(), path.Join(vaultDir, rel), text))
	d.typed[line] = true
	d.note("the person saves %s: %q", rel, text)
}

// stops ends relayfs, and starts it again. In between the person may rename or delete a note, or exchange two.
func (d *day) stops() {
	check(d.t, d.p.stop())
	d.w = d.w.now()
	d.start() // and find what the person has saved, of which nobody tells a process here
	check(d.t, d.p.open())
	check(d.t, d.p.stop())
	notes := d.w.notes()
	var own []string // notes of the start and of the person, where they were
	for rel := range d.notes {
		if strings.HasSuffix(rel, ".md") && sameHead(notes[rel], d.notes[rel]) {
			own = append(own, rel)
		}
	}
	slices.Sort(own)
	d.note("stopped, and started again")
	if len(own) > 0 && d.r.IntN(2) == 0 {
		rel, with := randomtest.Pick(d.r, own...), randomtest.Pick(d.r, own...)
		dir, err := d.w.disk.Person().Open(path.Join(vaultDir, path.Dir(rel)))
		check(d.t, err)
		switch d.r.IntN(4) {
		case 0:
			other, err := d.w.disk.Person().Open(path.Join(vaultDir, path.Dir(with)))
			check(d.t, err)
			check(d.t, dir.Rename(path.Base(rel), dir, "aside"))
			if with != rel {
				check(d.t, other.Rename(path.Base(with), dir, path.Base(rel)))
			}
			check(d.t, dir.Rename("aside", other, path.Base(with)))
			d.notes[rel], d.notes[with] = d.notes[with], d.notes[rel]
			other.Close()
			d.note("the person exchanges %s and %s", rel, with)
		case 1:
			check(d.t, dir.Remove(path.Base(rel)))
			for _, word := range personsWord.FindAllString(notes[rel], -1) {
				delete(d.typed, word)
			}
			d.note("the person deletes %s", rel)
			delete(d.notes, rel)
		default:
			to := d.word("P") + ".md"
			check(d.t, dir.Rename(path.Base(rel), dir, to))
			d.notes[path.Join(path.Dir(rel), to)] = d.notes[rel]
			d.note("the person renames %s to %s", rel, to)
			delete(d.notes, rel)
		}
		dir.Close()
	}
	d.start()
	check(d.t, d.p.open()) // a note that was moved is known by its file, which the next save may replace
}

// isAgentsAtAName reports whether a note is an agent's and has the name of one that has to be there at the end. With words of the person in
// it, it would keep the name.
func (d *day) isAgentsAtAName(rel, raw string) bool {
	named := false
	for at, text := range d.notes {
		if sameHead(raw, text) {
			return false
		}
		named = named || path.Base(at) == path.Base(rel)
	}
	return named
}

func sameHead(a, b string) bool {
	a, _, _ = cutHead(a)
	b, _, _ = cutHead(b)
	return a == b
}

// undoAll takes back all decisions and changes of front matter, the newest first, and rejects all that waits then. What could not be taken back because
// something else has its place, or is proposed for it, is tried again after that, as long as anything changes.
func (d *day) undoAll() {
	ctx := d.t.Context()
	journal, err := d.p.ws.Journal(10_000)
	check(d.t, err)
	var left []string
	for _, e := range journal {
		if batch := e.BatchOf(); (e.Decision == nil || e.Decision.Verdict != model.Undone) && !slices.Contains(left, batch) {
			left = append(left, batch)
		}
	}
	for changed := true; changed; {
		changed = false
		left = slices.DeleteFunc(left, func(batch string) bool {
			out, err := d.p.ws.Undo(ctx, batch, person)
			if errors.Is(err, bridge.ErrNothingToUndo) {
				return true
			}
			check(d.t, err)
			changed = changed || out.Notes > 0
			d.note("at the end the person undoes %s: %d, but %v", batch, out.Notes, out.Failed)
			return len(out.Failed) == 0
		})
		ids := d.pending()
		out, err := d.p.ws.Decide(ctx, ids, model.Rejected, person)
		check(d.t, err)
		changed = changed || out.Notes > 0
		d.note("at the end the person rejects %v, but %v", ids, out.Failed)
	}
}

var personsWord = regexp.MustCompile(`P\d+`)

// check compares the vault with what it has to have, but for the blanks: where a line of the person's stands at an end of one that
// goes, bridge/decisiontest says how lines are joined.
func (d *day) check() {
	got := d.w.notes()
	times := make(map[string]int)
	for rel, text := range got {
		for _, word := range personsWord.FindAllString(text, -1) {
			times[word]++
		}
		want, ok := d.notes[rel]
		if text, want := withoutPersons(text), withoutPersons(want); text != want {
			d.t.Errorf("%s: got %q, want %q, the person's words left aside", rel, text, want)
		} else if !ok && text == "" && !personsWord.MatchString(got[rel]) {
			d.t.Errorf("%s is there, and blank", rel)
		}
	}
	for rel := range d.notes {
		if _, there := got[rel]; !there {
			d.t.Errorf("%s is not there", rel)
		}
	}
	for word := range d.typed {
		if times[word] != 1 {
			d.t.Errorf("the person's word %s is there %d times", word, times[word])
		}
	}
	if d.t.Failed() {
		d.t.Logf("the vault: %q", got)
	}
}

// withoutPersons is a text without the person's words, and with one blank between words.
func withoutPersons(text string) string {
	return strings.Join(strings.Fields(personsWord.ReplaceAllString(text, "")), " ")
}
