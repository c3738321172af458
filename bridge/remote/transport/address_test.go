package transport

import (
	"strings"
	"testing"
)

// A token in an address is percent-encoded.
func TestTokenInAddress(t *testing.T) {
	if a, err := ParseAddress("yss://key.a%2Fb%3D@example.org"); err != nil || a.Token != "key.a/b=" {
		t.Errorf("the token is %q, %v", a.Token, err)
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"ys://localhost:8080":             "ys://localhost:8080",
		"yss://secret@h.example/p":        "yss://h.example/p",
		"ys://[::1]:80/p/q/":              "ys://[::1]:80/p/q",
		"ws://h/rooms/":                   "ws://h/rooms",
		"wss://secret@h:1234":             "wss://h:1234",
		"hocuspocus+ws://h:1/collab?x=1#": "hocuspocus+ws://h:1/collab",
		"hocuspocus+wss://h":              "hocuspocus+wss://h",
		"relay+https://api.h/":            "relay+https://api.h",
	} {
		a, err := ParseAddress(text)
		if err != nil || a.String() != want || strings.Contains(text, "secret") != (a.Token == "secret") {
			t.Errorf("ParseAddress(%q) = %v, token %q, %v, want %s", text, a, a.Token, err, want)
		}
	}
	for _, text := range []string{"", "dir", "gopher://h", "ws://", "ys://", "ws://user:secret@h", "ys://h:99999", "ys://secret@h:0", "ys://secret@", "ys://secret:x@h", "ys://secret@h:x", "ys://sec%ret@h", "wss://secret@h:65536", "secret@h", "secret@ys://h"} {
		if a, err := ParseAddress(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseAddress(%q) = %v, %v", text, a, err)
		}
	}
}
