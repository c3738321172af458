package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/review"
)

// Workspace is everything that one process serves, or the part of it that [Workspace.Restrict] lets one client reach.
// Its operations on names, files, decisions and indexes are documented with the embedded types.
type Workspace struct {
	*namespace.Namespace
	*review.Review
	*index.Indexes
	Histories *history.Archive // the earlier states of notes

	*core
	tree *namespace.Tree
}

type core struct {
	o          Options
	events     model.Bus
	sequence   model.Sequence
	notes      *note.Set
	config     namespace.Config
	rules      *namespace.Rules // rules for agents; nil if there are none
	mountpoint atomic.Pointer[string]
	onMount    atomic.Pointer[func(context.Context)]
}

// New returns a workspace. It reads nothing before Start.
func New(o Options) (*Workspace, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	rules, err := namespace.NewRules(o.Hide, o.Lock)
	if err != nil {
		return nil, err
	}
	w := &core{o: o, rules: rules}
	w.notes = note.NewSet(o.Options, &w.events)
	t := namespace.NewTree(w.notes)
	folders := make(namespace.Roots)
	for _, fs := range o.Roots {
		f := t.AddRoot(fs.Name, fs.Source, fs.Store)
		folders[f] = namespace.NewRoot(f, o.Logger, &w.events, &w.sequence)
	}
	x := index.New(t, &w.events, o.Logger)
	w.config = namespace.Config{
		Options: o.Options, Structure: o.Structure, Notes: w.notes, Events: &w.events, Roots: folders, Links: x,
	}
	return w.restricted(t, x), nil
}

func (w *core) restricted(t *namespace.Tree, x *index.Indexes) *Workspace {
	n := namespace.New(&w.config, t)
	r := review.New(&w.config, t, n.Effects(), x)
	return &Workspace{n, r, x, history.NewArchive(t), w, t}
}

// Restrict returns the part of the workspace that a client may reach: the named roots of w. The client cannot reach
// other roots by path or ID, and sees them in no list, journal or event. Paths are looked up in the restricted tree, so
// operations need no checks; data shared by all roots is filtered.
func (w *Workspace) Restrict(folders ...string) *Workspace {
	t := w.tree.Restrict(folders...)
	return w.restricted(t, w.Indexes.Restrict(t))
}

// ForAgents returns the part of w that agents may reach: without the paths that match Options.Hide, and read-only where
// paths match Options.Lock. The mount and the MCP server serve this part. A hidden path appears in no list, index,
// journal or event, and nothing can be created there. The consequences of a change, such as new links after a rename,
// apply everywhere.
func (w *Workspace) ForAgents() *Workspace {
	if w.rules == nil {
		return w
	}
	t := w.tree.WithRules(w.rules)
	part := w.restricted(t, w.Indexes.Restrict(t))
	part.DelegateEffects(w.Namespace)
	return part
}

// Contains reports whether clients of w may reach p. p need not exist.
func (w *Workspace) Contains(p model.Path) bool { return w.tree.Contains(p) }

// reached returns ev as a client of w sees it: a rename out of the reach of w is a removal, and a rename into it a
// creation.
func (w *Workspace) reached(ev model.Event) (_ model.Event, ok bool) {
	is := w.tree.Contains(ev.Path)
	if ev.Kind != model.EventRenamed {
		return ev, is
	}
	old := w.tree.Contains(ev.OldPath)
	switch {
	case is && !old:
		ev.Kind, ev.OldPath = model.EventCreated, ""
	case old && !is:
		ev.Kind, ev.Path, ev.OldPath = model.EventRemoved, ev.OldPath, ""
	}
	return ev, is || old
}

func (w *Workspace) Options() Options {
	o := w.o
	if !w.tree.IsFull() {
		o.Roots = slices.DeleteFunc(slices.Clone(o.Roots), func(f RootSource) bool { return w.tree.Root(f.Name) == nil })
	}
	return o
}

// SetMountpoint sets the directory of the mount, so that Resolve accepts paths below it.
func (w *Workspace) SetMountpoint(dir string) { w.mountpoint.Store(&dir) }

