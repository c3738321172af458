package queue

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// since returns what has changed since a state: all that is pending where something has.
func (q *Local) since(ctx context.Context, seen uint64) (Delta, error) {
	now := q.now() // what happens from here on is told again
	if now == seen {
		return Delta{Now: now}, nil
	}
	list, proposals, err := q.pending(ctx)
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
	d := Delta{Now: now, Paths: make([]string, 0, len(where)), Gone: []string{}, Suggestions: []Suggestion{}, Commented: []string{}}
	for _, p := range slices.Sorted(maps.Keys(where)) {
		d.Paths = append(d.Paths, string(p))
	}
	d.Replaced = d.Paths
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

// told is what a client was told, so that it is told nothing twice.
type told struct {
	seed  maphash.Seed
	whole map[model.Path]bool // of what is at or below them everything was told
	as    map[string]toldAs   // by ids
}

// toldAs is where a suggestion was when it was told, and a hash of all of it.
type toldAs struct {
	path model.Path
	sum  uint64
}

func newTold() *told {
	return &told{seed: maphash.MakeSeed(), whole: make(map[model.Path]bool), as: make(map[string]toldAs)}
}

// lacking returns what a client lacks of d that was told everything that lacking returned before.
func (t *told) lacking(d Delta) (Delta, error) {
	known, fresh := make(map[model.Path]bool), make(map[model.Path]bool) // of Replaced
	out := Delta{Now: d.Now, Paths: d.Paths, Replaced: []string{}, Gone: []string{}, Suggestions: []Suggestion{}, Commented: d.Commented}
	for _, p := range d.Replaced {
		if within(t.whole, model.Path(p)) {
			known[model.Path(p)] = true
		} else {
			fresh[model.Path(p)] = true
			out.Replaced = append(out.Replaced, p)
		}
	}
	maps.Copy(t.whole, fresh)
	gone := make(map[string]bool, len(d.Gone))
	for _, id := range d.Gone {
		gone[id] = true
	}
	pending := make(map[string]bool, len(d.Suggestions))
	for i := range d.Suggestions {
		pending[d.Suggestions[i].ID] = true
	}
	for id, was := range t.as {
		switch {
		case within(fresh, was.path):
			delete(t.as, id)
		case !pending[id] && (gone[id] || within(known, was.path)):
			delete(t.as, id)
			out.Gone = append(out.Gone, id)
		}
	}
	slices.Sort(out.Gone)
	for _, s := range d.Suggestions {
		text, err := json.Marshal(s)
		if err != nil {
			return Delta{}, err
		}
		if now := (toldAs{model.Path(s.Path), maphash.Bytes(t.seed, text)}); t.as[s.ID] != now {
			t.as[s.ID] = now
			out.Suggestions = append(out.Suggestions, s)
		}
	}
	return out, nil
}
