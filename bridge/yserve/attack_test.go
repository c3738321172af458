package yserve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// held is what the process holds on to.
type held struct{ goroutines, files int }

func holds(t *testing.T) held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here")
	}
	return held{runtime.NumGoroutine(), len(files)}
}

// returnsTo waits until no more is held than at before, but for a few things of
// the HTTP client's.
func returnsTo(t *testing.T, before held) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		now := holds(t)
		if now.goroutines <= before.goroutines+5 && now.files <= before.files+5 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("held are %+v, before it was %+v", now, before)
		}
	}
}

// Clients that come and go, politely or not, leave nothing behind.
func TestConnectionsLeaveNothing(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	s := serve(t)
	id := s.id("Notes/Plan.md")
	urls := []string{
		s.url + "/d/" + id + "/ws/" + id + "?token=" + s.mint("server", token.Claims{}),
		s.url + "/?token=" + s.mint("server", token.Claims{}),
		s.url + "/d/" + id + "/ws/" + id + "?token=nonsense",
	}
	s.join(id, "").untilText("one\n")
	before := holds(t)
	var clients sync.WaitGroup
	for worker := range 50 {
		clients.Go(func() {
			for i := range n / 50 {
				storm(t, urls[(worker+i)%len(urls)], i)
			}
		})
	}
	clients.Wait()
	returnsTo(t, before)
	s.join(id, "").untilText("one\n")
}

// storm opens one connection, says something perhaps, and drops it.
func storm(t *testing.T, url string, i int) {
	ws, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		return // refused
	}
	switch i % 4 {
	case 0:
		_ = ws.Write(t.Context(), websocket.MessageBinary, ysync.AppendStep1(nil, []byte{0}))
	case 1:
		_ = ws.Write(t.Context(), websocket.MessageBinary, tokenFrame("Notes/Plan.md", ""))
	case 2:
		_ = ws.Close(websocket.StatusNormalClosure, "")
		return
	}
	_ = ws.CloseNow()
}

// Random bytes, and frames that were cut or changed, change nothing and keep
// nobody else from working.
func TestRandomFrames(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	good := s.join(id, "")
	good.untilText("one\n")
	before := holds(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	reader := token.Claims{}
	for i := range 500 {
		url := s.url + "/d/" + id + "/ws/" + id + "?token=" + s.mint("doc:"+id+":r", reader)
		frames := seedFrames(id)
		if i%2 == 1 {
			url, frames = s.url+"/?token="+s.mint("doc:"+id+":r", reader), seedNamed(id)
		}
		ws, _, err := websocket.Dial(t.Context(), url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			_ = ws.Write(t.Context(), websocket.MessageBinary, damaged(rnd, frames[rnd.IntN(len(frames))]))
		}
		_ = ws.CloseNow()
	}
	returnsTo(t, before)
	good.insert(0, "still ")
	if got := s.read("Notes/Plan.md"); got != "still one\n" {
		t.Errorf("a reader sees %q", got)
	}
}

func seedFrames(id string) [][]byte {
	return [][]byte{
		ysync.AppendStep1(nil, []byte{1, 5, 3}), ysync.AppendStep2(nil, []byte(update("x"))), ysync.AppendUpdate(nil, []byte(update("evil"))),
		ysync.AppendAwareness(nil, []byte{1, 7, 1, 2, '{', '}'}), ysync.AppendSubscribe(nil, ysync.DocumentUpdated),
		ysync.AppendQuerySubdocs(nil, id), ysync.AppendEcho(nil, []byte("x")), {byte(ysync.QueryAwareness)},
	}
}

func seedNamed(id string) [][]byte {
	frames := [][]byte{tokenFrame(id, ""), named(id, ysync.AppendClose(nil, ""))}
	for _, f := range seedFrames(id) {
		frames = append(frames, named(id, f))
	}
	return frames
}

// damaged cuts, changes or lengthens a frame.
func damaged(rnd *rand.Rand, frame []byte) []byte {
	frame = bytes.Clone(frame)
	switch rnd.IntN(4) {
	case 0:
		return frame[:rnd.IntN(len(frame))]
	case 1:
		frame[rnd.IntN(len(frame))] = byte(rnd.Uint32())
	case 2:
		for range 1 + rnd.IntN(20) {
			frame = append(frame, byte(rnd.Uint32()))
		}
	}
	return frame
}

// A client that asks for much and reads nothing waits; it gets all that it asked
// for once it reads.
func TestAnswersWait(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Backlog, o.Limits.Queue = 4<<20, 16 })
	id := s.id("Notes/Plan.md")
	s.join(id, "").insert(0, strings.Repeat("x", 1<<20))
	url := s.url + "/d/" + id + "/ws/" + id + "?token=" + s.mint("server", token.Claims{})
	ws, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	const asked = 100
	var sending sync.WaitGroup
	sending.Go(func() {
		for range asked {
			if err := ws.Write(t.Context(), websocket.MessageBinary, ysync.AppendStep1(nil, []byte{0})); err != nil {
				t.Error(err)
			}
		}
	})
	sending.Wait() // they are small: the kernel takes them all
	for answers := 0; answers < asked; {
		_, data, err := ws.Read(t.Context())
		if err != nil {
			t.Fatalf("after %d answers: %v", answers, err)
		}
		if f, err := ysync.Decode(data); err == nil && f.Type == ysync.Sync && f.Step == ysync.Step2 {
			answers++
		}
	}
}

