package diffwrap

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds adds the real notes, and texts full of delimiters, to a fuzz target that takes a raw text and an edit of it: the
// edit puts a piece of the note in place of another.
func seeds(f *testing.F) {
	for _, note := range realNotes(f) {
		lines := strings.SplitAfter(note, "\n")
		for i := 0; i+3 < len(lines); i += 3 {
			raw := strings.Join(lines[i:i+3], "")
			f.Add(raw, uint16(len(raw)/3), uint16(4), lines[i+3])
			f.Add(raw+"{--"+lines[i+3]+"--}{++x++}", uint16(len(raw)/2), uint16(9), "y")
		}
	}
	for _, raw := range []string{"{++{--{~~{>>{==", "{==a {--b--} c==}{>>d<<}", `{++{"author":"Bob"}@@x++}y`, "{~~a~>b~~}@@",
		`{{author="Bob">>x<<}}{++a++}{{author="AI">><<}}`, "---\na: 1\n---\n{++b++}\n"} {
		f.Add(raw, uint16(1), uint16(3), "{++")
		f.Add(raw, uint16(4), uint16(0), "a@@b{")
	}
}

// FuzzPut checks the laws. What was written is the accepted view with n bytes at off replaced.
func FuzzPut(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw string, off, n uint16, insert string) {
		shown := Accepted(raw)
		from := min(int(off), len(shown))
		want := shown[:from] + insert + shown[min(from+int(n), len(shown)):]
		result, err := Options{}.Put(raw, want)
		if err != nil {
			invalid := !utf8.ValidString(raw) || !utf8.ValidString(want)
			if err := new(tally).refused(raw, want, err); err != nil && !invalid {
				t.Fatal(err)
			}
			return
		}
		x := exchange{raw, Known{}, want, Apply(raw, result.Edits), result}
		if err := x.check(); err != nil && utf8.ValidString(raw) {
			t.Fatal(err)
		}
		if again, err := (Options{Known: x.Known}).Put(x.got, x.shown()); err != nil || again.Edits != nil {
			t.Fatalf("stored %q, put back unchanged: %v %v", x.got, again, err)
		}
	})
}

// FuzzParse checks what parse, the views and the decisions promise for any text.
func FuzzParse(f *testing.F) {
	for _, note := range realNotes(f) {
		f.Add(note)
	}
	for _, raw := range []string{"{++a++}", "{~~a~>b~~}{>>c<<}", "{=={--a--}{++b++}==}", "{++{++", "{{author=\"a\">>b<<}}"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		end := 0
		for _, c := range (Known{}).parse(raw).Cells {
			if c.Start != end || c.End <= c.Start || c.Body.Start < c.Start && !c.Body.Empty() || c.Body.End > c.End {
				t.Fatalf("cell %+v after offset %d", c, end)
			}
			end = c.End
		}
		if end != len(raw) {
			t.Fatalf("cells end at %d of %d", end, len(raw))
		}
		for _, v := range []View{AcceptedView, OriginalView, RawView} {
			var b strings.Builder
			for _, s := range (Known{}).Segments(raw, v) {
				b.WriteString(raw[s.RawOff : s.RawOff+s.Len])
			}
			if b.String() != (Known{}).Render(raw, v) {
				t.Fatalf("%v: segments make %q", v, b.String())
			}
		}
		for _, s := range Suggestions(raw) {
			Apply(raw, (Known{}).Accept(raw, s))
			Apply(raw, (Known{}).Decide(raw, false, nil, s))
		}
		Apply(raw, (Known{}).Decide(raw, true, nil, Suggestion{End: len(raw)}))
		(Known{}).Annotations(raw)
	})
}

// FuzzDiff checks that a script makes the new text of the old one without cutting a character.
func FuzzDiff(f *testing.F) {
	for _, note := range realNotes(f) {
		f.Add(note, strings.ToUpper(note))
		f.Add(note, strings.ReplaceAll(note, "\n", "\r\n"))
	}
	f.Fuzz(func(t *testing.T, old, new string) {
		if !utf8.ValidString(old) || !utf8.ValidString(new) {
			if got := Apply(old, Diff(old, new)); got != new {
				t.Fatalf("old %q new %q makes %q", old, new, got)
			}
			return
		}
		if err := checkDiff(old, new); err != nil {
			t.Fatal(err)
		}
	})
}

// The laws over each alphabet, the fuzzer in the place of chance.
func FuzzLawsProse(f *testing.F)   { fuzzLaws(f, "prose") }
func FuzzLawsBraces(f *testing.F)  { fuzzLaws(f, "braces") }
func FuzzLawsHostile(f *testing.F) { fuzzLaws(f, "hostile") }

func fuzzLaws(f *testing.F, name string) {
	letters := newAlphabet(f, name)
	for seed := range uint64(32) {
		script := make([]byte, 64)
		rand.NewChaCha8([32]byte{byte(seed)}).Read(script)
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		g := letters.generator(rand.New(&scriptSource{script: script, rest: rand.NewPCG(1, 2)}))
		if err := checkLaws(g, &tally{}); err != nil {
			t.Fatal(err)
		}
	})
}

// scriptSource makes random numbers of the bytes of a script, so that a fuzzer can choose them, and of a fixed
// sequence after its end.
type scriptSource struct {
	script []byte
	rest   rand.Source
}

func (s *scriptSource) Uint64() uint64 {
	n := s.rest.Uint64()
	if len(s.script) == 0 {
		return n
	}
	b := s.script[0]
	s.script = s.script[1:]
	return n>>8 | uint64(b)<<56
}
