package model

import (
	"strings"
	"testing"
)

func TestCheckAuthor(t *testing.T) {
	for _, good := range []string{"", "ann", "Ann O'Hara (née 李)", strings.Repeat("x", 200)} {
		if err := CheckAuthor(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, want := range map[string]string{strings.Repeat("x", 201): "shorten it", "a\nb": "control", "a\x00b": "control", "\x1b[31m": "control", "a\xff": "UTF-8"} {
		if err := CheckAuthor(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", bad, err, want)
		}
	}
}
