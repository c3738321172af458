// Package refusals keeps what a mount refused last, and answers who asks for it over the owner's socket:
// a program is told an errno, which carries no sentence.
//
// Locks: List.mu alone.
package refusals

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
)

// most bounds the refusals that are kept.
const most = 200

// List is the newest refusals of a mount. The zero value has none.
type List struct {
	mu   sync.Mutex      // protects the following
	kept []model.Refusal // the oldest first
	all  int             // with those that are not kept any more
}

// Add keeps a refusal.
func (l *List) Add(r model.Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	if len(l.kept) == most {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	l.kept = append(l.kept, r)
}

// Count returns how many there were, also those that are not kept any more.
func (l *List) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// Of returns the refusals that are about p or what is below it, the newest first. Without p they are
// about everything.
func (l *List) Of(p model.Path) []model.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []model.Refusal{}
	for _, r := range slices.Backward(l.kept) {
		if p == "" || owner.Within(string(p), string(r.Path)) {
			list = append(list, r)
		}
	}
	return list
}

const (
	path      = "/refusals"
	pathParam = "path"
)

// Handle answers from a list to a client that may hear of some paths.
func Handle(mux *http.ServeMux, l *List, mayHear func(model.Path) bool) {
	jsonapi.HandleGet(mux, path, func(r *http.Request) (any, error) {
		list := l.Of(model.Path(r.FormValue(pathParam)))
		return slices.DeleteFunc(list, func(r model.Refusal) bool { return !mayHear(r.Path) }), nil
	})
}

// Ask asks an owner for the refusals about p and what is below it.
func Ask(ctx context.Context, c *owner.Client, p model.Path) ([]model.Refusal, error) {
	return jsonapi.Get[[]model.Refusal](ctx, c, path, url.Values{pathParam: {string(p)}})
}

// Print prints refusals for people.
func Print(w io.Writer, list []model.Refusal) {
	for _, r := range list {
		who := "a program"
		if r.PID != 0 {
			who = fmt.Sprintf("%s (pid %d)", r.Program, r.PID)
		}
		output.Line(w, "%s  %s of %s by %s: %s", r.Time.Local().Format(time.DateTime), r.Op, r.Path, who, r.Errno)
		output.Line(w, "    %s", r.Text)
	}
}
