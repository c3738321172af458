package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// line is the network between one mount and the server. It can be cut.
type line struct {
	net.Listener
	server string
	mu     sync.Mutex // guards the fields below
	cut    bool
	open   map[net.Conn]bool
}

func newLine(t testing.TB, s *server) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	l := &line{Listener: listener, server: "127.0.0.1:" + s.port, open: make(map[net.Conn]bool)}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go l.relay(c)
		}
	}()
	t.Cleanup(func() {
		l.set(true)
		listener.Close()
	})
	return l
}

func (l *line) relay(c net.Conn) {
	defer c.Close()
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer server.Close()
	l.mu.Lock()
	if l.cut {
		l.mu.Unlock()
		return
	}
	l.open[c] = true
	l.mu.Unlock()
	go func() {
		defer c.Close()
		defer server.Close()
		_, _ = io.Copy(server, c) // it ends when the line is cut
	}()
	_, _ = io.Copy(c, server)
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
}

func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	for c := range l.open {
		if cut {
			c.Close()
		}
	}
}

// wordsInFolder is a folder whose notes agents on two mounts and a user in a Yjs client change, move and delete. Each of
// the three may be without the server.
type wordsInFolder struct {
	words
	s         *server
	mounts    [2]*client
	dirs      [2]string
	lines     [2]*line
	structure bridge.StructurePolicy
	typist    *typist
	away      bool        // the user is without the server
	undos     [2][]string // batches of undos
}

// TestTwoMountsOfAFolderLoseNoWord is TestTwoMountsLoseAndDoubleNoWord with several notes that are created, moved and
// deleted, with mounts that lose the server alone, and with mounts that are killed.
func TestTwoMountsOfAFolderLoseNoWord(t *testing.T) {
	t.Parallel()
	randomtest.CheckFrom(t, 10000, 10, func(t testing.TB, r *rand.Rand) {
		w := &wordsInFolder{words: newWords(t, r), s: startServer(t, "relay-server")}
		w.structure = []bridge.StructurePolicy{bridge.StructureDirect, bridge.StructurePropose}[r.IntN(2)]
		w.typist = w.s.typist(t)
		for _, path := range []string{"one/a.md", "one/b.md", "c.md"} {
			w.typist.create(path, w.text())
		}
		for i := range w.mounts {
			w.dirs[i], w.lines[i] = t.TempDir(), newLine(t, w.s)
			w.open(i)
		}
		w.meet()
		for range 1 + w.IntN(3) {
			for i, l := range w.lines {
				if w.IntN(3) > 0 {
					l.set(true)
					w.mounts[i].awaitLoss()
					w.did("mount %d loses the server", i)
				}
			}
			w.away = w.IntN(2) == 0
			w.did("the user is away: %v", w.away)
			for range 1 + w.IntN(8) {
				w.step()
			}
			w.meet()
			w.check()
		}
	})
}

func (w *wordsInFolder) open(i int) {
	w.Helper()
	address := strings.Replace(w.s.address(), "127.0.0.1:"+w.s.port, w.lines[i].Addr().String(), 1)
	c, err := open(w, address, w.s.folder, w.dirs[i], structured, func(o *remote.Options, b *bridge.Options) {
		o.Resync, b.Structure = 2*time.Second, w.structure
	})
	noError(w, err)
	w.mounts[i] = c
}

func (w *wordsInFolder) kill(i int) {
	dir := filepath.Join(w.TempDir(), "copy")
	noError(w, os.CopyFS(dir, os.DirFS(w.dirs[i])))
	w.mounts[i].killed = true
	w.mounts[i].stop()
	w.dirs[i] = dir
	w.open(i)
	w.did("mount %d is killed", i)
}

func (w *wordsInFolder) text() string {
	return fmt.Sprintf("%s %s %s\n%s %s\n", w.word("u"), w.word("u"), w.word("u"), w.word("u"), w.word("u"))
}

var names = []string{"one/a.md", "one/b.md", "two/a.md", "c.md", "d.md"}

func pick[T any](r *rand.Rand, list []T) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[r.IntN(len(list))], true
}

