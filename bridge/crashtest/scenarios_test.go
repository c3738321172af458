package crashtest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

const (
	plan  model.Path = "Notes/Plan.md"
	moved model.Path = "Notes/Moved.md" // where a person renames it to
	other model.Path = "Notes/Other.md"
)

var (
	ann    = model.Author{Name: "ann", Session: "s1"}
	bob    = model.Author{Name: "bob", Session: "s2"}
	person = model.Author{Name: "person"}
)

// step is one thing that relayfs does.
type step struct {
	do func(*process) error
	// certain says that what the step did outlives a power cut when it has returned.
	certain bool
}

// scenario is what happens to a vault.
type scenario struct {
	name  string
	files map[string]string
	setUp []step // in an earlier process, which ends well
	steps []step
	// between, unless nil, is what is legal besides what there is before and after the steps: where one has several
	// transactions.
	between func(expected []sight) sight
	person  bool // somebody saves the note meanwhile, in TestEveryPersonsSave
	// apart says that a power cut can take either of two saves, of which no author is certain then; between is the second alone.
	apart   bool
	accepts bool // the only step accepts all proposals, after setUp
	// moves says that a note is renamed. Where a disk cannot do that without replacing, a crash can leave it
	// with both names.
	moves bool
	// recovers says that a kill may leave in the trash what was rejected: nothing says of a file on its way for which note it is when
	// that is gone.
	recovers bool
}

// write has a program change the note as it sees it.
func write(author model.Author, change func(text string) string) step {
	return writeTo(plan, author, change)
}

func writeTo(path model.Path, author model.Author, change func(text string) string) step {
	return step{do: func(p *process) error {
		v, err := p.ws.Open(p.t.Context(), path)
		if err != nil {
			return err
		}
		_, err = p.ws.Write(p.t.Context(), path, bridge.Write{Base: v, Text: change(v.Text()), By: author})
		return err
	}}
}

// replace has ann's program replace text.
func replace(old, new string) step {
	return write(ann, func(text string) string { return strings.Replace(text, old, new, 1) })
}

// add has bob's program write at the end.
func add(more string) step { return write(bob, func(text string) string { return text + more }) }

func create(path model.Path, text string) step {
	return step{do: func(p *process) error {
		_, err := p.ws.Create(p.t.Context(), path, bridge.Write{Text: text, By: ann})
		return err
	}}
}

// decideAll decides on all suggestions in one go.
func decideAll(verdict model.Verdict) step {
	return step{certain: true, do: func(p *process) error {
		list, err := p.ws.Suggestions(p.t.Context(), "")
		if err != nil {
			return err
		}
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		return p.decide(verdict, ids...)
	}}
}

// decide decides on the pending suggestion with that number.
func decide(verdict model.Verdict, n int) step {
	return step{certain: true, do: func(p *process) error {
		list, err := p.ws.Suggestions(p.t.Context(), "")
		if err != nil {
			return err
		}
		return p.decide(verdict, list[n].ID)
	}}
}

// comment writes a person's comment behind a text.
func comment(behind string) step {
	return step{certain: true, do: func(p *process) error {
		_, err := p.ws.Comment(p.t.Context(), bridge.CommentAnchor{Path: plan, Quote: behind}, "why?", person)
		return err
	}}
}

// resolve takes the only thread out of the text.
func resolve() step {
	return step{certain: true, do: func(p *process) error {
		threads, err := p.ws.Threads(p.t.Context(), "")
		if err != nil {
			return err
		}
		out, err := p.ws.ResolveThreads(p.t.Context(), []string{threads[0].ID}, person)
		for _, failed := range out.Failed {
			err = errors.Join(err, failed)
		}
		return err
	}}
}

func (p *process) decide(verdict model.Verdict, ids ...string) error {
	out, err := p.ws.Decide(p.t.Context(), ids, verdict, person)
	for _, failed := range out.Failed {
		err = errors.Join(err, failed)
	}
	if len(out.Missing) > 0 {
		err = errors.Join(err, errors.New("nothing was decided"))
	}
	return err
}

func undo() step {
	return step{certain: true, do: func(p *process) error { return p.undo() }}
}

// undoOne takes back the first suggestion of the newest decision.
func undoOne() step {
	return step{certain: true, do: func(p *process) error {
		journal, err := p.ws.Journal(1)
		if err != nil {
			return err
		}
		return p.undo(journal[0].Decision.Items[0].ID)
	}}
}

func (p *process) undo(ids ...string) error {
	out, err := p.ws.Undo(p.t.Context(), "", person, ids...)
	for _, failed := range out.Failed {
		err = errors.Join(err, failed)
	}
	return err
}

