package model

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"
)

type ProposalKind string

const (
	ProposedRename ProposalKind = "rename" // a change of the name or the folder
	ProposedDelete ProposalKind = "delete"
	ProposedFile   ProposalKind = "file" // a file that is not a note, new or replaced whole
	// RenameDone is a rename that needed no decision, was accepted, or was rejected or withdrawn (then its paths are
	// exchanged). It is not a proposal, but the Store keeps it until its links are rewritten.
	RenameDone ProposalKind = "renamed"
	// DecisionStarted is a decision on several proposals, or an undo of several journal entries. It is not a proposal,
	// but the Store keeps it until all of them are decided or undone. The field Decision has the IDs of the items,
	// except for an undo of a whole batch. The field Stale is set if the decision also accepts stale proposals.
	DecisionStarted ProposalKind = "decision"
)

// Proposal is a pending change that marks in a text cannot express. The workspace shows the node as if the proposal
// were accepted. The source is changed only when a user accepts the proposal.
type Proposal struct {
	ID      string
	Kind    ProposalKind
	Path    Path // path in the source
	NewPath Path // target of a ProposedRename
	Dir     bool // a folder, with all its contents
	Author  string
	Session string
	Time    time.Time
	Order   uint64 // its place among the proposals and decisions of the workspace; see Sequence
	// Stale is set if a user has changed the node since the proposal was made.
	Stale bool
	// Taken is set if a ProposedRename can be neither shown nor accepted, because the new name is taken or its folder
	// no longer exists.
	Taken bool
	// Old and New are the contents of a ProposedFile; Old is nil for a new file.
	Old, New []byte
}

// ProposalRecord is a proposal in a Store. Its paths are paths in the source.
type ProposalRecord struct {
	ID      string       `json:"id"`
	Kind    ProposalKind `json:"kind"`
	Rel     string       `json:"rel,omitempty"` // source path; "" for a new file
	Dir     bool         `json:"dir,omitempty"`
	ToDir   string       `json:"toDir,omitempty"` // target folder, except for a deletion
	Name    string       `json:"name,omitempty"`  // target name
	Made    []string     `json:"made,omitempty"`  // folders that agents created, on the way to both paths
	Author  string       `json:"author,omitempty"`
	Session string       `json:"session,omitempty"`
	Time    time.Time    `json:"time"`
	Order   uint64       `json:"order,omitempty"` // see Proposal.Order
	Stale   bool         `json:"stale,omitempty"`
	Blocked bool         `json:"blocked,omitempty"` // see Proposal.Taken; the node is shown at its source path
	// Stamp and Sum identify the state for which the proposal was made.
	Stamp Stamp      `json:"stamp,omitzero"`
	Sum   ContentSum `json:"sum,omitzero"`
	// Old and New are the contents of a ProposedFile. Old is nil for a new file. After an accepted ProposedDelete, Old
	// is the removed content.
	Old []byte `json:"old"`
	New []byte `json:"new,omitempty"`
	// Link is the target of the symbolic link that an accepted ProposedDelete removed.
	Link string `json:"link,omitempty"`
	// Doc is the document of the note. It is "" for other nodes, for empty notes, and for a source with a server; Stamp
	// then identifies the file or folder.
	Doc DocID `json:"doc,omitempty"`
	// PendingRelinks are the links that a rename has yet to rewrite. Links in front matter, which cannot have
	// suggestions, and links in pending text wait until a ProposedRename is accepted.
	PendingRelinks []PendingRelink `json:"owes,omitempty"`
	// CanvasNodes are nodes of canvases that had the new name of a rename before it was accepted. An undo leaves them.
	CanvasNodes []CanvasNodes `json:"canvasNodes,omitempty"`
	// Linking is set if the rename may have broken links that are not yet rewritten.
	Linking bool `json:"linking,omitempty"`
	// Decision is the decision that turned a proposal into this RenameDone. For a DecisionStarted it is the decision in
	// progress.
	Decision *Decision `json:"decision,omitempty"`
	// LostRel is the path that the node lost by a RenameDone, as it was before all decisions of the same batch. ""
	// means From().
	LostRel string `json:"lostRel,omitempty"`
	// PendingDecision is set while the source is being changed. After a crash the next process determines whether the
	// change was made.
	PendingDecision *Decision `json:"accepting,omitempty"`
	// DisplacedName is the node's earlier name in the same folder, if the node was renamed to free that name for
	// another node. When the name is free again, the node gets it back if the proposal is still pending.
	DisplacedName string `json:"aside,omitempty"`
	// MovingTo is the target of a move in progress, which frees or restores the node's name.
	MovingTo string `json:"via,omitempty"`
}