func (w *wordsInFolder) step() {
	i := w.IntN(2)
	c := w.mounts[i]
	agent := model.Author{Name: []string{"ai", "other"}[w.IntN(2)], Session: "s"}
	req := bridge.ChangeRequest{Author: agent}
	path, ok := pick(w.Rand, notes(c))
	to := "Team/" + model.Path(names[w.IntN(len(names))])
	switch kind := w.IntN(21); {
	case kind < 5 && ok:
		w.agent(i, path, agent)
	case kind < 9:
		w.decide(i)
	case kind == 9:
		out, err := c.Undo(w.Context(), "", model.Author{Name: "person"})
		w.did("mount %d: undo %v", i, err)
		if err == nil {
			w.undos[i] = append(w.undos[i], out.Batch)
		}
	case kind == 10:
		if batch, ok := pick(w.Rand, w.undos[i]); ok {
			_, err := c.Undo(w.Context(), batch, model.Author{Name: "person"})
			w.did("mount %d: undo of an undo %v", i, err)
		}
	case kind == 11:
		text := w.word("a") + " " + w.word("a") + "\n"
		_, err := c.Create(w.Context(), to, bridge.Write{Text: text, By: agent})
		w.did("mount %d: %s is created with %q: %v", i, to, text, err)
	case kind == 12 && ok:
		_, err := c.Rename(w.Context(), path, to, req)
		w.did("mount %d: %s becomes %s: %v", i, path, to, err)
	case kind == 13:
		dirs := [][2]model.Path{{"Team/one", "Team/three"}, {"Team/three", "Team/one"}, {"Team/two", "Team/three/two"}}[w.IntN(3)]
		_, err := c.Rename(w.Context(), dirs[0], dirs[1], req)
		w.did("mount %d: folder %s becomes %s: %v", i, dirs[0], dirs[1], err)
	case kind == 14 && ok:
		if w.structure == bridge.StructureDirect {
			w.noteGone(i, path)
		}
		_, err := c.Remove(w.Context(), path, req)
		w.did("mount %d: %s is deleted: %v", i, path, err)
	case kind == 15:
		w.kill(i)
	case kind == 16:
		cut := w.IntN(2) == 0
		w.lines[i].set(cut)
		w.did("mount %d is without the server: %v", i, cut)
	case kind == 17:
		w.userMoves()
	default:
		w.userTypes()
	}
}

// noteGone excuses the words of a note that is about to be deleted.
func (w *wordsInFolder) noteGone(i int, p model.Path) {
	if v, err := w.mounts[i].Open(w.Context(), p); err == nil {
		addWords(w.gone, v.Raw())
	}
}

func (w *wordsInFolder) agent(i int, p model.Path, by model.Author) {
	var was, is string
	_, err := w.mounts[i].Update(w.Context(), p, by, nil, func(current *model.Version) (string, error) {
		was = current.Text()
		is = changedByAgent(w.Rand, was, func() string { return w.word("a") }, w.rewritten)
		return is, nil
	})
	w.did("%s on mount %d: %s: %q becomes %q: %v", by.Name, i, p, was, is, err)
}

func (w *wordsInFolder) decide(i int) {
	c := w.mounts[i]
	verdict := []model.Verdict{model.Accepted, model.Rejected}[w.IntN(2)]
	proposals, err := c.Proposals(w.Context(), "Team")
	noError(w, err)
	if p, ok := pick(w.Rand, proposals); ok && w.IntN(2) == 0 {
		w.decideProposal(i, p, verdict)
		return
	}
	path, ok := pick(w.Rand, notes(c))
	if !ok {
		return
	}
	found, err := c.Suggestions(w.Context(), path)
	if err != nil {
		return
	}
	all := w.IntN(4) == 0
	one, ok := pick(w.Rand, found)
	if !ok {
		return
	}
	var ids []string
	for _, s := range found {
		if !all && s.ID != one.ID {
			continue
		}
		ids = append(ids, s.ID)
		if verdict == model.Accepted {
			addWords(w.gone, s.Old)
			addWords(w.kept, s.New)
		}
		w.did("mount %d: %s in %s: %q %q", i, verdict, path, s.Old, s.New)
	}
	out, err := c.Decide(w.Context(), ids, verdict, model.Author{Name: "person"})
	w.did("%v %v", out.Failed, err)
}

