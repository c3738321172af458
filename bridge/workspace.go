package bridge

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/activity"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/noteindex"
)

// Workspace is everything one process serves, or the part of it that [Workspace.Within]
// lets one client reach.
type Workspace struct {
	*whole
	root *node // its children are the Folders within reach; they never change
}

// whole is what all parts of a workspace share.
type whole struct {
	all   *Workspace // the one with every Folder, for what outlives a client's call
	o     Options
	log   *slog.Logger
	act   activity.Activity
	notes *note.Set

	links         *noteindex.LinkIndex
	followLinks   *noteindex.Follower
	pending       *noteindex.SuggestionIndex
	followPending *noteindex.Follower
	outlines      *noteindex.NoteIndex
	followNotes   *noteindex.Follower

	treeMu     sync.RWMutex // protects the following, and the nodes
	nextID     uint64
	mountpoint string
}

// folder is one Folder of the tree.
type folder struct {
	node    *node
	source  model.Source
	store   model.Store
	offline atomic.Bool

	// names admits one change of names at a time: the people's, and those that are
	// proposed or decided on. It is held across disk.
	names nameLock

	// Protected by Workspace.treeMu.
	proposals []*proposal // pending, oldest first
	shift     shift       // not known to others yet

	brake brake
}

// nameLock publishes what is told under it once it is released: subscribers run
// under no lock.
type nameLock struct {
	ws   *Workspace
	mu   sync.Mutex // protects the following
	told []model.Event
}

func (l *nameLock) Lock() { l.mu.Lock() }

func (l *nameLock) tell(events ...model.Event) { l.told = append(l.told, events...) }

func (l *nameLock) Unlock() {
	told := l.told
	l.told = nil
	l.mu.Unlock()
	l.ws.act.Publish(told...)
}

// New makes a workspace. Nothing is read before Start.
func New(o Options) (*Workspace, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &Workspace{whole: &whole{o: o, log: o.Logger, nextID: 1}}
	w.all = w
	w.pending = noteindex.NewSuggestionIndex(w.suggestionsOf)
	w.links = noteindex.NewLinkIndex(w.withLinksRewritten)
	w.notes = note.NewSet(o.forNotes(), &w.act)
	w.followLinks = noteindex.NewFollower(followedTree{w}, w.log, w.links)
	w.followPending = noteindex.NewFollower(followedTree{w}, w.log, w.pending)
	w.outlines = noteindex.NewNoteIndex()
	w.followNotes = noteindex.NewFollower(followedTree{w}, w.log, w.outlines)
	w.root = &node{id: 1, kind: model.KindDir, children: make(map[string]*node), mode: 0o755, modTime: time.Now()}
	for _, fs := range o.Folders {
		f := &folder{source: fs.Source, store: fs.Store, names: nameLock{ws: w}}
		w.nextID++
		f.node = &node{
			id: w.nextID, name: fs.Name, kind: model.KindDir, parent: w.root, folder: f,
			children: make(map[string]*node), mode: 0o755, modTime: time.Now(),
		}
		w.root.children[fs.Name] = f.node
	}
	return w, nil
}

// Options are the workspace's effective options.
func (w *Workspace) Options() Options {
	o := w.o
	if w == w.all {
		return o
	}
	o.Folders = slices.DeleteFunc(slices.Clone(o.Folders), func(f FolderSource) bool { return w.root.children[f.Name] == nil })
	return o
}

// SetMountpoint tells where the workspace is mounted, so that Resolve takes
// paths below it.
func (w *Workspace) SetMountpoint(dir string) {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	w.mountpoint = dir
}

// Mountpoint is what SetMountpoint was told, "" without a mount.
func (w *Workspace) Mountpoint() string {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return w.mountpoint
}

// Start lists every Folder. When it returns, the whole tree is served.
func (w *Workspace) Start(ctx context.Context) error {
	for _, f := range w.folders() {
		if err := w.scan(ctx, f); err != nil {
			return model.WrapError("open", f.node.path(), err)
		}
	}
	return nil
}

func (w *Workspace) folders() []*folder {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	var list []*folder
	for _, n := range w.root.sorted() {
		list = append(list, n.folder)
	}
	return list
}

func (w *Workspace) scan(ctx context.Context, f *folder) error {
	var entries []model.SourceEntry
	if err := f.source.Scan(ctx, func(e model.SourceEntry) { entries = append(entries, e) }); err != nil {
		return err
	}
	w.treeMu.Lock()
	for _, e := range entries {
		w.put(f, e)
	}
	w.treeMu.Unlock()
	if err := w.restore(ctx, f); err != nil {
		return err
	}
	return w.recoverNotes(ctx, f)
}

// Run follows the sources until ctx ends. It returns when every write that had
// begun is kept; from then on writes fail with ErrClosed.
func (w *Workspace) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, f := range w.folders() {
		g.Go(func() error {
			err := f.source.Run(ctx, func(ev model.SourceEvent) { w.sourceChanged(ctx, f, ev) })
			if err != nil {
				return fmt.Errorf("folder %q: %w", f.node.name, err)
			}
			return nil
		})
	}
	err := g.Wait()
	w.act.Close()
	w.notes.FlushAll()
	return err
}