func (w *Workspace) Mountpoint() string {
	if dir := w.mountpoint.Load(); dir != nil {
		return *dir
	}
	return ""
}

// OnMount sets the function that waits until the mount shows all changes made before its call. Without a mount no
// function is set.
func (w *Workspace) OnMount(shows func(context.Context)) { w.onMount.Store(&shows) }

// maxShow is the maximum wait of AwaitMount: the kernel may wait for a program that holds a folder of the mount.
const maxShow = 100 * time.Millisecond

// AwaitMount returns when the mount, if any, shows all changes made before the call, or after maxShow. Callers that
// change something for a client call it before they respond, and must hold no lock. Handlers of the mount's own
// requests must not call it: the kernel may be waiting for their response.
func (w *Workspace) AwaitMount(ctx context.Context) {
	shows := w.onMount.Load()
	if shows == nil || *shows == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxShow)
	defer cancel()
	(*shows)(ctx)
}

// Since returns the changes after the given number, and the number of the newest change. whole is false if some of them
// were dropped, or if the number comes from an earlier process.
func (w *Workspace) Since(number uint64) (list []model.Event, last uint64, whole bool) {
	list, last, whole = w.events.Since(number)
	reached := list[:0]
	for _, ev := range list {
		if ev, ok := w.reached(ev); ok {
			reached = append(reached, ev)
		}
	}
	return reached, last, whole
}

func (w *Workspace) Last() uint64 { return w.events.Last() }

// LastOrder returns the JournalEntry.Order of the newest decision, or a later number. The next decision has a higher
// number.
func (w *Workspace) LastOrder() uint64 { return w.sequence.Last() }

// Subscribe calls fn after each change until cancel is called. It is for subscribers that must act before the call that
// made the change returns, or that wait for a change; others poll with Since. fn runs on the goroutine that made the
// change, without a lock of notes or names. It must return immediately (put the event in a queue) and must not write to
// the workspace.
func (w *Workspace) Subscribe(fn func(model.Event)) (cancel func()) {
	return w.events.Subscribe(func(ev model.Event) {
		if ev, ok := w.reached(ev); ok {
			fn(ev)
		}
	})
}

// Start lists every root. When it returns, the whole tree is served.
func (w *Workspace) Start(ctx context.Context) error {
	for _, f := range w.tree.Roots() { // must come before the first decision is numbered
		if err := f.Store.UseSequence(&w.sequence); err != nil {
			return model.WrapError("open", f.Path(), err)
		}
	}
	for _, f := range w.tree.Roots() {
		if err := w.config.Roots[f].Start(ctx); err != nil {
			return model.WrapError("open", f.Path(), err)
		}
	}
	w.ResumeRenames(ctx)
	w.ResumeRejections(ctx)
	w.ResumeDecisions(ctx)
	return nil
}

// Run follows the sources until ctx ends or a source fails. It returns when no write is in progress any more; later
// writes fail with ErrClosed.
func (w *Workspace) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range w.tree.Roots() {
		g.Go(func() error {
			root := w.config.Roots[f]
			err := f.Source.Run(ctx, func(ev model.SourceEvent) {
				root.SourceChanged(ctx, ev)
				w.EndRenames(ctx, root)
			})
			if err != nil {
				return fmt.Errorf("folder %q: %w", f.Name, err)
			}
			return nil
		})
	}
	err := g.Wait()
	w.events.Close()
	return err
}

type Status struct {
	Roots       []RootStatus `json:"folders"`
	Suggestions int          `json:"suggestions"`
	Proposals   int          `json:"proposals"`
	Mountpoint  string       `json:"mountpoint,omitempty"`
	Mode        string       `json:"mode"`
	View        string       `json:"view"`
	ReadOnly    bool         `json:"readOnly"`
}

