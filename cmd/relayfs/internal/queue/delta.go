package queue

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// since returns what has changed since a state.
func (q *Local) since(ctx context.Context, seen uint64) (Delta, error) {
	now := q.now() // what happens from here on is told again
	if now == seen {
		return Delta{Now: now}, nil
	}
	list, err := q.ws.Suggestions(ctx, "")
	if err != nil {
		return Delta{}, err
	}
	proposals, err := q.ws.Proposals(ctx, "")
	if err != nil {
		return Delta{}, err
	}
	threads, err := q.ws.Talk.Threads(ctx, "")
	if err != nil {
		return Delta{}, err
	}
	all := make(map[model.Path]string)
	for _, p := range proposals {
		all[p.Path] += newProposal(p).Revision + " "
	}
	where := q.changedSince(seen, all)
	d := Delta{Now: now, Paths: make([]string, 0, len(where)), Suggestions: []Suggestion{}, Commented: []string{}}
	for _, p := range slices.Sorted(maps.Keys(where)) {
		d.Paths = append(d.Paths, string(p))
	}
	for _, s := range list {
		if within(where, s.Path) {
			d.Suggestions = append(d.Suggestions, newSuggestion(s))
		}
	}
	for _, p := range proposals {
		if within(where, p.Path) {
			d.Suggestions = append(d.Suggestions, newProposal(p))
		}
	}
	q.nameSessions(d.Suggestions)
	for _, t := range threads {
		if n := len(d.Commented); within(where, t.Path) && (n == 0 || d.Commented[n-1] != string(t.Path)) {
			d.Commented = append(d.Commented, string(t.Path))
		}
	}
	return d, nil
}

// now is the state of the workspace.
func (q *Local) now() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

// changedSince returns where something may have changed since a state. proposals are those of now.
func (q *Local) changedSince(seen uint64, proposals map[model.Path]string) map[model.Path]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p, revisions := range proposals {
		if q.proposals[p] != revisions {
			q.touch(p)
		}
	}
	for p := range q.proposals {
		if proposals[p] == "" {
			q.touch(p)
		}
	}
	q.proposals = proposals
	where := make(map[model.Path]bool)
	if seen < q.first || seen > q.n { // of another process
		where[""] = true
		return where
	}
	for p, n := range q.changed {
		if n > seen {
			where[p] = true
		}
	}
	return where
}

// within reports whether p or a folder that it is in is among the paths.
func within(paths map[model.Path]bool, p model.Path) bool {
	for at := string(p); ; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
		if paths[model.Path(at)] {
			return true
		}
		if at == "" {
			return false
		}
	}
}
