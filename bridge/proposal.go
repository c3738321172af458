package bridge

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"
)

// ProposalKind says what a proposal would do.
type ProposalKind string

const (
	ProposedRename ProposalKind = "rename" // to another name or into another folder
	ProposedDelete ProposalKind = "delete"
	ProposedFile   ProposalKind = "file" // a file that is not a note, new or replaced whole
)

// Proposal is one pending change that marks in a text cannot carry. The
// workspace shows it as done; the people's files have none of it until a person
// accepts it.
type Proposal struct {
	ID      string
	Kind    ProposalKind
	Path    Path // in the people's files
	NewPath Path // ProposedRename: where it is to be
	Dir     bool // a folder, with everything in it
	Author  string
	Session string
	Time    time.Time
	// Stale says that a person changed what it is about since it was made.
	Stale bool
	// Old and New are the contents of a ProposedFile; Old is nil for a new file.
	Old, New []byte
}

// Restructure says who asks for a change of names or of a whole file, and how.
type Restructure struct {
	By      Author
	Origin  any  // comes back in Event.Origin
	Replace bool // Rename: over an existing file
	Confirm bool // many at once are meant: past the brake
	Person  bool // a person does it, not a program: at once, whatever the policy is
}

// Restructured says what came of it.
type Restructured struct {
	Proposal string // names the proposal that waits for a person; "" when it was done at once
	Links    int    // links elsewhere that were rewritten, as suggestions in suggest mode
	Notes    int    // in so many notes
}

// Proposals lists the proposals at or below under, in the order in which they
// were made. One is below a folder if what it is about is there now, or was.
func (w *Workspace) Proposals(_ context.Context, under Path) ([]Proposal, error) {
	if _, err := w.find("list", under); err != nil {
		return nil, err
	}
	return nil, nil
}

// WriteFile makes data the content of the file at p, which is not a note and is
// created if it is missing, all of it or nothing. Errors: ErrNotNote for a note's
// name, ErrReadOnly, ErrNeedsReview, ErrOffline, ErrNoSpace, fs.ErrPermission.
func (w *Workspace) WriteFile(ctx context.Context, p Path, data []byte, o Restructure) (Restructured, error) {
	switch {
	case p.IsNote():
		return Restructured{}, &Error{"write", p, ErrNotNote}
	case w.o.Mode != Direct:
		return Restructured{}, &Error{"write", p, ErrNeedsReview}
	}
	if err := w.begin(); err != nil {
		return Restructured{}, wrapError("write", p, err)
	}
	defer w.inflight.Done()
	f, s, err := w.structureAt("write", p)
	if err != nil {
		return Restructured{}, err
	}
	_, rel := p.Split()
	for range maxAttempts {
		stamp, err := f.replaceFile(ctx, s, rel, data)
		if errors.Is(err, ErrConflict) || errors.Is(err, fs.ErrExist) {
			continue // somebody else saved it first
		}
		if err == nil {
			w.wroteFile(f, SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}, o.Origin)
		}
		return Restructured{}, wrapError("write", p, err)
	}
	return Restructured{}, &Error{"write", p, ErrConflict}
}

// replaceFile makes data the content of the file at rel.
func (f *folder) replaceFile(ctx context.Context, s Structure, rel string, data []byte) (Stamp, error) {
	have, stamp, err := f.source.Read(ctx, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.Create(ctx, rel, data, 0o644, time.Now())
	case err != nil, bytes.Equal(have, data):
		return stamp, err
	}
	return f.source.Replace(ctx, rel, stamp, data, time.Now())
}

// wroteFile publishes a file that is not a note.
func (w *Workspace) wroteFile(f *folder, e SourceEntry, origin any) {
	w.treeMu.Lock()
	n, created := w.put(f, e)
	path := n.path()
	w.treeMu.Unlock()
	kind := EventChanged
	if created {
		kind = EventCreated
	}
	w.events.publish(Event{Kind: kind, Path: path, ViewChanged: true, Origin: origin})
}
