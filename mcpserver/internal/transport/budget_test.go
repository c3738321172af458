package transport_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/relayfs/relayfs/mcpserver/internal/transport"
)

func TestBudget(t *testing.T) {
	b := transport.NewBudget(1 << 20)
	text := strings.Repeat("x", 600<<10)
	data, release, err := b.Read(strings.NewReader(text))
	if err != nil || string(data) != text {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if _, _, err := b.Read(strings.NewReader(text)); !errors.Is(err, transport.ErrBudget) {
		t.Errorf("a second one: %v", err)
	}
	small, end, err := b.Read(strings.NewReader("small"))
	if err != nil || string(small) != "small" {
		t.Errorf("a small one: %q, %v", small, err)
	}
	end()
	release()
	for range 10 { // those that fail give back what they took
		broken := io.MultiReader(bytes.NewReader(make([]byte, 300<<10)), iotest.ErrReader(io.ErrNoProgress))
		if _, _, err := b.Read(broken); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("one that breaks off: %v", err)
		}
	}
	if _, _, err := b.Read(iotest.OneByteReader(strings.NewReader(text[:400<<10]))); err != nil {
		t.Error(err)
	}
}
