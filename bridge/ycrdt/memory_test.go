package ycrdt

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/tests/need"
)

// smallest are updates of n of the smallest parts of each kind.
var smallest = map[string]func(n int) []byte{
	"GC":         func(n int) []byte { return uints(1, n, 50, 0, bytes.Repeat([]byte{0, 1}, n), 0) },
	"skip":       func(n int) []byte { return uints(1, n, 50, 0, bytes.Repeat([]byte{10, 1}, n), 0) },
	"empty text": func(n int) []byte { return uints(1, n, 50, 0, bytes.Repeat(uints(4, 1, "", ""), n), 0) },
	"text":       func(n int) []byte { return uints(1, n, 50, 0, bytes.Repeat(uints(4, 1, "", "x"), n), 0) },
	"type":       func(n int) []byte { return uints(1, n, 50, 0, bytes.Repeat(uints(7, 1, "", 0), n), 0) },
	"root": func(n int) []byte {
		return named(n, func(name []byte) []byte { return uints(4, 1, string(name), "x") })
	},
	"key": func(n int) []byte {
		return named(n, func(name []byte) []byte { return uints(0x24, 1, "", string(name), "x") })
	},
	"client":       func(n int) []byte { return clients(n, uints(0, 1)) },
	"empty client": func(n int) []byte { return clients(n, nil) },
	"deletes": func(n int) []byte {
		u := uints(1, 1, 50, 0, 0, 1<<31, 1, 50, n)
		for i := range n {
			u = lib0.AppendUint(lib0.AppendUint(u, uint64(2*i)), 1)
		}
		return u
	},
	"values": func(n int) []byte {
		return uints(1, 1, 50, 0, 0x28, 1, "m", "k", 1, byte(117), n, bytes.Repeat([]byte{127}, n), 0)
	},
}

func named(n int, part func(name []byte) []byte) []byte {
	u := uints(1, n, 50, 0)
	for i := range n {
		u = append(u, part([]byte{byte(33 + i%90), byte(33 + i/90%90), byte(33 + i/8100%90), byte(33 + i/729_000)})...)
	}
	return append(u, 0)
}

func clients(n int, part []byte) []byte {
	u := uints(n)
	for i := range n {
		u = append(u, uints(min(1, len(part)), i+1, 0, part)...)
	}
	return append(u, 0)
}

// An update takes no more memory than is estimated before.
func TestUpdatesTakeTheEstimatedMemory(t *testing.T) {
	const n = 50_000
	for name, make := range smallest {
		update := make(n)
		u, err := wire.Scan(update)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDoc(Options{ClientID: 1})
		before := need.Allocated()
		apply(t, d, update)
		d.Map("m").Get("k")
		const growth, ranges = 3, 64 // a list that grows is copied
		if got, estimate := int(need.Allocated()-before), u.Memory+ranges*len(u.Deletes); got > growth*estimate+1<<20 {
			t.Errorf("%s: %d bytes, want the estimate of %d", name, got/n, estimate/n)
		}
		runtime.KeepAlive(d)
	}
}

// An update of 256 MiB took up to 40 GB: the smallest struct has two bytes and takes 64.
func TestTooManyParts(t *testing.T) {
	const n = 17_000_000
	for name, n := range map[string]int{"GC": n, "type": n / 4, "key": n / 6, "client": 1 << 20, "empty client": 1 << 20, "deletes": n, "values": n} {
		update := smallest[name](n)
		d := some(t)
		before, allocated := d.EncodeStateAsUpdate(nil), need.Allocated()
		if err := d.ApplyUpdate(update); !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: ApplyUpdate = %v", name, err)
		}
		if got := need.Allocated() - allocated; got > need.MaxBytes {
			t.Errorf("%s: allocated %d bytes", name, got)
		}
		if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
			t.Errorf("%s: the document has changed", name)
		}
	}
}

// The parts of several updates are limited too.
func TestTooManyPartsOneByOne(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	update := clients(600_000, uints(0, 1))
	apply(t, d, update)
	if err := d.ApplyUpdate(update); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ApplyUpdate = %v, want ErrTooLarge", err)
	}
}

func TestStateVectorsAreLimited(t *testing.T) {
	vector := uints(3<<20, bytes.Repeat([]byte{1, 1}, 3<<20))
	need.Call(t, nil, func() {
		if _, err := DecodeStateVector(vector); !errors.Is(err, ErrMalformed) {
			t.Errorf("DecodeStateVector = %v, want ErrMalformed", err)
		}
	})
}

// Updates that wait for missing ones are merged into one, which may have more clients than each of them. It is read again
// when a missing update arrives.
func TestManyClientsThatWait(t *testing.T) {
	const n, first = 590_000, 300_000
	d := NewDoc(Options{ClientID: 1})
	for half := range 2 {
		u := uints(n)
		for i := range n {
			u = append(u, uints(1, first+half*n+i, 1, 0, 1)...)
		}
		apply(t, d, append(u, 0))
	}
	apply(t, d, uints(1, 1, first, 0, 0, 1, 0))
	if got := d.StateVector()[first]; got != 2 {
		t.Errorf("the clock of the first client is %d, want 2", got)
	}
}