type RootStatus struct {
	Name        string    `json:"name"`
	Notes       int       `json:"notes"`
	Files       int       `json:"files"`
	Suggestions int       `json:"suggestions"`
	Proposals   int       `json:"proposals"`
	Offline     bool      `json:"offline"`
	ReadOnly    string    `json:"readOnly,omitempty"` // the reason why its source is read-only now
	Changed     time.Time `json:"changed,omitzero"`   // newest known modification time
	// Misnamed are quoted paths of files that are not served because their names are not UTF-8.
	Misnamed []string `json:"misnamed,omitempty"`
	// Problems lists the current problems of the store, and then those of the source.
	Problems []model.Problem `json:"problems,omitempty"`
	// Sync is set for a root that syncs with a server.
	Sync *model.SyncStatus `json:"sync,omitempty"`
}

func (w *Workspace) Status(ctx context.Context) (Status, error) {
	st := Status{
		Mode: w.o.Mode.String(), View: w.o.View.String(), ReadOnly: w.o.ReadOnly, Mountpoint: w.Mountpoint(),
	}
	for _, f := range w.tree.Roots() {
		fs := RootStatus{Name: f.Name, Offline: f.Offline()}
		if s, ok := f.Source.(model.Syncer); ok {
			s.Attempted(ctx)
			sync := s.SyncStatus()
			fs.Sync = &sync
		}
		if locked, ok := errors.AsType[*model.ReadOnlyError](model.ReadOnlyErrOf(f.Source)); ok {
			fs.ReadOnly = locked.Reason
		}
		if m, ok := f.Source.(model.MisnamedReporter); ok {
			for _, rel := range m.Misnamed() {
				if w.tree.Contains(f.Path().Join(rel)) {
					fs.Misnamed = append(fs.Misnamed, strconv.Quote(rel))
				}
			}
		}
		fs.Problems = append(model.ProblemsOf(f.Store), model.ProblemsOf(f.Source)...)
		n := w.tree.Count(f)
		fs.Notes, fs.Files, fs.Proposals, fs.Changed = n.Notes, n.Files, n.Proposals, n.Changed
		list, err := w.Suggestions(ctx, f.Path())
		if err != nil {
			return st, err
		}
		fs.Suggestions = len(list)
		st.Roots = append(st.Roots, fs)
		st.Suggestions += fs.Suggestions
		st.Proposals += fs.Proposals
	}
	return st, nil
}

// Ready returns the reason why this machine cannot store changes, or nil if it can. It does not check servers.
func (w *Workspace) Ready() error {
	for _, f := range w.tree.Roots() {
		for _, p := range model.ProblemsOf(f.Store) {
			if p.About == model.AboutStore {
				return fmt.Errorf("folder %q: %s", f.Name, p.Text)
			}
		}
	}
	return nil
}

// Sync waits until all changes at p, or directly below it if it is a folder, would survive a power cut. It returns an
// error if some of them may not. (A write that has returned survives a crash of the process in any case.)
func (w *Workspace) Sync(ctx context.Context, p model.Path) error {
	f, err := w.folderOf("sync", p)
	if err != nil || f == nil {
		return err
	}
	s, ok := f.Source.(model.Durable)
	if !ok {
		return nil
	}
	if err := f.Store.Sync(); err != nil {
		return model.WrapError("sync", p, err)
	}
	err = s.Sync(ctx, w.tree.SourcePath(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // proposals are in the store, so no file needs a sync
	}
	return model.WrapError("sync", p, err)
}

// Acknowledged waits, some seconds at most, until the server of the note at p has the whole note. It reports whether
// the server has it. It does not wait for a server that is not connected. Without a server it returns true immediately.
// Unsent changes are stored, and sent on the next connection.
func (w *Workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	f, err := w.folderOf("sync", p)
	if err != nil || f == nil {
		return false
	}
	if s, ok := f.Source.(model.Syncer); ok {
		return s.Acknowledged(ctx, w.tree.SourcePath(p))
	}
	return true
}

func (w *Workspace) folderOf(op string, p model.Path) (*namespace.TreeRoot, error) {
	name, _ := p.Split()
	if f := w.tree.Root(name); f != nil || p == "" {
		return f, nil
	}
	return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
}
