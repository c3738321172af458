package ysync_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/tests/need"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hiUpdate is the update of a document in which client 1 wrote "hi".
const hiUpdate = "01010100040108636f6e74656e747302686900"

func TestFramesOfYWebsocket(t *testing.T) {
	sv, update := []byte{1, 1, 2}, unhex(t, hiUpdate)
	for name, c := range map[string]struct {
		got  []byte
		want string
		f    ysync.Frame
	}{
		"step 1":       {ysync.AppendStep1(nil, sv), "000003010102", ysync.Frame{Type: ysync.Sync, Step: ysync.Step1, Payload: sv}},
		"empty step 1": {ysync.AppendStep1(nil, []byte{0}), "00000100", ysync.Frame{Type: ysync.Sync, Step: ysync.Step1, Payload: []byte{0}}},
		"empty step 2": {ysync.AppendStep2(nil, []byte{0, 0}), "0001020000", ysync.Frame{Type: ysync.Sync, Step: ysync.Step2, Payload: []byte{0, 0}}},
		"step 2":       {ysync.AppendStep2(nil, update), "000113" + hiUpdate, ysync.Frame{Type: ysync.Sync, Step: ysync.Step2, Payload: update}},
		"update":       {ysync.AppendUpdate(nil, update), "000213" + hiUpdate, ysync.Frame{Type: ysync.Sync, Step: ysync.Update, Payload: update}},
		"awareness":    {ysync.AppendAwareness(nil, []byte{0}), "010100", ysync.Frame{Type: ysync.AwarenessState, Payload: []byte{0}}},
		"query":        {[]byte{3}, "03", ysync.Frame{Type: ysync.QueryAwareness}},
		"granted":      {[]byte{2, 1}, "0201", ysync.Frame{Type: ysync.Auth, Auth: ysync.Authenticated}},
		"denied":       {[]byte{2, 0, 2, 'n', 'o'}, "0200026e6f", ysync.Frame{Type: ysync.Auth, Auth: ysync.PermissionDenied, Text: "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hex.EncodeToString(c.got); got != c.want {
				t.Errorf("frame is %s, want %s", got, c.want)
			}
			f, err := ysync.Decode(c.got)
			if err != nil || fmt.Sprint(f) != fmt.Sprint(c.f) {
				t.Errorf("Decode = %v, %v, want %v", f, err, c.f)
			}
		})
	}
}

func TestFramesOfRelayServer(t *testing.T) {
	for name, c := range map[string]struct {
		got  []byte
		want string
		f    ysync.Frame
	}{
		"echo":          {ysync.AppendEcho(nil, []byte{7}), "660107", ysync.Frame{Type: ysync.Echo, Payload: []byte{7}}},
		"empty echo":    {ysync.AppendEcho(nil, nil), "6600", ysync.Frame{Type: ysync.Echo, Payload: []byte{}}},
		"event":         {ysync.AppendEvent(nil, []byte{0xa0}), "0401a0", ysync.Frame{Type: ysync.Event, Payload: []byte{0xa0}}},
		"subscribe":     {ysync.AppendSubscribe(nil, ysync.DocumentUpdated), "050110646f63756d656e742e75706461746564", ysync.Frame{Type: ysync.Subscribe, Names: []string{"document.updated"}}},
		"query subdocs": {ysync.AppendQuerySubdocs(nil, "d1", "d2"), "0702026431026432", ysync.Frame{Type: ysync.QuerySubdocs, Names: []string{"d1", "d2"}}},
		"subdocs":       {ysync.AppendSubdocs(nil, []byte{0xa0}), "0801a0", ysync.Frame{Type: ysync.Subdocs, Payload: []byte{0xa0}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hex.EncodeToString(c.got); got != c.want {
				t.Errorf("frame is %s, want %s", got, c.want)
			}
			f, err := ysync.Decode(c.got)
			if err != nil || !reflect.DeepEqual(f, c.f) {
				t.Errorf("Decode = %+v, %v, want %+v", f, err, c.f)
			}
		})
	}
}

func TestQuerySubdocsLimit(t *testing.T) {
	documents := make([]string, ysync.MaxQuerySubdocs+1)
	if _, err := ysync.Decode(ysync.AppendQuerySubdocs(nil, documents[1:]...)); err != nil {
		t.Errorf("%d documents: %v", ysync.MaxQuerySubdocs, err)
	}
	for _, docs := range [][]string{nil, documents} {
		if _, err := ysync.Decode(ysync.AppendQuerySubdocs(nil, docs...)); !errors.Is(err, ysync.ErrMalformed) {
			t.Errorf("%d documents: %v, want ErrMalformed", len(docs), err)
		}
	}
}

// TestUnknownTypes decodes frames of types that other peers, or other versions,
// may send. Values of this package that are none on the wire are among them.
func TestUnknownTypes(t *testing.T) {
	for _, frame := range []string{"0600", "0900", "6500", "e807", "8402", "ffffffffffffff0f"} {
		if _, err := ysync.Decode(unhex(t, frame)); !errors.Is(err, ysync.ErrUnknownType) {
			t.Errorf("%s: Decode = %v, want ErrUnknownType", frame, err)
		}
	}
	for _, frame := range []string{"01610b", "016166", "01618402"} {
		if _, err := ysync.DecodeHocuspocus(unhex(t, frame)); !errors.Is(err, ysync.ErrUnknownType) {
			t.Errorf("%s: DecodeHocuspocus = %v, want ErrUnknownType", frame, err)
		}
	}
}

