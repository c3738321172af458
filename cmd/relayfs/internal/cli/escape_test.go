package cli

import (
	"testing"
)

func TestPrintable(t *testing.T) {
	if got, want := Printable("a\r\nb\tc\x07\x7f\u0085\u202ed\r"), "a\nb\tc␇���d␍"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
