package bridge

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
)

// Suggestions lists what waits for a person at or below under, sorted by path
// and place. Author, session and time come from the store, or from the mark
// itself where it carries them. The first call reads every note.
func (w *Workspace) Suggestions(ctx context.Context, under model.Path) ([]model.Suggestion, error) {
	if _, err := w.find("list", under); err != nil {
		return nil, err
	}
	if err := w.followPending.Current(ctx); err != nil {
		return nil, err
	}
	return within(w, w.pending.Below(under), func(s model.Suggestion) model.Path { return s.Path }), nil
}

// suggestionsOf lists the suggestions of the note at p in the state v.
func (w *Workspace) suggestionsOf(ctx context.Context, p model.Path, v *model.Version) ([]model.Suggestion, error) {
	if v.ReadOnly() || !attribution.MarksIn(v.Marked()) {
		return nil, nil
	}
	n, err := w.findNote("open", p)
	if err != nil {
		return nil, err
	}
	return n.Suggestions(ctx, p)
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
	Sync *model.SyncStatus `json:"sync,omitempty"`
}

// Status counts what the workspace holds.
func (w *Workspace) Status(ctx context.Context) (Status, error) {
	st := Status{
		Mode: w.o.Mode.String(), View: w.o.View.String(), ReadOnly: w.o.ReadOnly, Mountpoint: w.Mountpoint(),
	}
	for _, f := range w.folders() {
		fs := FolderStatus{Offline: f.offline.Load()}
		if s, ok := f.source.(model.Syncer); ok {
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
			list, err := w.Suggestions(ctx, model.Path(fs.Name))
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
	case model.KindNote:
		s.Notes++
	case model.KindFile:
		s.Files++
	default:
		return
	}
	if n.modTime.After(s.Changed) {
		s.Changed = n.modTime
	}
}
