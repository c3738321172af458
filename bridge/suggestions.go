package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Suggestion is one pending change of a note, and who made it.
type Suggestion struct {
	diffwrap.Suggestion
	ID      string // the same while the suggestion's own text is, and nobody else's ever
	Path    Path
	Session string
	// Proposal is the ID of the pending rename that the suggestion belongs to: it
	// rewrites a link.
	Proposal string

	anchor string // which of those with the same text it is
}

// Suggestions lists what waits for a person at or below under, sorted by path
// and place. Author, session and time come from the store, or from the mark
// itself where it carries them. The first call reads every note.
func (w *Workspace) Suggestions(ctx context.Context, under Path) ([]Suggestion, error) {
	if _, err := w.find("list", under); err != nil {
		return nil, err
	}
	if err := w.followPending.current(ctx); err != nil {
		return nil, err
	}
	return within(w, w.pending.below(under), func(s Suggestion) Path { return s.Path }), nil
}

// suggestionIndex is what a follower keeps current for Suggestions: the notes
// that have any.
type suggestionIndex struct {
	ws *Workspace

	mu    sync.Mutex // protects the following
	notes map[Path][]Suggestion
}

func (x *suggestionIndex) add(Path) {}

func (x *suggestionIndex) set(ctx context.Context, p Path, v *Version) error {
	list, err := x.ws.suggestionsOf(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(list) == 0 {
		delete(x.notes, p)
	} else {
		x.notes[p] = list
	}
	return nil
}

func (x *suggestionIndex) remove(p Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for q := range x.notes {
		if p.Contains(q) {
			delete(x.notes, q)
		}
	}
}

func (x *suggestionIndex) rename(oldPath, newPath Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := make(map[Path][]Suggestion)
	for q, list := range x.notes {
		if !oldPath.Contains(q) {
			continue
		}
		to := newPath + q[len(oldPath):]
		moved[to] = renamed(list, to)
		delete(x.notes, q)
	}
	maps.Copy(x.notes, moved)
}

// renamed are the suggestions of a note that is at p now.
func renamed(list []Suggestion, p Path) []Suggestion {
	out := make([]Suggestion, len(list))
	for i, s := range list {
		s.Path = p
		s.ID = s.id()
		out[i] = s
	}
	return out
}

func (x *suggestionIndex) below(under Path) []Suggestion {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []Suggestion
	for _, p := range slices.Sorted(maps.Keys(x.notes)) {
		if under.Contains(p) {
			all = append(all, x.notes[p]...)
		}
	}
	return all
}

// suggestionsOf lists the suggestions of the note at p in the state v.
func (w *Workspace) suggestionsOf(ctx context.Context, p Path, v *Version) ([]Suggestion, error) {
	if v.readOnly || !hasMarks(v.raw) {
		return nil, nil
	}
	n, err := w.note("open", p)
	if err != nil {
		return nil, err
	}
	n.lock()
	defer n.write.Unlock()
	cur, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.suggestions(p, cur)
}

// suggestions lists the suggestions of the current version. The write lock is held.
func (n *note) suggestions(p Path, cur *Version) ([]Suggestion, error) {
	marks := diffwrap.Suggestions(cur.raw)
	who, err := n.attribution(cur)
	if err != nil {
		return nil, wrapError("open", p, err)
	}
	list := make([]Suggestion, len(marks))
	cursor := utf16Cursor{text: cur.raw}
	for i, s := range marks {
		from := cursor.posAt(s.Start)
		list[i] = Suggestion{Suggestion: s, Path: p, anchor: who.anchor(from)}
		list[i].ID = list[i].id()
		if rec := who.author(from, cursor.posAt(s.End)); rec != nil && s.Author == "" {
			list[i].Author, list[i].Session, list[i].Time = rec.Author, rec.Session, rec.Time
			list[i].Proposal = rec.Proposal
		}
	}
	list = append(list, n.comments(p, cur, who)...)
	slices.SortStableFunc(list, func(a, b Suggestion) int { return a.Start - b.Start })
	return list, nil
}

// id names a suggestion by its text, and among equal ones by the identity of its
// first character: so it keeps its name while text around it changes, and once it
// is decided no other gets that name.
func (s *Suggestion) id() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s", s.Path, s.Kind, s.Old, s.New, s.anchor))
	return hex.EncodeToString(sum[:5])
}

// attribution knows who inserted which characters of a note.
type attribution struct {
	runs    []ycrdt.Run
	starts  []int // UTF-16 positions at which the runs begin
	records []Record
}

func attribute(runs []ycrdt.Run, records []Record) attribution {
	a := attribution{runs: runs, starts: make([]int, len(runs)), records: records}
	pos := 0
	for i, r := range runs {
		a.starts[i] = pos
		pos += r.Len
	}
	return a
}

// attribution reads what the store knows of the current version: nothing if the
// note was never written through relayfs. The write lock is held.
func (n *note) attribution(cur *Version) (attribution, error) {
	if n.owing {
		_ = n.prepare(n.where(), cur.raw) // what is held is known all the same
	}
	if n.id == "" {
		return attribution{}, nil
	}
	if n.live == nil && n.held == nil && n.known.of(n.doc, n.kept) {
		return attribute(n.text.Runs(), n.known.records), nil
	}
	h, err := n.where().store.Load(n.id)
	if n.held != nil && err == nil {
		return attribute(n.text.Runs(), append(h.Records, n.held...)), nil
	}
	if err != nil || len(h.Records) == 0 {
		return attribution{}, err
	}
	if n.live == nil && n.doc != nil {
		n.known = knownRecords{doc: n.doc, upTo: n.kept}
		n.known.add(h.Records)
	}
	runs := cur.runs
	if n.live == nil {
		runs, err = n.identify(cur.raw, h)
	} else {
		h.Records = withPutBack(h.Records)
	}
	return attribute(runs, h.Records), err
}

