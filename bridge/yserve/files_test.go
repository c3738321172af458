package yserve_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/ysync"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// address asks for an address to go on with, and returns its path and query.
func (s *served) address(method, path, tok, name string) string {
	s.t.Helper()
	status, text := s.call(method, path, tok, "")
	var answer map[string]string
	if err := json.Unmarshal([]byte(text), &answer); status != 200 || err != nil || !strings.HasPrefix(answer[name], s.url) {
		s.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return strings.TrimPrefix(answer[name], s.url)
}

// A client uploads an attachment as the plugin of Relay does, enters it in the
// folder document, and another one downloads it.
func TestAttachment(t *testing.T) {
	s := serve(t)
	const text = "not really a picture"
	hash := hashOf(text)
	write, read := s.mint("file:"+hash+":pic-1:rw", token.Claims{}), s.mint("file:"+hash+":pic-1:r", token.Claims{})
	if status, _ := s.call("HEAD", "/f/pic-1", read, ""); status != 404 {
		t.Errorf("before the upload: %d", status)
	}
	put := s.address("POST", "/f/pic-1/upload-url", write, "uploadUrl")
	if status, answer := s.call("PUT", put, "", text); status != 200 {
		t.Fatalf("upload: %d %s", status, answer)
	}
	if status, _ := s.call("HEAD", "/f/pic-1", read, ""); status != 200 {
		t.Errorf("after the upload: %d", status)
	}
	folder := s.join(s.id("Notes"), "ann")
	folder.sync()
	before := folder.doc.EncodeStateVector()
	folder.doc.Transact("me", func(txn *ycrdt.Txn) {
		if err := folder.doc.Map("filemeta_v0").Set(txn, "/pic.png", map[string]any{
			"id": "pic-1", "type": "image", "version": 0, "mimetype": "image/png", "hash": hash, "synctime": 1_700_000_000_000.0,
		}); err != nil {
			t.Error(err)
		}
	})
	folder.send(ysync.AppendUpdate(nil, folder.doc.EncodeStateAsUpdate(before)))
	folder.sync()
	if got := s.SourceText("Notes/pic.png"); got != text {
		t.Errorf("the file has %q", got)
	}
	if status, answer := s.call("DELETE", "/f/pic-1/"+hash, write, ""); status != 204 {
		t.Errorf("forgetting the upload: %d %s", status, answer)
	}
	get := s.address("GET", "/f/pic-1/download-url", read, "downloadUrl")
	if status, got := s.call("GET", get, "", ""); status != 200 || got != text {
		t.Errorf("download: %d %q", status, got)
	}
	// A prefix token names the hash itself, and needs none for what is newest.
	prefix := s.mint("prefix:pic-:r", token.Claims{})
	get = s.address("GET", "/f/pic-1/download-url?hash="+hash, prefix, "downloadUrl")
	if status, got := s.call("GET", get, "", ""); status != 200 || got != text {
		t.Errorf("download: %d %q", status, got)
	}
}

func TestAttachmentForm(t *testing.T) {
	s := serve(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "a.png")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte("picture")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tok := s.mint("file:"+hashOf("picture")+":pic:rw", token.Claims{})
	res, err := http.Post(s.url+"/f/pic/upload?token="+tok, w.FormDataContentType(), &form)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	status, list := s.call("GET", "/f/pic/history", tok, "")
	if res.StatusCode != 200 || status != 200 || !strings.Contains(list, `"size":7`) || !strings.Contains(list, hashOf("picture")) {
		t.Errorf("upload: %d, then %d %s", res.StatusCode, status, list)
	}
}

func TestAttachmentRefused(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.File = 1 << 10 })
	hash, all := hashOf("x"), s.mint("server", token.Claims{})
	write, read := s.mint("file:"+hash+":pic:rw", token.Claims{}), s.mint("file:"+hash+":pic:r", token.Claims{})
	for _, tc := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"POST", "/f/pic/upload-url", "", "", 401},
		{"POST", "/f/other/upload-url", write, "", 401},
		{"POST", "/f/pic/upload-url?hash=" + hashOf("y"), write, "", 401},
		{"POST", "/f/pic/upload-url", read, "", 403},
		{"POST", "/f/pic/upload-url", all, "", 400},
		{"POST", "/f/a.b/upload-url", all, "", 400},
		{"POST", "/f/..%2F..%2Fetc/upload-url?hash=" + hash, all, "", 400},
		{"PUT", "/f/pic/upload", read, "x", 403},
		{"PUT", "/f/pic/upload", write, "y", 400},
		{"PUT", "/f/pic/upload", all, "x", 400},
		{"PUT", "/f/pic/upload?hash=..%2F..%2Fx", all, "x", 404},
		{"PUT", "/f/pic/upload", write, strings.Repeat("x", 2<<10), 413},
		{"POST", "/f/pic/download", write, "", 405},
		{"GET", "/f/pic/download-url", write, "", 404},
		{"GET", "/f/pic/download?hash=" + strings.Repeat("..%2F", 8), all, "", 404},
		{"DELETE", "/f/pic", read, "", 403},
		{"DELETE", "/f/pic/" + hash, write, "", 404},
		{"GET", "/f/pic/history", read, "", 200},
	} {
		if got, body := s.call(tc.method, tc.path, tc.token, tc.body); got != tc.want {
			t.Errorf("%s %s: %d %s, want %d", tc.method, tc.path, got, body, tc.want)
		}
	}
}
