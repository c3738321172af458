package model

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"
)

// ProposalKind says what a proposal would do.
type ProposalKind string

const (
	ProposedRename ProposalKind = "rename" // to another name or into another folder
	ProposedDelete ProposalKind = "delete"
	ProposedFile   ProposalKind = "file" // a file that is not a note, new or replaced whole
	// RenameDone is a rename that waits for nobody, or an accepted one. It is no proposal: the
	// Store keeps it as long as it owes links.
	RenameDone ProposalKind = "renamed"
)

// Proposal is one pending change that marks in a text cannot carry. The
// workspace shows it as done; the people's files have none of it until a user
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
	// Stale says that a user changed what it is about since it was made.
	Stale bool
	// Taken says that a ProposedRename cannot be shown, nor be accepted: something else has the new name, or its folder is gone.
	Taken bool
	// Old and New are the contents of a ProposedFile; Old is nil for a new file.
	Old, New []byte
}

// ProposalRecord is a proposal as a Store keeps it. Paths are the source's.
type ProposalRecord struct {
	ID      string       `json:"id"`
	Kind    ProposalKind `json:"kind"`
	Rel     string       `json:"rel,omitempty"` // where it is; "" for a file that is not there yet
	Dir     bool         `json:"dir,omitempty"`
	ToDir   string       `json:"toDir,omitempty"` // the folder it is to be in, unless it is to go
	Name    string       `json:"name,omitempty"`  // its name there
	Made    []string     `json:"made,omitempty"`  // folders that agents made: where it is, and where it is to be
	Author  string       `json:"author,omitempty"`
	Session string       `json:"session,omitempty"`
	Time    time.Time    `json:"time"`
	Stale   bool         `json:"stale,omitempty"`
	Blocked bool         `json:"blocked,omitempty"` // see Proposal.Taken; what it is about is shown where it is
	// Stamp and Sum name the state that the proposal was made about.
	Stamp Stamp      `json:"stamp,omitzero"`
	Sum   ContentSum `json:"sum,omitzero"`
	// Old and New are the contents of a ProposedFile; Old is nil for a new file.
	// Old is also what an accepted ProposedDelete took away.
	Old []byte `json:"old"`
	New []byte `json:"new,omitempty"`
	// Link is what the symbolic link said that an accepted ProposedDelete took away.
	Link string `json:"link,omitempty"`
	// Doc is the document of the note that an accepted ProposedDelete took away.
	Doc DocID `json:"doc,omitempty"`
	// Owes are the links that a rename has yet to rewrite. Those in front matter, which takes
	// no suggestions, wait until a ProposedRename is accepted.
	Owes []OwedLinks `json:"owes,omitempty"`
	// Linking says that other links than those may be in Owes.
	Linking bool `json:"linking,omitempty"`
	// Accepted is the decision that made a RenameDone of a proposal.
	Accepted *Decision `json:"accepted,omitempty"`
	// Accepting is set while the source is being changed: a crash leaves it, and
	// the next process finds out whether that was done.
	Accepting *Decision `json:"accepting,omitempty"`
	// Aside is the name that it had before it was moved out of another one's way, in the same
	// folder. It gets that back if it still waits when the name is free.
	Aside string `json:"aside,omitempty"`
	// Via is set while a file is moved aside, or back: where to.
	Via string `json:"via,omitempty"`
}

// SameAs says whether other tells the same. The contents of a proposal never
// change after it was made; another one takes its place.
func (r *ProposalRecord) SameAs(other *ProposalRecord) bool {
	return r.ID == other.ID && r.Rel == other.Rel && r.ToDir == other.ToDir && r.Name == other.Name &&
		r.Stale == other.Stale && r.Blocked == other.Blocked && r.Aside == other.Aside && r.Linking == other.Linking &&
		slices.EqualFunc(r.Owes, other.Owes, OwedLinks.isSame) && slices.Equal(r.Made, other.Made)
}