// identify names the characters of raw by their identity in the document, from
// memory or else from the store. What the store does not know yet gets
// identities of nobody's.
func (n *note) identify(raw string, h History) ([]ycrdt.Run, error) {
	if n.doc != nil {
		return n.text.Runs(), nil
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, err
	}
	text := doc.Text(contentsName)
	if have := text.String(); have != raw {
		doc.Transact(nil, func(txn *ycrdt.Txn) { applyEdits(txn, text, have, diffwrap.Diff(have, raw)) })
	}
	return text.Runs(), nil
}

// anchor names the character at the UTF-16 position pos. A note that was never
// written through relayfs has no document yet. The first record of its document
// will insert the whole text, in order; so the place in it is a name that stays.
func (a attribution) anchor(pos int) string {
	i := a.run(pos)
	if i == len(a.runs) {
		return strconv.Itoa(pos)
	}
	id := a.runs[i].ID
	clock := id.Clock + uint64(pos-a.starts[i])
	if len(a.records) > 0 && a.records[0].isFirstText(id.Client, clock) {
		return strconv.FormatUint(clock, 10)
	}
	return fmt.Sprintf("%d:%d", id.Client, clock)
}

// isFirstText says whether the record took over the text of a note that had no
// document, with the character of that identity.
func (r *Record) isFirstText(client ycrdt.ClientID, clock uint64) bool {
	return r.Author == "" && r.Proposal == "" && !r.Ahead && r.Clock == 0 && r.Client == uint64(client) && clock < r.Len
}

// run is the index of the run with the UTF-16 position pos, len(a.runs) if there is none.
func (a attribution) run(pos int) int {
	i, found := slices.BinarySearch(a.starts, pos)
	if !found && i > 0 {
		i--
	}
	if i < len(a.runs) && pos >= a.starts[i]+a.runs[i].Len {
		return len(a.runs)
	}
	return i
}

// author is the record that inserted most recently something between the
// UTF-16 positions from and to, nil if none is known.
func (a attribution) author(from, to int) *Record {
	var best *Record
	for i := a.run(from); i < len(a.runs) && a.starts[i] < to; i++ {
		r := a.runs[i]
		start, end := max(a.starts[i], from), min(a.starts[i]+r.Len, to)
		if start < end {
			first := r.ID.Clock + uint64(start-a.starts[i])
			best = later(best, a.recordOf(r.ID.Client, first, first+uint64(end-start)))
		}
	}
	return best
}

func (a attribution) recordOf(client ycrdt.ClientID, from, to uint64) *Record {
	var best *Record
	for i := range a.records {
		rec := &a.records[i]
		if (rec.Author != "" || rec.Proposal != "") && rec.Client == uint64(client) && rec.Clock < to && from < rec.Clock+rec.Len {
			best = later(best, rec)
		}
	}
	return best
}

func later(a, b *Record) *Record {
	if a == nil || b != nil && b.Time.After(a.Time) {
		return b
	}
	return a
}

// Status summarises a workspace.
type Status struct {
	Folders     []FolderStatus `json:"folders"`
	Suggestions int            `json:"suggestions"`
	Proposals   int            `json:"proposals"`
	Mountpoint  string         `json:"mountpoint,omitempty"`
	Mode        string         `json:"mode"`
	View        string         `json:"view"`
	ReadOnly    bool           `json:"readOnly"`
}

// FolderStatus is one Folder's part of a Status.
type FolderStatus struct {
	Name        string    `json:"name"`
	Notes       int       `json:"notes"`
	Files       int       `json:"files"`
	Suggestions int       `json:"suggestions"`
	Proposals   int       `json:"proposals"`
	Offline     bool      `json:"offline"`
	Changed     time.Time `json:"changed,omitzero"` // newest modification time known
	// Sync is set for a Folder that is in step with a server.
	Sync *SyncStatus `json:"sync,omitempty"`
}

// Status counts what the workspace holds.
func (w *Workspace) Status(ctx context.Context) (Status, error) {
	st := Status{
		Mode: w.o.Mode.String(), View: w.o.View.String(), ReadOnly: w.o.ReadOnly, Mountpoint: w.Mountpoint(),
	}
	for _, f := range w.folders() {
		fs := FolderStatus{Offline: f.offline.Load()}
		if s, ok := f.source.(Syncer); ok {
			s.Attempted(ctx)
			sync := s.SyncStatus()
			fs.Sync = &sync
		}
		w.treeMu.RLock()
		fs.Name = f.node.name
		f.node.walk(func(n *node) { fs.count(n) })
		fs.Proposals = len(f.proposals)
		w.treeMu.RUnlock()
		if !fs.Offline {
			list, err := w.Suggestions(ctx, Path(fs.Name))
			if err != nil {
				return st, err
			}
			fs.Suggestions = len(list)
		}
		st.Folders = append(st.Folders, fs)
		st.Suggestions += fs.Suggestions
		st.Proposals += fs.Proposals
	}
	return st, nil
}

func (s *FolderStatus) count(n *node) {
	switch n.kind {
	case KindNote:
		s.Notes++
	case KindFile:
		s.Files++
	default:
		return
	}
	if n.modTime.After(s.Changed) {
		s.Changed = n.modTime
	}
}
