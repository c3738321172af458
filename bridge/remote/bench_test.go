package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
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
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// seeded is a server with notes of 2 KB, each edited, and where yjs's own client finds them.
func seeded(b *testing.B, kind string, notes int) (s *server, url string) {
	b.Helper()
	s = startServer(b, kind, "", b.TempDir()) // y-sweet forgets what is in no directory
	url = s.url()
	if kind == "y-sweet" {
		url += "/d/{}/ws"
	}
	in, _, cmd := node(b, "bench.mjs", "seed", url, s.folder, fmt.Sprint(notes))
	noError(b, cmd.Wait())
	in.Close()
	return s, url
}

// residentKB is the memory of this process.
func residentKB(b *testing.B) float64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	noError(b, err)
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	var kb float64
	_, err = fmt.Sscan(rest, &kb)
	noError(b, err)
	return kb
}

// BenchmarkFirstSync fetches all notes of a folder, and has yjs's own client do
// the same with the same server in the same run: time and memory as ratios. The
// floor is a client that receives the notes and does nothing with them.
func BenchmarkFirstSync(b *testing.B) {
	for _, kind := range []string{"y-websocket", "y-sweet"} {
		for _, notes := range []int{1000, 2000, 10_000} {
			b.Run(fmt.Sprint(kind, "/", notes), func(b *testing.B) { firstSync(b, kind, notes) })
		}
	}
}

func firstSync(b *testing.B, kind string, notes int) {
	s, url := seeded(b, kind, notes)
	for b.Loop() {
		in, out, cmd := node(b, "bench.mjs", "sync", url, s.folder)
		line, err := out.ReadBytes('\n')
		noError(b, err)
		in.Close()
		noError(b, cmd.Wait())
		var theirs struct{ Notes, Ms, KB float64 }
		noError(b, json.Unmarshal(line, &theirs))
		if theirs.Notes != float64(notes) {
			b.Fatalf("yjs's client has %v notes", theirs.Notes)
		}
		debug.FreeOSMemory() // what the last round left
		before, start := residentKB(b), time.Now()
		fetched := make(chan struct{})
		tell := sync.OnceFunc(func() { close(fetched) })
		c := mustOpen(b, s, direct, func(o *remote.Options, _ *bridge.Options) {
			o.Progress = func(p remote.Progress) {
				if p.Fetched == notes {
					tell()
				}
			}
		})
		<-fetched
		took := time.Since(start)
		b.ReportMetric(float64(took.Milliseconds())/theirs.Ms, "time/yjs")
		b.ReportMetric((residentKB(b)-before)/theirs.KB, "memory/yjs")
		b.ReportMetric(0.3, "time/yjs-goal")
		if kind == "y-websocket" {
			b.ReportMetric(float64(receive(b, s, notes).Milliseconds())/theirs.Ms, "floor/yjs")
		}
		b.ReportMetric(float64(took.Milliseconds()), "ms")
		b.ReportMetric(theirs.Ms, "yjs-ms")
		c.stop()
	}
}

// receive gets every note from a y-websocket, as many at a time as yjs's client.
func receive(b *testing.B, s *server, notes int) time.Duration {
	b.Helper()
	const atOnce = 16
	address, err := transport.ParseAddress(s.address())
	noError(b, err)
	from := transport.New(address, s.folder, nil, nil, atOnce)
	defer from.Close()
	start := time.Now()
	ids := make(chan int)
	errs := make([]error, atOnce)
	var done sync.WaitGroup
	for w := range atOnce {
		done.Go(func() {
			for id := range ids {
				link, err := from.Open(b.Context(), fmt.Sprintf("note-%d", id))
				if err != nil {
					errs[w] = err
					continue
				}
				link.Send(ysync.AppendStep1(nil, []byte{0}))
				for received := false; !received; {
					select {
					case f := <-link.Frames():
						received = f.Type == ysync.Sync && f.Step == ysync.Step2
					case <-link.Done():
						errs[w], received = link.Err(), true
					}
				}
				link.Close()
			}
		})
	}
	for id := range notes {
		ids <- id
	}
	close(ids)
	done.Wait()
	noError(b, errors.Join(errs...))
	return time.Since(start)
}

// BenchmarkKeystroke measures from a keystroke in yjs's client to the event that
// makes it readable here.
func BenchmarkKeystroke(b *testing.B) {
	s := startServer(b, "y-websocket")
	p := s.person()
	p.do("create", args{"path": "Note.md", "text": "x", "id": "note-0"})
	c := mustOpen(b, s, direct)
	c.awaitText("Team/Note.md", "x")
	in, out, _ := node(b, "bench.mjs", "type", s.url(), s.folder)
	defer in.Close()
	_, err := out.ReadString('\n')
	noError(b, err)
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		_, err := in.Write([]byte("x\n"))
		noError(b, err)
		for {
			v, err := c.Open(b.Context(), "Team/Note.md")
			noError(b, err)
			if len(v.Raw()) > i+1 {
				break
			}
			<-c.events
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
}

// BenchmarkKnown measures the memory of a process that knows 10,000 notes, of
// which 50 are open, without its server.
func BenchmarkKnown(b *testing.B) {
	const known, opened = 10_000, 50
	dir := b.TempDir()
	fillStore(b, filepath.Join(dir, "store.db"), known)
	debug.FreeOSMemory()
	before := residentKB(b)
	for b.Loop() {
		c, err := open(b, "ws://127.0.0.1:1", "team", dir, direct)
		noError(b, err)
		for i := range opened {
			c.write(model.Path(fmt.Sprintf("Team/note-%d.md", i)), func(s string) string { return s + "more\n" })
		}
		b.ReportMetric((residentKB(b)-before)/1024, "MB")
		c.stop()
	}
}

// fillStore keeps a folder with n notes of 2 KB, as if they had been fetched.
func fillStore(b *testing.B, path string, n int) {
	b.Helper()
	st, err := store.Open(path, store.Options{})
	noError(b, err)
	list := ycrdt.NewDoc(ycrdt.Options{})
	folder := folderdoc.Open(list)
	note := ycrdt.NewDoc(ycrdt.Options{})
	note.Transact(func(tx *ycrdt.Txn) {
		note.Text("contents").Insert(tx, 0, strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 45))
	})
	update := note.EncodeStateAsUpdate(nil)
	list.Transact(func(tx *ycrdt.Txn) {
		for i := range n {
			id := fmt.Sprintf("note-%d", i)
			noError(b, list.Map("docs").Set(tx, "/"+id+".md", id))
			noError(b, list.Map("filemeta_v0").Set(tx, "/"+id+".md", map[string]any{"id": id, "type": "markdown", "version": 0}))
		}
	})
	for i := range n {
		id := fmt.Sprintf("note-%d", i)
		_, err := st.Append(model.DocID(id), model.Path(id+".md"), model.Record{Update: update, Time: time.Now()})
		noError(b, err)
	}
	if len(folder.List()) != n {
		b.Fatal("the folder's document is not one")
	}
	_, err = st.Append("folder", "/", model.Record{Update: list.EncodeStateAsUpdate(nil), Time: time.Now()})
	noError(b, err)
	noError(b, st.Close())
}