func rename(from, to model.Path) step {
	return step{certain: true, do: func(p *process) error {
		_, err := p.ws.Rename(p.t.Context(), from, to, bridge.ChangeRequest{Author: ann})
		return err
	}}
}

func remove(path model.Path) step {
	return step{certain: true, do: func(p *process) error {
		_, err := p.ws.Remove(p.t.Context(), path, bridge.ChangeRequest{Author: ann})
		return err
	}}
}

// replaceFile has a person put another file in the place of one, durably, while nobody looks.
func replaceFile(rel, text string) step {
	return step{do: func(p *process) error {
		if err := p.w.disk.Person().SaveByRename(filepath.Join(vaultDir, rel), text); err != nil {
			return err
		}
		dir, err := p.w.disk.Person().Open(vaultDir)
		if err != nil {
			return err
		}
		defer dir.Close()
		file, err := dir.Open(rel, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		return errors.Join(file.Sync(), dir.Sync())
	}}
}

// decideProposal decides on the proposal that waits.
func decideProposal(verdict model.Verdict) step {
	return step{certain: true, do: func(p *process) error {
		list, err := p.ws.Proposals(p.t.Context(), "")
		if err != nil {
			return err
		}
		return p.decide(verdict, list[0].ID)
	}}
}

// exchanged proposes, after replace, that the two notes have each other's names.
var exchanged = []step{
	replace("two", "TWO"), rename(plan, "Notes/Aside.md"), pause(time.Second), rename(other, plan), rename("Notes/Aside.md", other),
}

// writeFile proposes the content of a file that is not a note.
func writeFile(path model.Path, data string) step {
	return step{certain: true, do: func(p *process) error {
		_, err := p.ws.WriteFile(p.t.Context(), path, []byte(data), bridge.ChangeRequest{Author: ann})
		return err
	}}
}

// decideProposals decides on all pending proposals at once or, if folders are given, on those for paths directly in them.
func decideProposals(verdict model.Verdict, in ...model.Path) step {
	return step{certain: true, do: func(p *process) error {
		list, err := p.ws.Proposals(p.t.Context(), "")
		if err != nil {
			return err
		}
		var ids []string
		for _, x := range list {
			if in == nil || slices.Contains(in, x.Path.Dir()) {
				ids = append(ids, x.ID)
			}
		}
		return p.decide(verdict, ids...)
	}}
}

// pause lets what relayfs does by itself take place.
func pause(d time.Duration) step {
	return step{do: func(*process) error { time.Sleep(d); return nil }}
}

var note = map[string]string{"Plan.md": "one two\nthree four\n"}

// twoNotes are saved one right after the other, and have one modification time then.
var twoNotes = scenario{
	apart: true, name: "two notes at one time", files: map[string]string{"Plan.md": "one two\nthree four\n", "Other.md": "other two\n"},
	steps: []step{replace("two", "TWO"), writeTo(other, ann, func(text string) string { return text + "five\n" })},
	between: func(expected []sight) sight {
		s := expected[0]
		s.notes = map[model.Path]string{plan: s.notes[plan], other: expected[2].notes[other]}
		s.pending = expected[2].pending[:1]
		return s
	},
}

var planAndOther = map[string]string{"Plan.md": "one two\nthree four\n", "Other.md": "other\n"}

var scenarios = []scenario{
	twoNotes,
	{person: true, name: "a write", files: note, steps: []step{write(ann, func(text string) string { return strings.Replace(text, "two", "TWO", 1) + "five 😀\n" })}},
	{person: true, name: "two writes", files: note, steps: []step{replace("two", "TWO"), add("\nfive\n")}},
	{
		name: "two writes with a pause", files: note,
		steps: []step{replace("two", "TWO"), pause(3 * time.Second), add("\nfive\n")},
	},
	{
		name: "a later write", files: note,
		setUp: []step{replace("two", "TWO")}, steps: []step{replace("four", "FOUR")},
	},
	{name: "a write into an empty note", files: map[string]string{"Plan.md": ""}, steps: []step{add("one\n")}},
	{name: "a write of front matter", files: note, steps: []step{write(ann, func(text string) string { return "---\nstatus: open\n---\n" + strings.Replace(text, "four", "FOUR", 1) })}},
	{name: "a note", steps: []step{create(plan, "new\n\nmore\n")}},
	{name: "a note in a new folder", steps: []step{create("Notes/sub/Plan.md", "new\n"), pause(time.Second)}},
	{name: "a note that is written again", steps: []step{create(plan, "new\n"), replace("new", "newer")}},
	{
		person: true, name: "an acceptance", files: note,
		setUp: []step{write(ann, func(text string) string {
			return strings.Replace(strings.Replace(text, "two", "TWO", 1), "four", "four five", 1)
		})}, steps: []step{decide(model.Accepted, 0)},
	},
	{
		name: "an acceptance and a rejection", files: note,
		setUp: []step{write(ann, func(text string) string {
			return strings.Replace(strings.Replace(text, "two", "TWO", 1), "four", "four five", 1)
		})}, steps: []step{decide(model.Accepted, 1), decide(model.Rejected, 0)},
	},
	{
		name: "a decision on what a person marked", files: map[string]string{"Plan.md": "one {--two--}{++TWO++}\nthree\n"},
		steps: []step{decide(model.Rejected, 0)},
	},
	{name: "a write and its acceptance", files: note, steps: []step{replace("two", "TWO"), decide(model.Accepted, 0)}},
	{
		person: true, name: "an undo", files: note,
		setUp: []step{replace("two", "TWO"), decide(model.Accepted, 0)}, steps: []step{undo()},
	},
	{
		person: true, name: "one of two suggestions is taken back, and then the other", files: note,
		setUp: []step{replace("two", "TWO"), replace("four", "FOUR"), decideAll(model.Accepted)}, steps: []step{undoOne(), undo()},
	},
	{
		person: true, name: "a decision and its undo", files: note,
		setUp: []step{replace("two", "TWO")}, steps: []step{decide(model.Rejected, 0), undo()},
	},
	{
		name: "a comment and its undo", files: note,
		setUp: []step{replace("two", "TWO")}, steps: []step{comment("TWO"), undo()},
	},
	{
		person: true, name: "a thread is resolved", files: note,
		setUp: []step{replace("two", "TWO"), comment("one")}, steps: []step{resolve()},
	},
	{
		person: true, name: "a thread is resolved and comes back", files: note,
		setUp: []step{replace("two", "TWO"), comment("one")}, steps: []step{resolve(), undo()},
	},
	{name: "a proposal to rename", files: note, steps: []step{rename(plan, "Notes/Other.md")}},
	{name: "a proposal to remove", files: note, steps: []step{remove(plan)}},
	{
		moves: true, accepts: true, name: "a rename is accepted", files: note,
		setUp: []step{replace("two", "TWO"), rename(plan, "Notes/Other.md")}, steps: []step{decideProposal(model.Accepted)},
	},
	{
		moves: true, name: "a rename to another folder is accepted, and undone", files: map[string]string{"Plan.md": "one two\n", "sub/Other.md": "other\n"},
		setUp: []step{replace("two", "TWO"), rename(plan, "Notes/sub/Plan.md")}, steps: []step{decideProposal(model.Accepted), undo()},
	},
	{
		moves: true, name: "a rename is accepted at once", files: note,
		steps: []step{replace("two", "TWO"), rename(plan, "Notes/Other.md"), decideProposal(model.Accepted)},
	},
	{
		moves: true, accepts: true, name: "a rename with links is accepted", files: map[string]string{"Plan.md": "one\n", "Index.md": "See [[Plan]].\n"},
		setUp: []step{rename(plan, "Notes/Other.md")}, steps: []step{decideProposal(model.Accepted)},
		between: func(expected []sight) sight { // the link waits for a person still
			s := expected[0]
			s.decided, s.proposals = []string{"accepted 1"}, nil
			return s
		},
	},
	{
		moves: true, accepts: true, name: "a rename with links in front matter is accepted", files: map[string]string{"Plan.md": "one\n", "Index.md": "---\nup: \"[[Plan]]\"\n---\nbody\n"},
		setUp: []step{rename(plan, "Notes/Other.md")}, steps: []step{decideProposal(model.Accepted)},
	},
	{
		moves: true, name: "a rename with links in front matter is accepted and undone", files: map[string]string{"Plan.md": "one\n", "Index.md": "---\nup: \"[[Plan]]\"\n---\nbody\n"},
		setUp: []step{rename(plan, "Notes/Other.md"), decideProposal(model.Accepted)}, steps: []step{undo()},
	},
	{
		moves: true, accepts: true, name: "a rename with a link in pending text is accepted", files: planAndOther,
		setUp: []step{replace("two", "[[Other]]"), rename(other, "Notes/New.md")}, steps: []step{decideProposal(model.Accepted)},
	},
	{
		moves: true, name: "a rename with a link in pending text is accepted and undone", files: planAndOther,
		setUp: []step{replace("two", "[[Other]]"), rename(other, "Notes/New.md"), decideProposal(model.Accepted)}, steps: []step{undo()},
	},
	{
		moves: true, name: "a rename with a link in pending text is rejected", files: planAndOther,
		setUp: []step{rename(other, "Notes/New.md"), replace("two", "[[New]]")}, steps: []step{decideProposal(model.Rejected)},
	},
	{
		moves: true, accepts: true, name: "an exchange is accepted", files: planAndOther,
		setUp: exchanged, steps: []step{decideProposals(model.Accepted)},
	},
	{
		moves: true, accepts: true, name: "an exchange with links in front matter is accepted",
		files: map[string]string{"Plan.md": "one\n", "Other.md": "other\n", "Index.md": "---\nr: \"[[Plan]]\"\ns: \"[[Other]]\"\n---\nbody\n"},
		setUp: exchanged[1:], steps: []step{decideProposals(model.Accepted)},
	},
	{
		moves: true, accepts: true, name: "renames of a note and of its folder with links in front matter are accepted",
		files: map[string]string{"d/Plan.md": "one\n", "d/Keep.md": "keep\n", "Index.md": "---\nup: \"[[d/Plan]]\"\n---\nbody\n"},
		setUp: []step{rename("Notes/d/Plan.md", "Notes/d/Other.md"), rename("Notes/d", "Notes/e")}, steps: []step{decideProposals(model.Accepted)},
	},
	{
		moves: true, name: "an exchange of folders is accepted, renames in them are not",
		files: map[string]string{"d/Plan.md": "one\n", "e/Keep.md": "keep\n"},
		setUp: []step{
			rename("Notes/d", "Notes/f"), rename("Notes/e", "Notes/d"), rename("Notes/f", "Notes/e"),
			rename("Notes/e/Plan.md", "Notes/e/Other.md"), rename("Notes/d/Keep.md", "Notes/d/Other.md"),
		},
		steps: []step{decideProposals(model.Accepted, "Notes")},
	},
	{
		moves: true, name: "the acceptance of an exchange is undone", files: planAndOther,
		setUp: append(slices.Clone(exchanged), decideProposals(model.Accepted)), steps: []step{undo()},
	},
	{
		moves: true, name: "the rejection of an exchange is undone", files: planAndOther,
		setUp: exchanged, steps: []step{decideProposals(model.Rejected), undo()},
	},
	{recovers: true, name: "a new note is rejected", setUp: []step{create(plan, "new\n\nmore\n")}, steps: []step{decideAll(model.Rejected)}},
	{recovers: true, name: "a new note is rejected and undone", setUp: []step{create(plan, "new\n\nmore\n")}, steps: []step{decideAll(model.Rejected), undo()}},
	{
		recovers: true, name: "a new note in a new folder is rejected and undone", setUp: []step{create("Notes/sub/Plan.md", "new\n\nmore\n")},
		steps: []step{decideAll(model.Rejected), undo()},
	},
	{name: "a proposed file is accepted and undone", setUp: []step{writeFile("Notes/a.csv", "a,b\n")}, steps: []step{decideProposal(model.Accepted), undo()}},
	{
		name: "a proposed change of a file is accepted and undone", files: map[string]string{"a.csv": "x\n"},
		setUp: []step{writeFile("Notes/a.csv", "a,b\n")}, steps: []step{decideProposal(model.Accepted), undo()},
	},
	{
		name: "an agent's comment is accepted and undone", files: note,
		setUp: []step{replace("two", "two{>>why<<}")}, steps: []step{decideAll(model.Accepted), undo()},
	},
	{
		name: "a rename is rejected", files: note,
		setUp: []step{rename(plan, "Notes/Other.md")}, steps: []step{decideProposal(model.Rejected)},
	},
	{
		accepts: true, name: "a removal is accepted", files: map[string]string{"Plan.md": "one two\n", "Other.md": "other\n"},
		setUp: []step{replace("two", "TWO"), remove(plan)}, steps: []step{decideProposal(model.Accepted)},
	},
	{
		name: "a removal is accepted, and another note made at its name", files: map[string]string{"Plan.md": "one two\n", "Other.md": "other\n"},
		setUp: []step{replace("two", "TWO"), remove(plan)}, steps: []step{decideProposal(model.Accepted), create(plan, "new\n\nmore\n")},
	},
	{
		name: "a removal was accepted, and a person has made another note at its name", files: planAndOther,
		setUp: []step{replace("two", "TWO"), remove(plan), decideProposal(model.Accepted), replaceFile("Plan.md", "another text\nof a person\n")},
		steps: []step{write(bob, func(text string) string { return text + "five\n" })},
	},
	{
		name: "a person has put another file in the place of a note", files: map[string]string{"Plan.md": "one two\nthree four\n", "Other.md": "other\n"},
		setUp: []step{replace("two", "TWO"), decideAll(model.Accepted), replace("four", "FOUR"), replaceFile("Plan.md", "another text\nof a person\n")},
		steps: []step{write(bob, func(text string) string { return text + "five\n" })},
	},
	{
		name: "a removal is accepted and undone", files: map[string]string{"Plan.md": "one two\n", "Other.md": "other\n"},
		setUp: []step{remove(plan)}, steps: []step{decideProposal(model.Accepted), undo()},
	},
}
