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

// Workspace is everything one process serves, or the part of it that [Workspace.Within]
// lets one client reach. What it does about names, files, decisions and indexes is
// documented with the types that it is made of.
type Workspace struct {
	*namespace.Names
	*namespace.Files
	*review.Review
	*index.Indexes
	Histories *history.Archive // what the notes were

	*core
	tree *namespace.Tree
}

type core struct {
	o          Options
	events     model.Bus
	notes      *note.Set
	config     namespace.Config
	rules      *namespace.Rules // for agents; nil for none
	mountpoint atomic.Pointer[string]
	onMount    atomic.Pointer[func(context.Context)]
}

// New makes a workspace. Nothing is read before Start.
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
	folders := make(namespace.Folders)
	for _, fs := range o.Folders {
		f := t.AddFolder(fs.Name, fs.Source, fs.Store)
		folders[f] = namespace.NewFolder(f, o.Logger, &w.events)
	}
	x := index.New(t, &w.events, o.Logger)
	w.config = namespace.Config{
		Options: o.Options, Structure: o.Structure, Notes: w.notes, Activity: &w.events, Folders: folders, Links: x,
	}
	return w.restricted(t, x), nil
}

// restricted is the workspace for who reaches t.
func (w *core) restricted(t *namespace.Tree, x *index.Indexes) *Workspace {
	n, files, consequences := namespace.New(&w.config, t)
	r := review.New(&w.config, t, consequences, x)
	return &Workspace{n, files, r, x, history.NewArchive(t), w, t}
}

// Restrict is the part of the workspace that a client may reach: the Folders named,
// of those in w. For who has it there is nothing else, neither by path nor by id,
// in no list, no journal and no event. Paths lead through the tree, which is why no
// operation has to ask; what is kept for all Folders together is filtered.
func (w *Workspace) Restrict(folders ...string) *Workspace {
	t := w.tree.Within(folders...)
	return w.restricted(t, w.Indexes.Within(t))
}

// ForAgents is the part of w that agents may reach: without what Options.Hide names, and read-only in what Options.Lock
// names. The mount and the MCP server serve it. A path that is hidden does not exist in it, in no list, index, journal and
// event; making something there is refused. What follows from a change, as links from a rename, is done everywhere.
func (w *Workspace) ForAgents() *Workspace {
	if w.rules == nil {
		return w
	}
	t := w.tree.Ruled(w.rules)
	part := w.restricted(t, w.Indexes.Within(t))
	part.ActAs(w.Names)
	return part
}

// Reaches reports whether p is within reach, whether something is there or not.
func (w *Workspace) Reaches(p model.Path) bool { return w.tree.Reaches(p) }

// reached is ev as it is seen within reach. A rename out of it is a removal, and one into it makes something.
func (w *Workspace) reached(ev model.Event) (_ model.Event, ok bool) {
	is := w.tree.Reaches(ev.Path)
	if ev.Kind != model.EventRenamed {
		return ev, is
	}
	was := w.tree.Reaches(ev.OldPath)
	switch {
	case is && !was:
		ev.Kind, ev.OldPath = model.EventCreated, ""
	case was && !is:
		ev.Kind, ev.Path, ev.OldPath = model.EventRemoved, ev.OldPath, ""
	}
	return ev, is || was
}

// Options are the workspace's effective options.
func (w *Workspace) Options() Options {
	o := w.o
	if !w.tree.IsWhole() {
		o.Folders = slices.DeleteFunc(slices.Clone(o.Folders), func(f FolderSource) bool { return w.tree.Folder(f.Name) == nil })
	}
	return o
}

// SetMountpoint tells where the workspace is mounted, so that Resolve takes
// paths below it.
func (w *Workspace) SetMountpoint(dir string) { w.mountpoint.Store(&dir) }

// Mountpoint is what SetMountpoint was told, "" without a mount.
func (w *Workspace) Mountpoint() string {
	if dir := w.mountpoint.Load(); dir != nil {
		return *dir
	}
	return ""
}

// OnMount sets a function that returns when the mount shows each change that was made before it was called; nil without a mount.
func (w *Workspace) OnMount(shows func(context.Context)) { w.onMount.Store(&shows) }

// maxShow bounds AwaitMount: the kernel may wait for a program that holds a folder of the mount.
const maxShow = 100 * time.Millisecond

// AwaitMount returns when the mount, if there is one, shows each change that was made before, or after maxShow. Whoever changed
// something for a client calls it before it answers, and holds no lock. No handler of the mount's own requests calls it: the kernel
// may be waiting for that one's answer.
func (w *Workspace) AwaitMount(ctx context.Context) {
	shows := w.onMount.Load()
	if shows == nil || *shows == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxShow)
	defer cancel()
	(*shows)(ctx)
}

// Since returns the changes after the one with that number, and the number of the newest. whole is false if older
// ones of them are forgotten, or the number is of an earlier process. Whoever knows a state asks for what came after it.
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