// note finds the note at p.
func (w *Workspace) findNote(op string, p model.Path) (*note.Note, error) {
	n, err := w.find(op, p)
	if err != nil {
		return nil, err
	}
	return n.mustBeNote(op, p)
}

// mustBeNote is the note of a node, which was found at p.
func (n *node) mustBeNote(op string, p model.Path) (*note.Note, error) {
	switch n.kind {
	case model.KindDir:
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrIsDir}
	case model.KindNote:
		return n.note, nil
	}
	return nil, &model.Error{Op: op, Path: p, Err: model.ErrNotNote}
}

// Open returns the current version of the note at p. It reads the source only
// if the note is not in memory. Errors: fs.ErrNotExist, ErrNotNote, ErrIsDir,
// ErrOffline, fs.ErrPermission.
func (w *Workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	n, err := w.findNote("open", p)
	if err != nil {
		return nil, err
	}
	return n.Version(ctx)
}

// Info describes what a path names.
type Info struct {
	Path     model.Path
	Kind     model.Kind
	ID       uint64 // the same while the process lives, also over renames; over 1
	Size     int64  // bytes of the view for a note
	ModTime  time.Time
	Mode     fs.FileMode // permission bits
	Target   string      // of a symbolic link: what it leads to, from the folder it is shown in
	ReadOnly bool        // a write would be refused
	Offline  bool        // because the Folder's source is away; ReadOnly is set too
}

// Stat describes what p names. A note that was never read is read, because its
// size is that of its view.
func (w *Workspace) Stat(ctx context.Context, p model.Path) (Info, error) {
	n, err := w.find("stat", p)
	if err != nil {
		return Info{}, err
	}
	info := w.infoOf(n)
	if n.kind != model.KindNote {
		return info, nil
	}
	v, err := n.note.Version(ctx)
	if err != nil {
		return Info{}, err
	}
	info.Size, info.ModTime = int64(len(v.Text())), v.ModTime()
	info.ReadOnly = info.ReadOnly || v.ReadOnly()
	return info, nil
}

// ModTime is when what p names changed last. Unlike Stat it reads nothing: a note
// that is not in memory changed when its file did.
func (w *Workspace) ModTime(p model.Path) (time.Time, error) {
	n, err := w.find("stat", p)
	if err != nil {
		return time.Time{}, err
	}
	t := w.infoOf(n).ModTime
	if n.kind != model.KindNote {
		return t, nil
	}
	if last, loaded := n.note.Changed(); loaded || last.After(t) {
		t = last
	}
	return t, nil
}

func (w *Workspace) infoOf(n *node) Info {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	info := Info{
		Path: n.path(), Kind: n.kind, ID: n.id, Size: n.size, ModTime: n.modTime, Mode: n.mode,
		ReadOnly: w.o.ReadOnly || n.kind == model.KindFile && w.o.Mode != Direct,
	}
	if n.kind == model.KindLink {
		info.Target = n.target()
		info.Size = int64(len(info.Target))
	}
	if n.content != nil {
		info.Size, info.ModTime = int64(len(n.content.rec.New)), n.content.rec.Time
	}
	if n.folder != nil && n.folder.readOnly() {
		info.ReadOnly, info.Offline = true, n.folder.offline.Load()
	}
	return info
}

// readOnly says that nothing in the folder can be written now.
func (f *folder) readOnly() bool {
	return f.offline.Load() || f.locked() != nil
}

// locked says why the folder's source takes no changes, nil if it does.
func (f *folder) locked() error { return model.LockedBy(f.source) }

// ReadDir lists a folder, or the workspace's Folders for "", sorted by name.
func (w *Workspace) ReadDir(_ context.Context, p model.Path) ([]DirEntry, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.lookup(p)
	switch {
	case n == nil:
		return nil, &model.Error{Op: "list", Path: p, Err: fs.ErrNotExist}
	case n.kind != model.KindDir:
		return nil, &model.Error{Op: "list", Path: p, Err: model.ErrNotDir}
	case n.folder != nil && n.folder.offline.Load():
		return nil, &model.Error{Op: "list", Path: p, Err: model.ErrOffline}
	}
	children := n.sorted()
	list := make([]DirEntry, len(children))
	for i, c := range children {
		list[i] = DirEntry{Name: c.name, Kind: c.kind, ID: c.id}
	}
	return list, nil
}

// Walk calls fn for everything below under, or for under itself if it is not a
// folder, sorted by path. It reads no note. An error of fn ends it.
func (w *Workspace) Walk(ctx context.Context, under model.Path, fn func(DirEntry, model.Path) error) error {
	type found struct {
		entry DirEntry
		path  model.Path
	}
	var all []found
	w.treeMu.RLock()
	n := w.lookup(under)
	add := func(c *node) { all = append(all, found{DirEntry{c.name, c.kind, c.id}, c.path()}) }
	switch {
	case n == nil:
	case n.kind == model.KindDir:
		n.walk(add)
	default:
		add(n)
	}
	w.treeMu.RUnlock()
	if n == nil {
		return &model.Error{Op: "list", Path: under, Err: fs.ErrNotExist}
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(f.entry, f.path); err != nil {
			return err
		}
	}
	return nil
}
