package bridge_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// desk is a note on which agents, a user and a reviewer work: with a file, or live.
type desk struct {
	t       *testing.T
	f       *bridgetest.Fixture
	live    *bridgetest.Live
	note    model.Path
	batches []string
	refused error // of the last undo
	away    []model.Unrestored
}

func newDesk(t *testing.T, text string, live bool) *desk {
	if !live {
		return &desk{t: t, f: bridgetest.New(t, map[string]string{plan: text}), note: plan}
	}
	d := &desk{t: t, note: "Team/Plan.md"}
	d.f, d.live = openLive(t, map[string]string{"Plan.md": text})
	return d
}

func (d *desk) raw() string {
	d.t.Helper()
	return open(d.t, d.f.Workspace, d.note).Raw()
}

// step is one thing that somebody does.
type step func(*desk)

func agentWrites(name, text string) step {
	return func(d *desk) {
		d.t.Helper()
		write(d.t, d.f.Workspace, d.note, bridge.Write{Text: text, By: model.Author{Name: name}})
	}
}

// types has a user replace text of the raw note.
func types(old, new string) step {
	return func(d *desk) {
		d.t.Helper()
		raw := d.raw()
		at := strings.Index(raw, old)
		if at < 0 {
			d.t.Fatalf("%q is not in %q", old, raw)
		}
		if d.live == nil {
			d.f.Person(string(d.note), strings.Replace(raw, old, new, 1))
			return
		}
		same := 0 // a user's editor touches nothing else
		for same < min(len(old), len(new)) && old[same] == new[same] {
			same++
		}
		tail := 0
		for tail < min(len(old), len(new))-same && old[len(old)-1-tail] == new[len(new)-1-tail] {
			tail++
		}
		at += same
		peer(d.t, d.live, "Plan.md", func(tx *ycrdt.Txn, text *ycrdt.Text) {
			text.Delete(tx, at, len(old)-same-tail)
			text.Insert(tx, at, new[same:len(new)-tail])
		})
	}
}

func decides(verdict model.Verdict, which ...int) step {
	return func(d *desk) {
		d.t.Helper()
		list := pendingOf(d.t, d.f.Workspace)
		var ids []string
		for _, i := range which {
			if i >= len(list) {
				d.t.Fatalf("%d suggestions in %q", len(list), d.raw())
			}
			ids = append(ids, list[i].ID)
		}
		d.batches = append(d.batches, decide(d.t, d.f.Workspace, verdict, ids...).Batch)
	}
}

func accepts(which ...int) step { return decides(model.Accepted, which...) }
func rejects(which ...int) step { return decides(model.Rejected, which...) }

func undoes(which int) step {
	return func(d *desk) {
		d.t.Helper()
		out, err := d.f.Undo(d.t.Context(), d.batches[which], person)
		if err != nil {
			d.t.Fatal(err)
		}
		d.refused, d.away = out.Failed[d.note], out.Unrestored
	}
}

func says(want string) step {
	return func(d *desk) {
		d.t.Helper()
		if got := d.raw(); got != want {
			d.t.Errorf("the note says %q, want %q", got, want)
		}
	}
}

func staysAway(text, why string) step {
	return func(d *desk) {
		d.t.Helper()
		if len(d.away) != 1 || d.away[0].Text != text || d.away[0].Why != why || d.away[0].Path != d.note {
			d.t.Errorf("away: %+v, want %q, %s", d.away, text, why)
		}
	}
}

func isRefused(d *desk) {
	d.t.Helper()
	if d.refused == nil {
		d.t.Error("the undo is not refused")
	}
}

