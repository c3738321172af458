package yserve_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// update is a Yjs update that types text at the start of a note.
func update(text string) string {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(nil, func(txn *ycrdt.Txn) { doc.Text("contents").Insert(txn, 0, text) })
	return string(doc.EncodeStateAsUpdate(nil))
}

func TestHTTP(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	all, full, read := s.mint("server", token.Claims{}), s.mint("doc:"+id+":rw", token.Claims{}), s.mint("doc:"+id+":r", token.Claims{})
	for _, tc := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/ready", "", "", 200},
		{"POST", "/check_store", "", "", 401},
		{"POST", "/check_store", full, "", 401},
		{"POST", "/check_store", all, "{}", 200},
		{"POST", "/doc/new", all, `{"docId":"a-b_C1"}`, 200},
		{"POST", "/doc/new", all, `{"docId":"a-b_C1"}`, 200},
		{"POST", "/doc/new", all, `{"docId":"a/b"}`, 400},
		{"POST", "/doc/new", all, `{`, 400},
		{"POST", "/doc/new", full, `{"docId":"` + id + `"}`, 401},
		{"POST", "/doc/new", s.mint("prefix:a-:rw", token.Claims{}), `{"docId":"a-1"}`, 200},
		{"POST", "/doc/new", s.mint("prefix:a-:r", token.Claims{}), `{"docId":"a-2"}`, 403},
		{"POST", "/doc/unknown/auth", all, "", 404},
		{"POST", "/doc/" + id + "/auth", full, "", 401},
		{"POST", "/doc/" + id + "/auth", all, `{"authorization":"admin"}`, 400},
		{"POST", "/doc/" + id + "/auth", all, `{"validForSeconds":-1}`, 400},
		{"POST", "/doc/" + id + "/auth", all, strings.Repeat(" ", 1<<20), 413},
		{"POST", "/doc/" + id + "/auth", all, "", 200},
		{"GET", "/d/" + id + "/as-update", read, "", 200},
		{"GET", "/doc/" + id + "/as-update", read, "", 200},
		{"GET", "/d/unknown/as-update", read, "", 401},
		{"GET", "/d/unknown/as-update", all, "", 200},
		{"GET", "/d/unknown/as-update", s.mint("doc:unknown:r", token.Claims{}), "", 404},
		{"GET", "/d/" + id + "/versions", read, "", 200},
		{"GET", "/d/" + id + "/else", read, "", 404},
		{"POST", "/d/" + id + "/update", read, update("x"), 403},
		{"POST", "/d/" + id + "/update", full, "nonsense", 400},
		{"POST", "/d/" + id + "/update", full, update("x"), 200},
		{"POST", "/doc/" + id + "/update", full, update("y"), 200},
		{"GET", "/no/such/page", all, "", 404},
	} {
		if got, body := s.call(tc.method, tc.path, tc.token, tc.body); got != tc.want {
			t.Errorf("%s %s: %d %s, want %d", tc.method, tc.path, got, body, tc.want)
		}
	}
	if got := s.read("Notes/Plan.md"); !strings.Contains(got, "x") || !strings.Contains(got, "y") || !strings.Contains(got, "one\n") {
		t.Errorf("a reader sees %q", got)
	}
}

func TestClientToken(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	ct := s.clientToken(id, `{"authorization":"read-only","userId":"ann","validForSeconds":60}`)
	if ct.DocID != id || ct.BaseURL != s.url+"/d/"+id || ct.URL != "ws"+strings.TrimPrefix(ct.BaseURL, "http")+"/ws" || ct.Authorization != token.ReadOnly {
		t.Errorf("client token is %+v", ct)
	}
	c, err := token.Ring{s.key}.Verify(ct.Token, "", time.Now())
	if err != nil || c.User != "ann" || c.Channel != s.id("Notes") || c.Scope.String() != "doc:"+id+":r" {
		t.Errorf("its token says %+v, %v", c, err)
	}
	if left := time.Until(c.Expires); left > time.Minute || left <= 0 {
		t.Errorf("it is good for %v", left)
	}
}

