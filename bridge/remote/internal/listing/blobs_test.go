package listing_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/internal/listing"
)

func TestCache(t *testing.T) {
	dir := t.TempDir()
	c, err := listing.OpenCache(owner.Folder(dir))
	if err != nil {
		t.Fatal(err)
	}
	hash, err := c.Put([]byte("picture"))
	if err != nil || !listing.ValidHash(hash) || !c.Has(hash) || c.Size(hash) != 7 {
		t.Fatalf("Put = %q, %v", hash, err)
	}
	if data, err := c.Read(hash); string(data) != "picture" {
		t.Errorf("Read = %q, %v", data, err)
	}
	other := strings.Repeat("0", 64)
	if err := c.Fill(other, strings.NewReader("picture")); !errors.Is(err, listing.ErrHash) || c.Has(other) {
		t.Errorf("Fill with another hash = %v", err)
	}
	left := filepath.Join(dir, ".part-of a crash")
	if err := os.WriteFile(left, []byte("pic"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := listing.OpenCache(owner.Folder(dir))
	if err != nil || again.Size(hash) != 7 {
		t.Errorf("after a restart: %d bytes, %v", again.Size(hash), err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("%v are left", names)
	}
}

func TestValidHash(t *testing.T) {
	for s, want := range map[string]bool{
		strings.Repeat("0a", 32): true, strings.Repeat("0A", 32): false, "": false, "../x": false, strings.Repeat("0", 62): false,
	} {
		if got := listing.ValidHash(s); got != want {
			t.Errorf("ValidHash(%q) = %v", s, got)
		}
	}
}