// The cases by which decisions and undo were defined.
func TestDecisionCases(t *testing.T) {
	const twoBefore, twoAfter = "# T\n\nThe old river.\n\nLast line.\n", "# T\n\nA new stream.\n\nA close, with bold.\n\nLast line.\n"
	const woman, scientist = "👩\u200d💻", "👩\u200d🔬"
	for name, tt := range map[string]struct {
		text  string
		steps []step
	}{
		"1: two paragraphs of one": {twoBefore, []step{
			agentWrites("A", twoAfter), accepts(0), accepts(0), says(twoAfter), undoes(0), undoes(1),
			says("# T\n{--\nThe old river.--}{++\nA new stream.++}{++\n\nA close, with bold.++}\n\nLast line.\n")}},
		"1: the other way round": {twoBefore, []step{
			agentWrites("A", twoAfter), accepts(0), accepts(0), undoes(1), undoes(0),
			says("# T\n{--\nThe old river.--}{++\nA new stream.++}{++\n\nA close, with bold.++}\n\nLast line.\n")}},
		"2: beside a writing agent": {"P\n", []step{
			agentWrites("A", "P\n\nPP\n"), agentWrites("A", "P\n\nPP\n\nQ\n"), rejects(1), agentWrites("A", "P\n\nR\n\nS\n"), undoes(0),
			says("P{++\n\nR++}{++\n\nS++}{++\n\nQ++}\n")}},
		"3: beside another's deletion": {"a b c\n", []step{
			agentWrites("A", "a c\n"), agentWrites("B", "a X c\n"), accepts(0), says("a X {--b --}c\n"), undoes(0), says("a {++X ++}{--b --}c\n")}},
		"4: typed in an addition": {"a\n", []step{
			agentWrites("A", "a AGENT text\n"), types("AGENT", "AGENTHUM"), rejects(0), says("aHUM\n"), undoes(0), says("a{++ AGENT++}HUM{++ text++}\n"),
			accepts(0), says("a AGENTHUM text\n")}},
		"5: typed in a deletion": {"x beta y\n", []step{
			agentWrites("A", "x y\n"), types("beta", "beHUMta"), accepts(0), says("x HUMy\n"), undoes(0), says("x {--be--}HUM{--ta --}y\n"),
			rejects(0), says("x beHUMta y\n")}},
		"6: amended since by its author": {"a b c\n", []step{
			agentWrites("A", "a new words c\n"), accepts(0), agentWrites("A", "a new works c\n"), undoes(0), says("a {--b--}{++new ++}{++works++} c\n"),
			staysAway("words", "A proposes to delete it")}},
		"7: deleted since by another": {"a b c\n", []step{
			agentWrites("A", "a new words c\n"), accepts(0), agentWrites("B", "a new c\n"), undoes(0), says("a {--b--}{++new ++}{-- --}c\n"),
			staysAway("words", "B proposes to delete it")}},
		"8: a deletion of what was accepted": {"a c\n", []step{
			agentWrites("A", "a X c\n"), accepts(0), agentWrites("B", "a c\n"), accepts(0), undoes(0), isRefused, says("a c\n"), undoes(1), says("a {--X --}c\n")}},
		"8: the other way round": {"a c\n", []step{
			agentWrites("A", "a X c\n"), accepts(0), agentWrites("B", "a c\n"), accepts(0), undoes(1), says("a {--X --}c\n"), undoes(0), says("a c\n")}},
		"9: the paragraph is gone": {"h\n\nthe brown fox ran\n\nt\n", []step{
			agentWrites("A", "h\n\nthe fox ran\n\nt\n"), accepts(0), types("the fox ran\n\n", ""), undoes(0), isRefused, says("h\n\nt\n")}},
		"9: what is around a comment is gone": {"one asked{>>why?<<} two\n", []step{
			agentWrites("A", "one old two\n"), says("one {--asked--}{--{>--}{-->why?<<}--}{++old++} two\n"), rejects(0),
			types("asked", "ask"), types("} two", "}two"), undoes(0), says("one {--ask--}{--{>--}{-->why?<<}--}two\n")}},
		"9: the last line is gone": {"one\n", []step{
			agentWrites("A", "one\nthe line"), accepts(0), agentWrites("B", "one\nline"), accepts(0), types("line", ""), undoes(1),
			says("one\n{--the --}")}},
		"9: beside what stays away": {"one\nT\n\nshed.\n\nruns two\n", []step{
			agentWrites("A", "one\nriver\n\nruns two\n"), says("one{--\nT--}{++\nriver++}{--\n\nshed.--}\n\nruns two\n"), accepts(1), rejects(0),
			types("T\n\nruns", ""), undoes(1), undoes(0), says("one{--\n--}{--\n\nshed.--} two\n")}},
		"9: beside what stays away, the other way round": {"one\nT\n\nshed.\n\nruns two\n", []step{
			agentWrites("A", "one\nriver\n\nruns two\n"), says("one{--\nT--}{++\nriver++}{--\n\nshed.--}\n\nruns two\n"), accepts(1), rejects(0),
			types("T\n\nruns", ""), undoes(0), undoes(1), says("one{--\n--}{--\n\nshed.--} two\n")}},
		"10: one side is gone": {"the brown fox ran\n", []step{
			agentWrites("A", "the fox ran\n"), accepts(0), types("fox", "wolf"), undoes(0), says("the {--brown --}wolf ran\n")}},
		"11: what came was deleted": {"the brown fox\n", []step{
			agentWrites("A", "the red fox\n"), accepts(0), types("red", ""), undoes(0), says("the {--brown--} fox\n"), staysAway("red", "deleted by users since")}},
		"12: what came was typed in": {"the brown fox\n", []step{
			agentWrites("A", "the red fox\n"), accepts(0), types("red", "reHd"), undoes(0), says("the {--brown--}{++re++}H{++d++} fox\n")}},
		"14: another adds inside": {"a\n", []step{
			agentWrites("A", "a one two\n"), accepts(0), agentWrites("B", "a one TWO two\n"), undoes(0), says("a{++ one ++}{++TWO ++}{++two++}\n"),
			accepts(0), says("a one {++TWO ++}two\n")}},
		"15: deleted again": {"a b c\n", []step{
			agentWrites("A", "a c\n"), rejects(0), agentWrites("A", "a c\n"), undoes(0), says("a {--b --}c\n")}},
		"16: written again": {"a\n", []step{
			agentWrites("A", "a red\n"), rejects(0), agentWrites("A", "a red\n"), undoes(0), says("a{++ red++}{++ red++}\n")}},
		"17: an empty line": {"a\n\n\nb\n", []step{
			agentWrites("A", "a\n\nb\n"), accepts(0), says("a\n\nb\n"), undoes(0), says("a{--\n--}\n\nb\n")}},
		"18: a new note": {"", []step{
			agentWrites("A", "# N\n\nx\n"), rejects(0, 1), says(""), undoes(0), says("{++# N\n++}{++\nx\n++}")}},
		"19: a new note with words of a person": {"", []step{
			agentWrites("A", "# N\n\nx\n"), accepts(0, 1), types("x\n", "xHUM\n"), undoes(0), says("{++# N\n++}{++\nx++}HUM{++\n++}")}},
		"20: behind a fence": {"```\nls\n```\n", []step{
			agentWrites("A", "```\nls\n```\nAfter\n"), rejects(0), says("```\nls\n```\n"), undoes(0), says("```\nls\n```\n{++After\n++}")}},
		"21: rows of a table": {"| a | b |\n|---|---|\n| 1 | 2 |\n", []step{
			agentWrites("A", "| a | b |\n|---|---|\n| 1 | 3 |\n| 4 | 5 |\n"), rejects(1), undoes(0),
			says("| a | b |\n|---|---|\n| 1 | {--2--}{++3++} |{++\n| 4 | 5 |++}\n")}},
		"22: in a highlight": {"{=={--old--}{++new++}==}\n", []step{rejects(0), says("{==old==}\n"), undoes(0), says("{=={--old--}{++new++}==}\n")}},
		"22: a mark before a highlight is deleted": {"see k {==old==} x\n", []step{
			agentWrites("A", "see old x\n"), says("see {--k --}{==old==} x\n"), accepts(0), agentWrites("B", "see X old x\n"), says("see {++X ++}{==old==} x\n"),
			types("{++X ++}{==", "{=="), undoes(0), says("see {--k --}{==old==} x\n")}},
		"24: a mark before a comment is deleted": {"see k{>>why<<} x\n", []step{
			agentWrites("A", "see{>>why<<} x\n"), says("see{-- k--}{>>why<<} x\n"), accepts(0), agentWrites("B", "see X{>>why<<} x\n"),
			says("see{++ X++}{>>why<<} x\n"), types("{++ X++}{>>", "{>>"), undoes(0), says("see{-- k--}{>>why<<} x\n")}},
		"23: a highlight that empties": {"a {=={--key--}==}b\n", []step{accepts(0), says("a b\n"), undoes(0), says("a {=={--key--}==}b\n")}},
		"23: a highlight goes with what is in it": {"one {==key==} two\n", []step{
			agentWrites("A", "one X key two\n"), agentWrites("B", "one X  two\n"), says("one {++X ++}{=={--key--}==} two\n"), accepts(0, 1),
			agentWrites("B", "one  two\n"), says("one {--X --} two\n"), undoes(0), says("one {=={--key--}==} two\n")}},
		"24: an older comment": {"two{>>why<<}\n", []step{
			agentWrites("A", "2{>>why<<}\n"), says("{--two--}{++2++}{>>why<<}\n"), rejects(0), says("two{>>why<<}\n"), undoes(0),
			accepts(0), says("2{>>why<<}\n"), undoes(1), says("{--two--}{++2++}{>>why<<}\n"), rejects(0), says("two{>>why<<}\n")}},
		"24: a deletion across a comment": {"two {>>why<<}three four\n", []step{
			agentWrites("A", "four\n"), says("{--two --}{--{>--}{-->why<<}--}{--three --}four\n"), rejects(0), says("two {>>why<<}three four\n"),
			undoes(0), says("{--two --}{--{>--}{-->why<<}--}{--three --}four\n"), accepts(0), says("four\n"),
			undoes(1), says("{--two --}{--{>--}{-->why<<}--}{--three --}four\n"), rejects(0), says("two {>>why<<}three four\n")}},
		"24: a deletion across a comment that is accepted later": {"tea apples the.\n", []step{
			agentWrites("A", "tea apples{>>why<<} the.\n"), accepts(0), agentWrites("B", "the.\n"), rejects(0), undoes(0), undoes(1),
			says("{--tea apples--}{--{>--}{-->why<<}--}{-- --}the.\n"),
			rejects(0), accepts(0), undoes(2), says("{--tea apples--}{--{>--}{-->why<<}--}{-- --}the.\n"),
			rejects(0), undoes(3), undoes(4), says("{--tea apples--}{--{>--}{-->why<<}--}{-- --}the.\n")}},
		"24: a deletion across a comment that a person writes in": {"two {>>why<<} three four\n", []step{
			agentWrites("A", "two four\n"), says("two {--{>--}{-->why<<}--}{-- three --}four\n"), rejects(0), types("why", "whyHUM"),
			undoes(0), says("two {>>whyHUM<<}{-- three --}four\n"), rejects(0), says("two {>>whyHUM<<} three four\n"), undoes(1),
			accepts(0), says("two {>>whyHUM<<}four\n")}},
		"24: a deletion across a comment beside which a person writes another": {"two {>>so<<} three four\n", []step{
			agentWrites("A", "two four\n"), says("two {--{>--}{-->so<<}--}{-- three --}four\n"), rejects(0), types("{>>", "{>>shed<<}{>>"),
			undoes(0), func(d *desk) {
				want := "two {>>shed<<}{--{>--}{-->so<<}--}{-- three --}four\n"
				if d.live != nil { // the user's program cut the comment
					want = "two {>>shed<<}{>>so<<}{-- three --}four\n"
				}
				says(want)(d)
			}, rejects(0), says("two {>>shed<<}{>>so<<} three four\n")}},
		"24: a pending comment that a person writes in": {"a b\n", []step{
			agentWrites("A", "a{>>why now<<} b\n"), types("why", "why HUM"), agentWrites("A", "a{>>why HUM now<<} b c\n"), rejects(0),
			says("a{>>why HUM now<<} b\n"), func(d *desk) {
				if list := pendingOf(d.t, d.f.Workspace); len(list) > 0 {
					d.t.Errorf("a comment with a user's words is pending: %+v", list)
				}
			}}},
		"24: beside a comment that was accepted with it": {"a b c\n", []step{
			agentWrites("A", "a b{>>w<<} c\n"), agentWrites("B", "a{>>w<<} c\n"), says("a{-- b--}{>>w<<} c\n"), accepts(0, 1),
			types("a{>>w<<}", ""), undoes(0), says("{-- b--} c\n"), staysAway("{>>w<<}", "deleted by users since")}},
		"a person's mark beside an agent's that is deleted": {"a c {--d--}e\n", []step{
			agentWrites("A", "a c X e\n"), says("a c {++X ++}{--d--}e\n"), types("{++X ++}{--", "{--"), agentWrites("A", "a c e f\n"),
			says("a c {--d--}e{++ f++}\n"), func(d *desk) {
				if s := pendingOf(d.t, d.f.Workspace)[0]; s.Author == "A" {
					d.t.Errorf("a person's is listed as %+v", s)
				}
			}, rejects(0), says("a c de{++ f++}\n")}},
		"24: a comment that was accepted and taken back": {"", []step{
			agentWrites("A", "{>>c<<}"), accepts(0), agentWrites("A", "{>>c<<}\n\nfall\n"), undoes(0), rejects(0), says("{++\n\nfall\n++}"), undoes(1),
			says("{>>c<<}{++\n\nfall\n++}")}},
		"24: a comment that was accepted and deleted": {"", []step{
			agentWrites("A", "{>>c<<}"), accepts(0), agentWrites("B", "noon"), says("{--{>--}{-->c<<}--}{++noon++}"), accepts(0), says("noon"), undoes(1),
			says("{--{>--}{-->c<<}--}{++noon++}")}},
		"a person's mark that the person cuts": {"a c {++d++}e\n\none\n", []step{
			agentWrites("A", "a c de\n\none two\n"), types("++}e", "e"), says("a c {++de\n\none{++ two++}\n"),
			agentWrites("A", "a c {++de\n\none two three\n"), says("a c {++de\n\none{++ two three++}\n")}},
		"a person's mark with an agent's opener": {"a c {++d++}e\n", []step{
			agentWrites("A", "a c X de\n"), says("a c {++X ++}{++d++}e\n"), types("{++X ++}{++", "{++"), agentWrites("A", "a c de f\n"),
			says("a c {++d++}e{++ f++}\n"), rejects(0), says("a c e{++ f++}\n")}},
		"25: a younger comment": {"a\n", []step{
			agentWrites("A", "b\n"), types("++}", "++}{>>c<<}"), says("{--a--}{++b++}{>>c<<}\n"), accepts(0), says("b\n"), undoes(0),
			says("{--a--}{++b++}{>>c<<}\n"), rejects(0), says("a\n"), undoes(1), says("{--a--}{++b++}{>>c<<}\n")}},
		"26: a substitution": {"{~~a~>bb~~}\n", []step{
			accepts(0), says("bb\n"), undoes(0), says("{~~a~>bb~~}\n"), rejects(0), says("a\n"), undoes(1), says("{~~a~>bb~~}\n"),
			accepts(0), types("bb", "bHb"), undoes(2), says("{--a--}{++b++}H{++b++}\n")}},
		"27: CR LF": {"a\r\nb\r\n", []step{
			agentWrites("A", "a\r\nc\r\nb\r\n"), rejects(0), undoes(0), says("a{++\r\nc++}\r\nb\r\n")}},
		"28: characters of several": {"hi " + woman + " x\n", []step{
			agentWrites("A", "hi "+scientist+" x\n"), accepts(0), undoes(0), says("hi {--" + woman + "--}{++" + scientist + "++} x\n")}},
		"29: cut and pasted": {"a\n\nz\n", []step{
			agentWrites("A", "a\n\nNEW\n\nz\n"), accepts(0), types("\nNEW\n", ""), types("z\n", "z\n\nNEW\n"), undoes(0), func(d *desk) {
				if strings.Contains(d.raw(), "NEW++}") {
					d.t.Errorf("other characters wait: %q", d.raw())
				}
			}}},
		"30: marks taken off by hand": {"a c\n", []step{
			agentWrites("A", "a X c\n"), accepts(0), undoes(0), types("{++X ++}", "X "), agentWrites("B", "a c\n"), accepts(0), undoes(1), says("a {--X --}c\n")}},
		"a highlight behind what was deleted": {"p q\n", []step{
			agentWrites("A", "q\n"), accepts(0), types("q", "{==q==}"), undoes(0), says("{--p --}{==q==}\n"), rejects(0), says("p {==q==}\n")}},
		"a dialect's marks": {"a {++{\"author\":\"Ann\",\"time\":1700000000}@@b++}{{author=\"Ann\">><<}} c\n", []step{
			accepts(0), says("a b c\n"), undoes(0), says("a {++{\"author\":\"Ann\",\"time\":1700000000}@@b++}{{author=\"Ann\">><<}} c\n")}},
		"front matter without an end": {"---\nk: a\n---", []step{
			agentWrites("A", "---\nk: a\n---\nx\n"), says("---\nk: a\n---\n{++x\n++}"), rejects(0), says("---\nk: a\n---"), undoes(0),
			says("---\nk: a\n---\n{++x\n++}"), accepts(0), says("---\nk: a\n---\nx\n"), undoes(1), rejects(0), says("---\nk: a\n---")}},
		"front matter without an end, in two steps": {"---\nk: a\n---", []step{
			agentWrites("A", "---\nk: a\n---\nx\n"), agentWrites("B", "---\nk: a\n---\nx\ny\n"), says("---\nk: a\n---\n{++x\n++}{++y\n++}"),
			rejects(0), says("---\nk: a\n---\n{++y\n++}"), rejects(0), says("---\nk: a\n---"), undoes(0), says("---\nk: a\n---\n{++x\n++}"),
			undoes(1), says("---\nk: a\n---\n{++x\n++}{++y\n++}"), rejects(0, 1), says("---\nk: a\n---")}},
		"front matter without an end that is changed, too": {"---\nk: a\n---", []step{
			agentWrites("A", "---\nk: b\n---\nx\n"), func(d *desk) {
				journal, err := d.f.Journal(1)
				if err != nil {
					d.t.Fatal(err)
				}
				d.batches = append(d.batches, journal[0].BatchOf())
			}, rejects(0), says("---\nk: b\n---"), undoes(0), says("---\nk: a\n---")}},
		"front matter that an agent made": {"", []step{
			agentWrites("A", "---\nk: b\n---\nx\n"), rejects(0), says("---\nk: b\n---\n")}},
		"front matter that people changed": {"---\nk: a\n---\nx\n", []step{
			agentWrites("A", "---\nk: bcd\n---\nx\n"), func(d *desk) {
				journal, err := d.f.Journal(1)
				if err != nil {
					d.t.Fatal(err)
				}
				d.batches = append(d.batches, journal[0].BatchOf())
			}, types("bcd", "bd"), undoes(0), isRefused, says("---\nk: bd\n---\nx\n")}},
	} {
		for _, live := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", live"}[live], func(t *testing.T) {
				d := newDesk(t, tt.text, live)
				for _, s := range tt.steps {
					s(d)
				}
			})
		}
	}
}