func (w *wordsInFolder) decideProposal(i int, p model.Proposal, verdict model.Verdict) {
	if p.Kind == model.ProposedDelete && verdict == model.Accepted {
		w.userDocs(strings.TrimPrefix(string(p.Path), "Team/"))
	}
	out, err := w.mounts[i].DecideStale(w.Context(), []string{p.ID}, verdict, model.Author{Name: "person"})
	w.did("mount %d: %s %s of %s to %q: %v %v", i, verdict, p.Kind, p.Path, p.NewPath, out.Failed, err)
}

// userDocs excuses the words of a note, which is about to be deleted, as all know it.
func (w *wordsInFolder) userDocs(path string) {
	for _, e := range folderdoc.Open(w.typist.docs[w.s.folder]).List() {
		if doc := w.typist.docs[transport.DocumentName(w.s.folder, e.ID)]; doc != nil && (path == "" || e.Path == path) {
			addWords(w.gone, doc.Text(model.ContentsName).String())
		}
	}
	for i := range w.mounts {
		w.noteGone(i, model.Path("Team/"+path))
	}
}

func (w *wordsInFolder) sync(name string) *ycrdt.Doc {
	if w.away {
		return w.typist.docs[name]
	}
	return w.typist.sync(name)
}

// entries lists the notes that the user has.
func (w *wordsInFolder) entries() (list []folderdoc.Entry) {
	for _, e := range folderdoc.Open(w.sync(w.s.folder)).List() {
		if e.Type == folderdoc.TypeMarkdown {
			list = append(list, e)
		}
	}
	return list
}

// userMoves renames a note or a folder, or deletes or creates a note, in a Yjs client.
func (w *wordsInFolder) userMoves() {
	f := folderdoc.Open(w.sync(w.s.folder))
	defer func() { w.sync(w.s.folder) }()
	e, ok := pick(w.Rand, w.entries())
	to := names[w.IntN(len(names))]
	switch w.IntN(4) {
	case 0:
		from, to, _ := strings.Cut([]string{"one three", "three one", "two four"}[w.IntN(3)], " ")
		w.did("a user renames folder %s to %s: %v", from, to, f.Rename(from, to, false))
	case 1:
		if ok {
			w.did("a user renames %s to %s: %v", e.Path, to, f.Rename(e.Path, to, false))
		}
	case 2:
		if ok {
			w.userDocs(e.Path)
			w.did("a user deletes %s: %v", e.Path, f.Delete(e.Path))
		}
	default:
		if _, ok := f.Get(to); ok {
			return
		}
		text, id := w.text(), folderdoc.NewID()
		name, doc := transport.DocumentName(w.s.folder, id), ycrdt.NewDoc(ycrdt.Options{})
		w.typist.docs[name] = doc
		contents := doc.Text(model.ContentsName)
		doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, 0, text) })
		w.sync(name)
		_, err := f.Create(folderdoc.Entry{Path: to, ID: id, Type: folderdoc.TypeMarkdown})
		w.did("a user creates %s with %q: %v", to, text, err)
	}
}

// userTypes types a word, or deletes one of a user, in a Yjs client.
func (w *wordsInFolder) userTypes() {
	e, ok := pick(w.Rand, w.entries())
	if !ok {
		return
	}
	name := transport.DocumentName(w.s.folder, e.ID)
	doc := w.sync(name)
	if doc == nil {
		return
	}
	defer func() { w.sync(name) }()
	w.types(doc, e.Path)
}

// meet waits until all have the same, without proposals.
func (w *wordsInFolder) meet() {
	w.Helper()
	w.away = false
	for _, l := range w.lines {
		l.set(false)
	}
	w.did("all meet")
	w.agree()
	for i, c := range w.mounts {
		for range 5 {
			list, err := c.Proposals(w.Context(), "Team")
			noError(w, err)
			for _, p := range list {
				w.decideProposal(i, p, []model.Verdict{model.Accepted, model.Rejected}[w.IntN(2)])
			}
		}
		if list, _ := c.Proposals(w.Context(), "Team"); len(list) > 0 {
			for _, p := range list {
				w.decideProposal(i, p, model.Rejected)
			}
		}
	}
	w.agree()
}

