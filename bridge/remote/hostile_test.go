package remote_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// hostile makes the frames of a server worse.
type hostile struct {
	named  bool // whether frames begin with the name of a document, as those of Hocuspocus
	damage bool // whether frames may be valid, but others than the server's

	mu    sync.Mutex // protects the following
	calm  bool
	r     *rand.Rand
	seen  [][]byte
	after []byte // arrives after the next frame
}

func (h *hostile) mangle(frame []byte) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calm {
		return [][]byte{frame}
	}
	r := h.r
	if len(h.seen) < 100 {
		h.seen = append(h.seen, frame)
	} else {
		h.seen[r.IntN(100)] = frame
	}
	out := [][]byte{frame}
	switch n := r.IntN(24); {
	case n == 0:
		out = [][]byte{frame[:r.IntN(len(frame)+1)]}
	case n == 1:
		out = append(out, h.noise())
	case n == 2:
		out = append(out, randomtest.Some(r, 1, 20, h.seen...)...)
	case n == 3:
		h.after, out = frame, nil
	case n == 4:
		out = append(out, h.made(frame))
	case n == 5:
		at := r.IntN(len(frame) + 1)
		out = [][]byte{slices.Concat(frame[:at], binary.AppendUvarint(nil, 1<<r.IntN(60)), frame[at:])}
		if !h.damage {
			out[0] = out[0][:at+1]
		}
	case n == 6:
		out = nil
	case n < 10 && h.damage:
		out = [][]byte{randomtest.Damage(r, frame)}
	}
	if len(out) > 0 && h.after != nil {
		out, h.after = append(out, h.after), nil
	}
	return out
}

func (h *hostile) noise() []byte {
	noise := make([]byte, h.r.IntN(40))
	for i := range noise {
		noise[i] = byte(h.r.Uint32() >> h.r.IntN(8))
	}
	return noise
}

// made returns a frame that no server sends, for the document of another frame.
func (h *hostile) made(frame []byte) []byte {
	var name []byte
	if f, err := ysync.DecodeHocuspocus(frame); h.named && err == nil {
		name = ysync.AppendDocument(nil, f.Document)
	}
	text := func(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }
	long := text(strings.Repeat("no\x1b[2J\n", 100_000))
	return slices.Concat(name, randomtest.Pick(h.r,
		slices.Concat([]byte{2, 0}, long), slices.Concat([]byte{2, 1}, long), slices.Concat([]byte{7}, long), []byte{2, 0, 0}, []byte{2, 1, 0}, []byte{2, 2, 8, 'r', 'e', 'a', 'd', 'o', 'n', 'l', 'y'},
		[]byte{3}, []byte{8, 0}, []byte{8, 1}, []byte{8, 0}, []byte{9}, []byte{10}, bytes.Repeat([]byte{9}, 100_000), slices.Concat([]byte{5}, long),
		ysync.AppendStep1(nil, nil), ysync.AppendStep1(nil, []byte{0}), ysync.AppendStep1(nil, bytes.Repeat([]byte{0xff}, 1<<20)), ysync.AppendStep1(nil, []byte{1, 1, 1}),
		ysync.AppendStep2(nil, model.EmptyUpdate()), ysync.AppendStep2(nil, nil), ysync.AppendUpdate(nil, []byte{1, 0xff, 0xff, 3, 1, 0}),
		ysync.AppendUpdate(nil, append([]byte{1, 0x80, 0x80, 0x80, 8, 50, 0}, make([]byte, 40<<20)...)),
		ysync.AppendUpdate(nil, []byte{1, 1, 50, 9, 0x84, 51, 0, 1, 'x', 0}), ysync.AppendAwareness(nil, long), ysync.AppendEcho(nil, long), ysync.AppendEvent(nil, long),
		ysync.AppendEvent(nil, []byte{0xbf, 0x61, 'a', 0x9f, 0x9f, 0x9f}), ysync.AppendEvent(nil, bytes.Repeat([]byte{0x81}, 1<<20)), ysync.AppendSubdocs(nil, []byte{0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		ysync.AppendSubdocs(nil, long), ysync.AppendSubdocs(nil, []byte{0xa1, 0x61, 'a', 0x42, 0, 1}), ysync.AppendQuerySubdocs(nil, "a"),
	))
}

// A client survives whatever a server sends. It reports the fault in one sentence, and its writes reach the server once
// the server is well again. After damaged frames that are still valid, the documents of the two may differ. Even then
// the client works, and can open its stored documents.
func TestHostileServer(t *testing.T) {
	for _, damage := range []bool{false, true} {
		for _, kind := range kinds[:3] {
			t.Run(fmt.Sprintf("%s, damage %t", kind, damage), func(t *testing.T) {
				t.Parallel() // endurance takes as long as it takes
				underAttack(t, sharedServer(t, kind), damage)
			})
		}
	}
}

func underAttack(t *testing.T, s *server, damage bool) {
	const note = model.Path("Team/Note.md")
	first := mustOpen(t, s, direct)
	first.create(note, "start\n")
	first.awaitSent()
	proxy := newChaos(t, s)
	h := &hostile{named: s.kind == "hocuspocus", damage: damage, calm: true, r: randomtest.New(t)}
	proxy.mangle = h.mangle
	setCalm := func(calm bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calm = calm
	}
	dir := t.TempDir()
	impatient := func(o *remote.Options, _ *bridge.Options) { o.Resync = need.Scaled(300 * time.Millisecond) }
	c, err := open(t, proxy.address(s), s.folder, dir, direct, impatient)
	for err != nil { // on a busy machine the answer may be late
		c, err = open(t, proxy.address(s), s.folder, dir, direct, impatient)
	}
	c.await("the note", func() bool { _, err := c.Open(t.Context(), note); return err == nil })
	setCalm(false)
	writes, begin := 0, time.Now()
	for until := time.Now().Add(soak(t, 1500*time.Millisecond)); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		add := func(current *model.Version) (string, error) { return current.Text() + "w", nil }
		if _, err := c.Update(t.Context(), note, model.Author{Name: "ai"}, nil, add); err == nil {
			writes++
		} else if text := err.Error(); len(text) > 2000 || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("an error of %d bytes: %.300q", len(text), text)
		}
		if writes%8 == 0 {
			first.write(note, func(text string) string { return strings.Replace(text, "start", "start ", 1) })
		}
		if text := c.source.SyncStatus().LastError; len(text) > 2000 || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("LastError has %d bytes: %.300q", len(text), text)
		}
	}
	setCalm(true)
	t.Logf("%d writes in %v", writes, time.Since(begin))
	c.await("a connection", func() bool { return c.source.SyncStatus().Connected })
	if damage {
		c.stop()
		c, err = open(t, proxy.address(s), s.folder, dir, direct)
		noError(t, err)
		_, err = c.Open(t.Context(), note)
		noError(t, err)
		return
	}
	c.awaitSent()
	first.await("the words", func() bool {
		v, err := first.Open(t.Context(), note)
		noError(t, err)
		return strings.Count(v.Raw(), "w") == writes
	})
}