// To is where a rename is to lead, in the source.
func (r *ProposalRecord) To() string { return path.Join(r.ToDir, r.Name) }

// From is where it was before it was moved aside, if it was.
func (r *ProposalRecord) From() string {
	if r.Aside == "" {
		return r.Rel
	}
	return path.Join(path.Dir(r.Rel), r.Aside)
}

// MovedVia notes that it was moved aside, or back.
func (r *ProposalRecord) MovedVia() {
	r.Aside = cmp.Or(r.Aside, path.Base(r.Rel))
	if r.Rel = r.Via; path.Base(r.Rel) == r.Aside {
		r.Aside = ""
	}
}

// Meets says whether the two are about the same name, or one about what the other is in.
func (r *ProposalRecord) Meets(other *ProposalRecord) bool {
	for _, p := range []string{r.From(), r.Rel, r.To()} {
		for _, q := range []string{other.From(), other.Rel, other.To()} {
			if p != "" && q != "" && (Path(p).Contains(Path(q)) || Path(q).Contains(Path(p))) {
				return true
			}
		}
	}
	return false
}

// Decided is the journal's record of a decision on the proposal.
func (r ProposalRecord) Decided(d Decision, now time.Time) Record {
	item := Decided{ID: r.ID, Kind: string(r.Kind), Old: r.From(), Author: r.Author, Session: r.Session}
	if r.Kind == ProposedRename {
		item.New = r.To()
	}
	d.Items, d.Proposal = []Decided{item}, &r
	return Record{Time: now, Decision: &d}
}

func (r *ProposalRecord) Rebase(oldRel, newRel string) {
	for _, at := range []*string{&r.Rel, &r.ToDir, &r.Via} {
		*at = Rebased(*at, oldRel, newRel)
	}
	r.RebaseOthers(oldRel, newRel)
}

// RebaseOthers lets what else it names follow a rename.
func (r *ProposalRecord) RebaseOthers(oldRel, newRel string) {
	r.Owes = slices.Clone(r.Owes)
	for i := range r.Owes {
		if o := &r.Owes[i]; o.Folder == "" {
			o.Rel = Rebased(o.Rel, oldRel, newRel)
		}
	}
	r.Made = slices.Clone(r.Made)
	for i := range r.Made {
		r.Made[i] = Rebased(r.Made[i], oldRel, newRel)
	}
}

// ProposalChange is what Propose does.
type ProposalChange struct {
	Put     []ProposalRecord // new ones, or instead of those with the same IDs
	Drop    []string         // IDs of those that wait no more
	Journal []Record         // journal entries that belong to no document
}

// OwedLinks are links of one note that a rename has yet to rewrite.
type OwedLinks struct {
	Folder string           `json:"folder,omitempty"` // that the note is in; "" is that of the rename
	Rel    string           `json:"rel"`              // the note, in the source
	Led    map[string]LedTo `json:"led"`              // by linkpath
}

// LedTo is where a link led before the rename, as it was shown.
type LedTo struct {
	In     bool   `json:"in,omitempty"`     // to what was renamed, or into it: Rel is from there
	Folder string `json:"folder,omitempty"` // "" is that of the rename
	Rel    string `json:"rel,omitempty"`
}

func (o OwedLinks) isSame(other OwedLinks) bool {
	return o.Folder == other.Folder && o.Rel == other.Rel && maps.Equal(o.Led, other.Led)
}

// Owe adds links to those that the rename owes.
func (r *ProposalRecord) Owe(more []OwedLinks) {
	r.Owes = slices.Clone(r.Owes)
	for _, o := range more {
		i := slices.IndexFunc(r.Owes, func(had OwedLinks) bool { return had.Folder == o.Folder && had.Rel == o.Rel })
		if i < 0 {
			r.Owes = append(r.Owes, o)
			continue
		}
		led := maps.Clone(r.Owes[i].Led)
		maps.Copy(led, o.Led)
		r.Owes[i].Led = led
	}
	r.Linking = r.Linking || len(more) > 0
}
