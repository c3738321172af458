package diffwrap

import "time"

// Options are the choices a Put leaves to its caller; the zero value is the recommended default.
type Options struct {
	FrontMatter FrontMatterPolicy
	Dialect     Dialect
	Author      string    // who writes: attributed when the dialect can; marks of this author are the writer's own
	Now         time.Time // the time a dialect attributes; zero for none
}

// Result is what a Put came to.
type Result struct {
	Edits       []Edit             // from the old raw text to the new one; nil when nothing changes
	FrontMatter *FrontMatterChange // nil when the front matter did not change
	Warnings    []string           // sentences for the writer; the edits are valid all the same
}

// Put is Options.Put with zero Options.
func Put(raw, accepted string) ([]Edit, error) {
	r, err := Options{}.Put(raw, accepted)
	return r.Edits, err
}

// Put returns the edits that turn raw into a text whose accepted view is accepted and whose original view is raw's.
func (o Options) Put(raw, accepted string) (Result, error) {
	old := Accepted(raw)
	if old == accepted {
		return Result{}, nil
	}
	if old != raw {
		return Result{}, &RefusedError{Line: 1, Literal: raw, Err: ErrAmbiguous, advice: "accept or reject what is pending first"}
	}
	var edits []Edit
	for _, e := range Diff(raw, accepted) {
		if e.Len > 0 {
			edits = append(edits, Edit{Off: e.Off, New: "{--"}, Edit{Off: e.Off + e.Len, New: "--}"})
		}
		if e.New != "" {
			edits = append(edits, Edit{Off: e.Off + e.Len, New: "{++" + e.New + "++}"})
		}
	}
	return Result{Edits: edits}, nil
}