// SameAs reports whether two records have the same ID, paths, stamp, flags and pending links. It does not compare other
// fields, such as contents.
func (r *ProposalRecord) SameAs(other *ProposalRecord) bool {
	return r.ID == other.ID && r.Stamp == other.Stamp && r.Rel == other.Rel && r.ToDir == other.ToDir && r.Name == other.Name &&
		r.Stale == other.Stale && r.Blocked == other.Blocked && r.DisplacedName == other.DisplacedName && r.Linking == other.Linking &&
		slices.EqualFunc(r.PendingRelinks, other.PendingRelinks, PendingRelink.isSame) && slices.Equal(r.Made, other.Made)
}

func (r *ProposalRecord) To() string { return path.Join(r.ToDir, r.Name) }

// From returns the path that the node had before its name was freed for another node.
func (r *ProposalRecord) From() string {
	if r.DisplacedName == "" {
		return r.Rel
	}
	return path.Join(path.Dir(r.Rel), r.DisplacedName)
}

// MovedToTempName records that the node was moved to MovingTo: to a temporary name, or back to its own name.
func (r *ProposalRecord) MovedToTempName() {
	r.DisplacedName = cmp.Or(r.DisplacedName, path.Base(r.Rel))
	if r.Rel = r.MovingTo; path.Base(r.Rel) == r.DisplacedName {
		r.DisplacedName = ""
	}
}

// Overlaps reports whether a path of one record equals, contains or is contained in a path of the other.
func (r *ProposalRecord) Overlaps(other *ProposalRecord) bool {
	for _, p := range []string{r.From(), r.Rel, r.To()} {
		for _, q := range []string{other.From(), other.Rel, other.To()} {
			if p != "" && q != "" && (Path(p).Contains(Path(q)) || Path(q).Contains(Path(p))) {
				return true
			}
		}
	}
	return false
}

func (r ProposalRecord) Decided(d Decision, now time.Time) Record {
	item := DecidedItem{ID: r.ID, Kind: string(r.Kind), Old: r.From(), Author: r.Author, Session: r.Session}
	if r.Kind == ProposedRename {
		item.New = r.To()
	}
	d.Items, d.Proposal = []DecidedItem{item}, &r
	return Record{Time: now, Decision: &d}
}

func (r *ProposalRecord) Rebase(oldRel, newRel string) {
	for _, at := range []*string{&r.Rel, &r.ToDir, &r.MovingTo} {
		*at = Rebased(*at, oldRel, newRel)
	}
	r.RebaseOthers(oldRel, newRel)
}

// RebaseOthers applies a rename to the paths of the record's links and folders.
func (r *ProposalRecord) RebaseOthers(oldRel, newRel string) {
	r.PendingRelinks = slices.Clone(r.PendingRelinks)
	for i := range r.PendingRelinks {
		r.PendingRelinks[i].Rel = Rebased(r.PendingRelinks[i].Rel, oldRel, newRel)
	}
	r.CanvasNodes = slices.Clone(r.CanvasNodes)
	for i := range r.CanvasNodes {
		r.CanvasNodes[i].Rel = Rebased(r.CanvasNodes[i].Rel, oldRel, newRel)
	}
	r.Made = slices.Clone(r.Made)
	for i := range r.Made {
		r.Made[i] = Rebased(r.Made[i], oldRel, newRel)
	}
}

type ProposalChange struct {
	Upserted []ProposalRecord // new proposals, or replacements of proposals with the same IDs
	Removed  []string         // IDs of proposals that are not pending any more
	Journal  []Record         // journal entries without a document
}

// PendingRelink has the links of one note that a rename has yet to rewrite.
type PendingRelink struct {
	Rel        string                `json:"rel"` // path of the note in the source
	OldTargets map[string]LinkTarget `json:"led"` // old targets of the links, by linkpath
}

type CanvasNodes struct {
	Rel      string   `json:"rel"`                // path of the canvas in the source
	Proposed bool     `json:"proposed,omitempty"` // in the proposed content of the canvas
	IDs      []string `json:"ids"`
}

// LinkTarget is the target that a link had before the rename, in the shown tree.
type LinkTarget struct {
	InRenamed bool   `json:"in,omitempty"` // the target is the renamed node or is below it; Rel is then relative to that node
	Rel       string `json:"rel,omitempty"`
}

func (o PendingRelink) isSame(other PendingRelink) bool {
	return o.Rel == other.Rel && maps.Equal(o.OldTargets, other.OldTargets)
}

func (r *ProposalRecord) AddPendingRelinks(more []PendingRelink) {
	r.PendingRelinks = slices.Clone(r.PendingRelinks)
	for _, o := range more {
		i := slices.IndexFunc(r.PendingRelinks, func(old PendingRelink) bool { return old.Rel == o.Rel })
		if i < 0 {
			r.PendingRelinks = append(r.PendingRelinks, o)
			continue
		}
		oldTargets := maps.Clone(r.PendingRelinks[i].OldTargets)
		maps.Copy(oldTargets, o.OldTargets)
		r.PendingRelinks[i].OldTargets = oldTargets
	}
	r.Linking = r.Linking || len(more) > 0
}
