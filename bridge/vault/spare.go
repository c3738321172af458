package vault

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
)

// To make a new file, allocate its blocks and sync both takes longer than to sync
// new content of a file that is there. So some are kept ready outside of the vault, in
// Options.Spares: the next swap fills one, and leaves there what it displaced, until
// that is removed. Then new ones are made: nobody waits for them, and where many save
// at once they make files as they need them.

// keepSpares is how many files are kept ready. One is not enough for somebody who
// saves one note after the other: to make it takes as long as the save before it.
const keepSpares = 2

// spares keeps the spare files.
type spares struct {
	dir    *os.File // nil: there are none
	device uint64

	mu     sync.Mutex // protects the following
	off    bool       // closed, or of no use
	ready  []*temp
	active int // swaps that have begun and not settled
	closed bool
}

// maxSpare bounds the size of a spare file, which is that of the last content.
const maxSpare = 64 << 10

// open makes the folder for spare files, if it is missing.
func (s *spares) open(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := fsat.OpenRoot(dir)
	if err != nil {
		return err
	}
	st, err := fsat.Fstat(f)
	if err != nil {
		f.Close()
		return err
	}
	s.dir, s.device = f, st.Device
	return nil
}

// take returns the spare file, which is the caller's from here on; nil if there is
// none, or it is on another disk than the one that is asked for.
func (s *spares) take(device uint64) *temp {
	if s.dir == nil || device != s.device {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.ready) - 1
	if last < 0 {
		return nil
	}
	t := s.ready[last]
	s.ready = s.ready[:last]
	return t
}

// begin and end enclose a swap. size is that of its content, and name makes names
// for spare files, should it be time to make some.
func (s *spares) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
}

func (s *spares) end(name func() string, size int) error {
	defer s.leave()
	for s.wanted() {
		t, err := newSpare(s.dir, name(), min(size, maxSpare))
		if err != nil {
			return err
		}
		s.add(t)
	}
	return nil
}

// wanted says whether it is time to make a spare file.
func (s *spares) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir != nil && !s.off && s.active <= keepSpares && len(s.ready) < keepSpares
}

// add keeps t ready, unless there are enough by now.
func (s *spares) add(t *temp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off || len(s.ready) >= keepSpares {
		t.discard()
		return
	}
	s.ready = append(s.ready, t)
}

// leave is the last of a swap.
func (s *spares) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.closed && s.active == 0 && s.dir != nil {
		s.dir.Close()
	}
}

// stop removes the spare files; there will be no others.
func (s *spares) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.ready {
		t.discard()
	}
	s.off, s.ready = true, nil
}

// close closes the folder, unless swaps are under way: then the last of them does.
func (s *spares) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.dir == nil {
		return nil
	}
	s.closed = true
	if s.active > 0 {
		return nil
	}
	return s.dir.Close()
}

// newSpare makes a file with blocks for size bytes, all zero.
func newSpare(dir *os.File, name string, size int) (*temp, error) {
	const block = 4096
	t := &temp{dir: dir, name: name, spare: true, size: (size + block - 1) / block * block}
	var err error
	if t.file, err = fsat.Open(dir, name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	_, err = t.file.Write(make([]byte, t.size))
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// sweepSpares deals with what a killed process has left in the folder for spare
// files: it may be what a swap displaced.
func (v *Vault) sweepSpares() {
	if v.spares.dir == nil || v.o.ReadOnly {
		return
	}
	entries, err := os.ReadDir(v.o.Spares)
	if err != nil {
		v.log.Warn("left-over temp files stay", model.LogErr, err)
		return
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case !isTemp(name) || strings.HasPrefix(name, v.tempPrefix):
		case isBlank(filepath.Join(v.o.Spares, name)):
			_ = fsat.Remove(v.spares.dir, name) // if it fails, the next start tries again
		default:
			v.sweep(v.spares.dir, name)
		}
	}
}

// isBlank says whether a file is a spare one that was never filled.
func isBlank(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSpare+1))
	return err == nil && len(data) <= maxSpare && strings.Trim(string(data), "\x00") == ""
}
