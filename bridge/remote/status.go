package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge"
)

// Progress says how many of the folder's notes are here.
type Progress struct{ Fetched, Notes int }

// progressed tells who asked for it how far the fetching is.
func (s *Source) progressed() {
	if s.o.Progress != nil {
		s.o.Progress(s.sync.progress())
	}
}

func (y *syncer) progress() Progress {
	y.mu.Lock()
	defer y.mu.Unlock()
	p := Progress{Notes: len(y.notes)}
	for _, id := range y.notes {
		if y.kept[id] {
			p.Fetched++
		}
	}
	return p
}

// attemptPatience is how long Attempted waits.
const attemptPatience = 5 * time.Second

// Attempted waits until a first attempt has shown whether the server can be
// reached.
func (s *Source) Attempted(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, attemptPatience)
	defer cancel()
	select {
	case <-s.sync.tried:
	case <-wait.Done():
	case <-s.ctx.Done():
	}
}

// Acknowledged waits until the server has all of the note at rel.
func (s *Source) Acknowledged(ctx context.Context, rel string) bool {
	e, err := s.find("sync", rel)
	if err != nil {
		return false
	}
	wait, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	y := s.sync
	for {
		y.mu.Lock()
		pending, online, acked := y.pending[bridge.DocID(e.ID)] > 0, y.online, y.acked
		y.mu.Unlock()
		if !pending || !online || s.ReadOnly() {
			return !pending
		}
		select {
		case <-acked:
		case <-wait.Done():
			return false
		case <-s.ctx.Done():
			return false
		}
	}
}

// SyncStatus says how far the folder and its server are in step.
func (s *Source) SyncStatus() bridge.SyncStatus {
	p := s.sync.progress()
	s.mu.Lock()
	readOnly, hidden := s.readOnly, s.hidden
	s.mu.Unlock()
	isNew := s.folderIsNew()
	y := s.sync
	y.mu.Lock()
	defer y.mu.Unlock()
	st := bridge.SyncStatus{
		Server: s.o.Address.String(), Connected: y.online, Unsent: len(y.pending),
		Unfetched: p.Notes - p.Fetched, ReadOnly: readOnly != "", Hidden: hidden, Synced: y.synced,
	}
	switch {
	case !y.online && y.cause != nil:
		st.LastError = s.o.Address.Explain(y.cause)
	case readOnly != "":
		st.LastError = s.lockedReason(readOnly)
	case y.problem != nil:
		st.LastError = s.o.Address.Explain(y.problem)
	case y.online && p.Notes == 0 && isNew:
		st.LastError = fmt.Sprintf("%s has nothing under the folder id %q; if that is not a new folder, check --folder NAME=ID", s.o.Address, s.o.Folder)
	}
	return st
}

// folderIsNew says that nobody has put anything into the folder's document.
func (s *Source) folderIsNew() bool {
	empty, err := s.folder.isEmpty()
	return err == nil && empty
}
