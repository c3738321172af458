package remote

import (
	"context"
	"fmt"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
)

// ReadOnlyErr returns the reason why the server refuses changes, with the next step. It returns nil if the server
// accepts changes or has not answered yet.
func (s *Source) ReadOnlyErr() error {
	if locked := s.set.WriteAccess.ReadOnlyErr(); locked != nil {
		return locked
	}
	return nil
}

func (s *Source) Attempted(ctx context.Context) { s.schedule.Attempted(ctx, schedule.AttemptTimeout) }

func (s *Source) Acknowledged(ctx context.Context, rel string) bool {
	e, err := s.listing.Find("sync", rel)
	return err == nil && s.schedule.AwaitAcknowledged(ctx, model.DocID(e.ID))
}

func (s *Source) Opened(rel string) {
	e, err := s.listing.Find("open", rel)
	if err != nil {
		return
	}
	if _, ok := replica.FormatOf(e.Type); ok {
		s.schedule.Opened(s.set.Document(model.DocID(e.ID)))
	}
}

func (s *Source) Problems() []model.Problem { return s.problems.All() }

func (s *Source) SyncStatus() model.SyncStatus {
	// A new note passes through three states: its content is unsent; it is a draft without an entry; its entry in the
	// folder's document is unsent. Because the states are read in this order, the note is counted at least once.
	before, unentered := s.schedule.State().Unsent, s.drafts.NotEntered()
	state, locked, problems := s.schedule.State(), s.set.WriteAccess.ReadOnlyErr(), s.problems.All()
	st := model.SyncStatus{
		Server: s.o.Address.String(), Connected: state.Connected, Unsent: max(before, state.Unsent) + unentered,
		Unfetched: state.Notes - state.Fetched, Queued: state.Queued, ReadOnly: locked != nil, Hidden: s.listing.HiddenPaths(), Synced: state.Synced,
		Compared: state.Compared, Uncompared: state.Uncompared,
	}
	if err := s.server.Warnings(); err != nil {
		st.Warnings = append(st.Warnings, s.o.Address.Explain(err))
	}
	if state.Connected {
		st.SilentSince = s.set.Silent()
	}
	connection := slices.IndexFunc(problems, func(p model.Problem) bool { return p.About == model.AboutConnection })
	switch {
	case connection >= 0:
		st.LastError = problems[connection].Text
	case locked != nil:
		st.LastError = locked.Reason
	case len(problems) > 0:
		st.LastError = problems[0].Text
	case state.Connected && state.Notes == 0:
		if empty, err := s.set.Folder.IsEmpty(); err == nil && empty {
			st.LastError = fmt.Sprintf("%s has nothing under the folder id %q; if that is not a new folder, check its id in #NAME=ID", s.o.Address, s.o.Folder)
		}
	}
	return st
}