// Last returns the number of the newest change.
func (w *Workspace) Last() uint64 { return w.events.Last() }

// Changed returns a channel that is closed when there is a change after the one with that number.
func (w *Workspace) Changed(number uint64) <-chan struct{} { return w.events.Changed(number) }

// Subscribe calls fn after each change until cancel is called, for those who must act before the call that made the
// change returns; others ask with Since. fn runs on the goroutine that made the change, holding no lock of the workspace; it must
// return at once (put the event in a queue) and must not write to the workspace.
func (w *Workspace) Subscribe(fn func(model.Event)) (cancel func()) {
	return w.events.Subscribe(func(ev model.Event) {
		if ev, ok := w.reached(ev); ok {
			fn(ev)
		}
	})
}

// Start lists every Folder. When it returns, the whole tree is served.
func (w *Workspace) Start(ctx context.Context) error {
	for _, f := range w.tree.Folders() {
		if err := w.config.Folders[f].Start(ctx); err != nil {
			return model.WrapError("open", f.Path(), err)
		}
	}
	w.ResumeRenames(ctx)
	w.ResumeRejections(ctx)
	return nil
}

// Run follows the sources until ctx ends. It returns when every write that had
// begun is kept; from then on writes fail with ErrClosed.
func (w *Workspace) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range w.tree.Folders() {
		g.Go(func() error {
			err := f.Source.Run(ctx, func(ev model.SourceEvent) { w.config.Folders[f].SourceChanged(ctx, ev) })
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
	ReadOnly    string    `json:"readOnly,omitempty"` // why its source takes no changes now
	Changed     time.Time `json:"changed,omitzero"`   // newest modification time known
	// Misnamed are quoted paths of files that are not served because their names are not UTF-8.
	Misnamed []string `json:"misnamed,omitempty"`
	// Problems are what does not work now, the oldest first.
	Problems []model.Problem `json:"problems,omitempty"`
	// Sync is set for a Folder that is in step with a server.
	Sync *SyncStatus `json:"sync,omitempty"`
}

// Status counts what the workspace holds.
func (w *Workspace) Status(ctx context.Context) (Status, error) {
	st := Status{
		Mode: w.o.Mode.String(), View: w.o.View.String(), ReadOnly: w.o.ReadOnly, Mountpoint: w.Mountpoint(),
	}
	for _, f := range w.tree.Folders() {
		fs := FolderStatus{Name: f.Name, Offline: f.Offline()}
		if s, ok := f.Source.(Syncer); ok {
			s.Attempted(ctx)
			sync := s.SyncStatus()
			fs.Sync = &sync
		}
		if locked, ok := errors.AsType[*model.ReadOnlyError](model.ReadOnlyErrOf(f.Source)); ok {
			fs.ReadOnly = locked.Reason
		}
		if m, ok := f.Source.(model.MisnamedReporter); ok {
			for _, rel := range m.Misnamed() {
				if w.tree.Reaches(f.Path().Join(rel)) {
					fs.Misnamed = append(fs.Misnamed, strconv.Quote(rel))
				}
			}
		}
		fs.Problems = append(model.ProblemsOf(f.Store), model.ProblemsOf(f.Source)...)
		n := w.tree.Count(f)
		fs.Notes, fs.Files, fs.Proposals, fs.Changed = n.Notes, n.Files, n.Proposals, n.Changed
		if !fs.Offline {
			list, err := w.Suggestions(ctx, f.Path())
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

// Ready says why changes are not kept on this machine, nil if they are. Whether a server can
// be reached is another matter.
func (w *Workspace) Ready() error {
	for _, f := range w.tree.Folders() {
		for _, p := range model.ProblemsOf(f.Store) {
			if p.About == model.AboutStore {
				return fmt.Errorf("folder %q: %s", f.Name, p.Text)
			}
		}
	}
	return nil
}

// Sync returns when everything that was done at p, a note or a folder, outlives a
// power cut, or with the reason why it may not. A write that has returned outlives the
// process before that.
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
		return nil // what is proposed is in the store
	}
	return model.WrapError("sync", p, err)
}

// Acknowledged waits until the server of the note at p, if its Folder has one, has
// all of it, and says whether it has. What it lacks is kept here, and sent when it
// is connected.
func (w *Workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	f, err := w.folderOf("sync", p)
	if err != nil || f == nil {
		return false
	}
	if s, ok := f.Source.(Syncer); ok {
		return s.Acknowledged(ctx, w.tree.SourcePath(p))
	}
	return true
}

// folderOf is the Folder that p is in; nil for the workspace itself.
func (w *Workspace) folderOf(op string, p model.Path) (*namespace.TreeFolder, error) {
	name, _ := p.Split()
	if f := w.tree.Folder(name); f != nil || p == "" {
		return f, nil
	}
	return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
}