// A server with a URL takes tokens for that URL alone, and tells it to clients.
func TestURL(t *testing.T) {
	const url = "https://notes.example/sync"
	s := serve(t, func(o *yserve.Options) { o.URL = url })
	if status, _ := s.call("POST", "/doc/new", s.mint("server", token.Claims{}), ""); status != http.StatusUnauthorized {
		t.Errorf("a token without an audience: status %d", status)
	}
	good := s.mint("server", token.Claims{Audience: url})
	status, body := s.call("POST", "/doc/"+s.id("Notes")+"/auth", good, "")
	var ct token.ClientToken
	if err := json.Unmarshal([]byte(body), &ct); status != 200 || err != nil || !strings.HasPrefix(ct.URL, "wss://notes.example/sync/d/") {
		t.Errorf("client token is %d %s", status, body)
	}
}

// A server that only checks tokens makes none.
func TestPublicKeyOnly(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Mint = nil })
	status, _ := s.call("POST", "/doc/"+s.id("Notes")+"/auth", s.mint("server", token.Claims{}), "")
	if status != http.StatusInternalServerError {
		t.Errorf("auth without a private key: status %d", status)
	}
}

func TestOpenServerNeedsNoToken(t *testing.T) {
	s := serve(t, open)
	status, body := s.call("POST", "/doc/"+s.id("Notes")+"/auth", "", "")
	if status != 200 || strings.Contains(body, `"token"`) {
		t.Errorf("auth: %d %s", status, body)
	}
}

// Relay's plugin puts the id of the relay in front of every id, also of a note
// that it uploads before it enters that, without, in the folder document.
func TestRelayIDs(t *testing.T) {
	const relay = "5f0c2f3e-0000-4000-8000-00000000000a"
	s := serve(t, func(o *yserve.Options) { o.Relay = relay })
	id, folderID := s.id("Notes/Plan.md"), s.id("Notes")
	prefix := s.mint("prefix:"+relay+"-:rw", token.Claims{})
	if status, _ := s.call("GET", "/d/"+id+"/as-update", prefix, ""); status != http.StatusUnauthorized {
		t.Errorf("a token for the relay opens an id without it: %d", status)
	}
	ct := s.clientToken(relay+"-"+id, "")
	if c, err := (token.Ring{s.key}).Verify(ct.Token, "", time.Now()); err != nil || ct.DocID != relay+"-"+id || c.Channel != relay+"-"+folderID {
		t.Errorf("client token is %+v, says %+v, %v", ct, c, err)
	}
	folder := s.dial(s.url + "/d/" + relay + "-" + folderID + "/ws/" + relay + "-" + folderID + "?token=" + prefix)
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	folder.sync()
	note := s.dial(ct.WebsocketURL())
	note.untilText("one\n")
	note.insert(0, "x")
	var ev map[string]any
	if err := cbor.Unmarshal(folder.frame(ysync.Event).Payload, &ev); err != nil || ev["doc_id"] != relay+"-"+id {
		t.Errorf("the event is %v, %v", ev, err)
	}
	folder.send(ysync.AppendQuerySubdocs(nil, relay+"-"+id))
	var answer struct {
		Data map[string]any `cbor:"data"`
	}
	if err := cbor.Unmarshal(folder.frame(ysync.Subdocs).Payload, &answer); err != nil || answer.Data[relay+"-"+id] == nil {
		t.Errorf("subdocs are %v, %v", answer.Data, err)
	}
	if status, _ := s.call("POST", "/d/"+relay+"-new-note/update", prefix, update("uploaded\n")); status != 200 {
		t.Errorf("upload: %d", status)
	}
	before := folder.doc.EncodeStateVector()
	folder.doc.Transact("me", func(txn *ycrdt.Txn) {
		meta := map[string]any{"id": "new-note", "type": "markdown", "version": 0}
		if err := errors.Join(folder.doc.Map("docs").Set(txn, "/New.md", "new-note"), folder.doc.Map("filemeta_v0").Set(txn, "/New.md", meta)); err != nil {
			t.Error(err)
		}
	})
	folder.send(ysync.AppendUpdate(nil, folder.doc.EncodeStateAsUpdate(before)))
	folder.sync()
	if got := s.SourceText("Notes/New.md"); got != "uploaded\n" {
		t.Errorf("the new file has %q", got)
	}
}