func (w *wordsInFolder) agree() {
	w.Helper()
	deadline := time.Now().Add(w.mounts[0].patience)
	for {
		differ := w.differ()
		if differ == "" {
			return
		}
		if time.Now().After(deadline) {
			w.fail("they never agree: %s", differ)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (w *wordsInFolder) differ() string {
	for _, name := range slices.Sorted(maps.Keys(w.typist.docs)) {
		w.typist.sync(name)
	}
	for i, c := range w.mounts {
		if st := c.source.SyncStatus(); !st.Connected || st.Unsent > 0 {
			return fmt.Sprintf("mount %d: connected %v, unsent %d", i, st.Connected, st.Unsent)
		}
	}
	for _, same := range w.byID() {
		for i, c := range w.mounts {
			if v, err := w.openAll(c, same); v == nil && !errors.Is(err, errHidden) {
				return fmt.Sprintf("%+v is %q, but on mount %d %v", same, w.textOf(same[0]), i, err)
			}
		}
	}
	return ""
}

var errHidden = errors.New("its deletion is proposed")

// openSource opens the note that the source has at a path.
func (w *wordsInFolder) openSource(c *client, path string) (*model.Version, error) {
	list, err := c.Proposals(context.Background(), "Team")
	noError(w, err)
	for _, p := range list {
		if p.Kind == model.ProposedDelete && p.Path == model.Path("Team/"+path) {
			return nil, errHidden
		}
	}
	for _, p := range notes(c) {
		if at, err := c.SourcePath(p); err == nil && at == model.Path("Team/"+path) {
			return c.Open(context.Background(), p)
		}
	}
	return nil, fs.ErrNotExist
}

// byID lists the notes of the folder with their names. After two renames at once a note has two.
func (w *wordsInFolder) byID() (list [][]folderdoc.Entry) {
	for _, e := range w.entries() {
		if i := slices.IndexFunc(list, func(same []folderdoc.Entry) bool { return same[0].ID == e.ID }); i >= 0 {
			list[i] = append(list[i], e)
		} else {
			list = append(list, []folderdoc.Entry{e})
		}
	}
	return list
}

// openAll opens a note by each of its names, which must have the same text.
func (w *wordsInFolder) openAll(c *client, same []folderdoc.Entry) (v *model.Version, err error) {
	text := w.textOf(same[0])
	for _, e := range same {
		if v, err = w.openSource(c, e.Path); err == nil && v.Raw() != text {
			err = fmt.Errorf("%s is %q", e.Path, v.Raw())
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (w *wordsInFolder) textOf(e folderdoc.Entry) string {
	return w.typist.sync(transport.DocumentName(w.s.folder, e.ID)).Text(model.ContentsName).String()
}

// excuseDeleted excuses the words of deleted notes. Words that a user typed while another client deleted the note go with
// the note, as in Obsidian, but stay in its document.
func (w *wordsInFolder) excuseDeleted() {
	listed := make(map[string]bool)
	for _, e := range w.entries() {
		listed[transport.DocumentName(w.s.folder, e.ID)] = true
	}
	for name := range w.typist.docs {
		if name != w.s.folder && !listed[name] {
			addWords(w.gone, w.typist.sync(name).Text(model.ContentsName).String())
		}
	}
}

func (w *wordsInFolder) check() {
	w.Helper()
	var original, shown strings.Builder
	w.excuseDeleted()
	for _, same := range w.byID() {
		v, err := w.openAll(w.mounts[0], same)
		noError(w, err)
		was := v.Known().Original(v.Canonical())
		original.WriteString(was)
		shown.WriteString(v.Text())
		w.did("together: %s is %q, %q by %v", same[0].Path, v.Raw(), v.Canonical(), v.CanonicalEdits())
	}
	w.checkIn(original.String(), shown.String(), func(string, int) bool { return false })
}
