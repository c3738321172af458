package transport

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/tests/need"
)

// What a server says fits into an error of one line.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"not yours": "not yours", "two\r\nlines\t": "two lines", "\x1b[2Jcleared\x00": "[2Jcleared", "\xff\xfe": "",
		strings.Repeat("é", maxSaid): strings.Repeat("é", maxSaid/2), "a" + strings.Repeat("é", maxSaid): "a" + strings.Repeat("é", maxSaid/2-1),
	} {
		if got := Said(text); got != want {
			t.Errorf("%.20q became %q, want %q", text, got, want)
		}
	}
}

// A server that takes in nothing does not make the queue grow beyond its bounds:
// the connection ends with a reason, and the next one compares anew.
func TestQueueOverflow(t *testing.T) {
	for name, frame := range map[string][]byte{"many": make([]byte, 4<<10), "large": make([]byte, 3<<20)} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if conn, err := websocket.Accept(w, r, nil); err == nil {
					<-over // it never reads
					conn.CloseNow()
				}
			}))
			defer srv.Close()
			defer close(over)
			s, err := dial(context.Background(), http.DefaultClient, strings.Replace(srv.URL, "http", "ws", 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 100 * queueFrames {
				if s.ctx.Err() != nil {
					break
				}
				s.Send(frame)
				s.mu.Lock()
				frames, bytes := len(s.queue), s.queued
				s.mu.Unlock()
				if frames > queueFrames || bytes > queueBytes {
					t.Fatalf("%d frames with %d bytes wait", frames, bytes)
				}
			}
			select {
			case <-s.ctx.Done():
			case <-time.After(need.Scaled(time.Minute)):
				t.Fatal("the connection lives")
			}
			if !errors.Is(s.Err(), errOverflow) {
				t.Errorf("it ended with %v", s.Err())
			}
		})
	}
}

// A link goes on after a frame of a type that relayfs does not support.
func TestUnknownFramesAreIgnored(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for _, frame := range [][]byte{{99, 1, 2}, ysync.AppendStep1(nil, []byte{0})} {
			_ = conn.Write(r.Context(), websocket.MessageBinary, frame)
		}
		_, _, _ = conn.Read(r.Context())
	}))
	defer s.Close()
	address, err := ParseAddress("ws" + strings.TrimPrefix(s.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(address, "folder", nil, nil, 1).Open(t.Context(), "note")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	select {
	case f := <-l.Frames():
		if f.Type != ysync.Sync || f.Step != ysync.Step1 {
			t.Errorf("frame %+v", f)
		}
	case <-l.Done():
		t.Errorf("the link ended: %v", l.Err())
	}
}