func TestFramesOfHocuspocus(t *testing.T) {
	doc := ysync.AppendDocument(nil, "doc1")
	frame := func(body []byte) []byte { return append(bytes.Clone(doc), body...) }
	for name, c := range map[string]struct {
		got  []byte
		want string
		f    ysync.Frame
	}{
		"token":         {frame(ysync.AppendToken(nil, "secret", "4.8.0")), "04646f633102000673656372657405342e382e30", ysync.Frame{Document: "doc1", Type: ysync.Auth, Auth: ysync.Token, Text: "secret"}},
		"token request": {frame([]byte{2, 0}), "04646f63310200", ysync.Frame{Document: "doc1", Type: ysync.Auth, Auth: ysync.Token}},
		"authenticated": {frame(append([]byte{2, 2, 10}, "read-write"...)), "04646f633102020a726561642d7772697465", ysync.Frame{Document: "doc1", Type: ysync.Auth, Auth: ysync.Authenticated, Text: "read-write"}},
		"denied":        {frame([]byte{2, 1, 2, 'n', 'o'}), "04646f63310201026e6f", ysync.Frame{Document: "doc1", Type: ysync.Auth, Auth: ysync.PermissionDenied, Text: "no"}},
		"step 1":        {frame(ysync.AppendStep1(nil, []byte{0})), "04646f633100000100", ysync.Frame{Document: "doc1", Type: ysync.Sync, Payload: []byte{0}}},
		"saved":         {frame([]byte{8, 1}), "04646f63310801", ysync.Frame{Document: "doc1", Type: ysync.SyncStatus, Saved: true}},
		"not saved":     {frame([]byte{8, 0}), "04646f63310800", ysync.Frame{Document: "doc1", Type: ysync.SyncStatus}},
		"close":         {frame([]byte{7, 2, 'n', 'o'}), "04646f633107026e6f", ysync.Frame{Document: "doc1", Type: ysync.Close, Text: "no"}},
		"reply":         {frame([]byte{4, 0, 1, 0}), "04646f633104000100", ysync.Frame{Document: "doc1", Type: ysync.SyncReply, Payload: []byte{0}}},
		"ping":          {[]byte{9}, "09", ysync.Frame{Type: ysync.Ping}},
		"pong":          {[]byte{10}, "0a", ysync.Frame{Type: ysync.Pong}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hex.EncodeToString(c.got); got != c.want {
				t.Errorf("frame is %s, want %s", got, c.want)
			}
			f, err := ysync.DecodeHocuspocus(c.got)
			if err != nil || fmt.Sprint(f) != fmt.Sprint(c.f) {
				t.Errorf("DecodeHocuspocus = %v, %v, want %v", f, err, c.f)
			}
		})
	}
}

func TestFrameErrors(t *testing.T) {
	for name, frame := range map[string]string{
		"empty":               "",
		"unknown step":        "000300",
		"no payload":          "0000",
		"payload too long":    "0000ffffffff0f00",
		"length above 2^53-1": "0000ffffffffffffff7f",
		"varint without end":  "ffffffffffffffffffffff",
		"reason is no UTF-8":  "020001ff",
		"unknown auth":        "0209026e6f",
	} {
		if _, err := ysync.Decode(unhex(t, frame)); !errors.Is(err, ysync.ErrMalformed) {
			t.Errorf("%s: Decode = %v, want ErrMalformed", name, err)
		}
		if _, err := ysync.DecodeHocuspocus(unhex(t, "0161"+frame)); !errors.Is(err, ysync.ErrMalformed) {
			t.Errorf("%s: DecodeHocuspocus = %v, want ErrMalformed", name, err)
		}
	}
	for name, frame := range map[string]string{
		"more names than bytes": "05ffffffff0f01",
		"name is cut":           "05020161",
		"name is no UTF-8":      "070101ff",
		"event is cut":          "0402a0",
		"echo without length":   "66",
	} {
		if _, err := ysync.Decode(unhex(t, frame)); !errors.Is(err, ysync.ErrMalformed) {
			t.Errorf("%s: Decode = %v, want ErrMalformed", name, err)
		}
	}
	if _, err := ysync.DecodeHocuspocus(unhex(t, "01ff03")); !errors.Is(err, ysync.ErrMalformed) {
		t.Errorf("document name that is no UTF-8: %v, want ErrMalformed", err)
	}
}

func TestEncodeAwareness(t *testing.T) {
	update := ysync.EncodeAwareness(1, 1, []byte(`{"user":{"name":"é"}}`))
	if got, want := hex.EncodeToString(update), "010101167b2275736572223a7b226e616d65223a22c3a9227d7d"; got != want {
		t.Errorf("update is %s, want %s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0})
	f.Add(ysync.AppendQuerySubdocs(nil, "d1", "d2"))
	f.Add(ysync.AppendEcho(nil, []byte{7}))
	f.Add([]byte{4, 'd', 'o', 'c', '1', 2, 0, 1, 'x', 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, decode := range []func([]byte) (ysync.Frame, error){ysync.Decode, ysync.DecodeHocuspocus} {
			need.Call(t, frame, func() {
				_, err := decode(frame)
				if err != nil && !errors.Is(err, ysync.ErrMalformed) && !errors.Is(err, ysync.ErrUnknownType) {
					t.Errorf("%x: %v wraps neither sentinel", frame, err)
				}
			})
		}
	})
}