// A request whose body does not come holds nothing but its connection, and an
// end of the server does not wait for it.
func TestBodyThatDoesNotCome(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	good := s.join(id, "")
	good.untilText("one\n")
	before := holds(t)
	var conns []net.Conn
	for i := range 100 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		head := fmt.Sprintf("POST /d/%s/update HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\n", id, s.mint("server", token.Claims{}))
		if i%2 == 0 {
			head = head[:len(head)/2]
		}
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
	}
	good.insert(0, "x")
	for _, c := range conns {
		c.Close()
	}
	returnsTo(t, before)
}

// Names that try to leave their place, bodies that are none, methods that do not
// exist: each gets a client's error, and nothing changes.
func TestBadRequests(t *testing.T) {
	s := serve(t)
	id, all := s.id("Notes/Plan.md"), s.mint("server", token.Claims{})
	v2 := "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00"
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/doc/new", `{"docId":"../../etc/passwd"}`},
		{"POST", "/doc/new", `{"docId":"a\u0000b"}`},
		{"POST", "/doc/new", `{"docId":7}`},
		{"POST", "/doc/new", `[]`},
		{"POST", "/doc/new", strings.Repeat("[", 60<<10)},
		{"POST", "/doc/new", `{"docId":"` + strings.Repeat("x", 300) + `"}`},
		{"POST", "/doc/..%2F..%2Fx/auth", ""},
		{"POST", "/doc/" + id + "/auth", `{"validForSeconds":1e300}`},
		{"POST", "/doc/" + id + "/auth", `{"validForSeconds":"x"}`},
		{"POST", "/doc/" + id + "/auth", `{"authorization":null,"userId":{}}`},
		{"GET", "/d/%2E%2E%2Fx/as-update", ""},
		{"GET", "/d/" + id + "/as-update/more", ""},
		{"POST", "/d/" + id + "/update", ""},
		{"POST", "/d/" + id + "/update", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
		{"POST", "/d/" + id + "/update", "\x01\xff\xff\xff\x7f"},
		{"POST", "/d/" + id + "/update", v2},
		{"POST", "/d/" + id + "/update", update("x")[:10]},
		{"DELETE", "/d/" + id, ""},
		{"PUT", "/d/" + id + "/update", update("x")},
		{"PATCH", "/doc/new", ""},
		{"GET", "/d/" + id + "/ws/" + id, ""},
		{"GET", "/", ""},
		{"GET", "/..%2F..%2Fetc%2Fpasswd", ""},
		{"TRACE", "/ready", ""},
	} {
		got, body := s.call(tc.method, tc.path, all, tc.body)
		if got < 400 || got >= 500 {
			t.Errorf("%s %.60s %.40q: %d %.80s", tc.method, tc.path, tc.body, got, body)
		}
	}
	if got := s.read("Notes/Plan.md"); got != "one\n" {
		t.Errorf("a reader sees %q", got)
	}
}

// An update in Yjs's other format ends the connection, and is not taken for one
// that it is not.
func TestUpdateV2(t *testing.T) {
	s := serve(t)
	p := s.join(s.id("Notes/Plan.md"), "")
	p.untilText("one\n")
	// yjs: encodeStateAsUpdateV2 of a document with "hi" in the text "contents".
	p.send(ysync.AppendUpdate(nil, []byte{0, 0, 5, 177, 207, 231, 180, 7, 0, 0, 1, 132, 14, 8, 'c', 'o', 'n', 't', 'e', 'n', 't', 's', 'h', 'i', 8, 2, 1, 1, 0, 1, 1, 0, 0}))
	if code := p.closed(); code != websocket.StatusInvalidFramePayloadData {
		t.Errorf("the connection ends with %d", code)
	}
	if got := s.read("Notes/Plan.md"); got != "one\n" {
		t.Errorf("a reader sees %q", got)
	}
}

// A ping that is not answered ends the connection.
func TestSilentClient(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Ping = 50 * time.Millisecond })
	id := s.id("Notes/Plan.md")
	before := holds(t)
	url := s.url + "/d/" + id + "/ws/" + id + "?token=" + s.mint("server", token.Claims{})
	ws, _, err := websocket.Dial(context.Background(), url, nil) // who does not read, does not answer
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	returnsTo(t, held{before.goroutines, before.files + 1})
}
