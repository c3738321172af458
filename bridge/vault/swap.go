package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
)

// This file replaces a file's content while other programs, which take no
// locks, may be saving the same file. No system call replaces a file only if it
// is unchanged, so a swap acts first and looks then:
//
//  1. stage: the new content is complete and synced in a temp file.
//  2. hold: a lease on the old file lets programs that open it for writing wait,
//     some microseconds, and is granted once no program has it open. Thus no save
//     in place is under way during the steps 3 to 5.
//  3. check: the file is still the expected one, or bridge.ErrConflict.
//  4. commit: RENAME_EXCHANGE puts the new file under the name and the old one
//     under the temp name, in one step, so that nothing that was saved between
//     check and commit can be overwritten: it is under the temp name now.
//  5. If what was displaced is not the expected content, a save slipped in
//     between: it is exchanged back, and the caller gets bridge.ErrConflict.
//     Should yet another save have reached our file in that blink, it is
//     merged (late.go). A program that reads the file in that blink sees a text
//     that is not to be, and lacks the save: only a save by rename comes so late,
//     or any save where there are no leases.
//  6. A program that was about to open the old file, or had it open all the time,
//     may still write to it, though it has no name any more. Its descriptor is
//     watched, and what is written there is merged into the file (late.go).
//
// Disks without RENAME_EXCHANGE (NFS, some FUSE) get a plain rename at step 4.
// There a save by rename that falls between check and commit, some
// microseconds, is lost; a save in place is still found by step 6.

// swap is one replacement under way.
type swap struct {
	v       *Vault
	at      *place
	temp    *temp
	old     *os.File // the file that is to be displaced
	oldData []byte
	data    []byte
	expect  bridge.Stamp
}

// stage prepares the replacement of the file at p, as p.stat describes it.
func (v *Vault) stage(p *place, data []byte, modTime time.Time) (*swap, error) {
	s := &swap{v: v, at: p, data: data, expect: stampOf(&p.stat)}
	var err error
	if s.old, err = fsat.Open(p.dir, p.name, os.O_RDONLY, 0); err != nil {
		return nil, conflictIfGone(err)
	}
	if err = s.readOld(); err == nil {
		s.temp, err = newTemp(p.dir, v.tempName(), data, 0, &p.stat, modTime)
	}
	if err != nil {
		s.old.Close()
		return nil, err
	}
	return s, nil
}

func conflictIfGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return bridge.ErrConflict
	}
	return err
}

// readOld keeps the bytes that are to be displaced: the common ancestor, should
// a merge become necessary.
func (s *swap) readOld() error {
	data, stamp, err := readAll(s.old)
	if errors.Is(err, errTorn) || err == nil && stamp != s.expect {
		return bridge.ErrConflict
	}
	s.oldData = data
	return err
}

// Close removes what the swap leaves behind.
func (s *swap) Close() {
	s.temp.discard()
	if s.old != nil {
		s.old.Close()
	}
}

// check says bridge.ErrConflict if the file is not the expected one any more.
func (s *swap) check() error {
	st, err := fsat.Stat(s.at.dir, s.at.name)
	if err == nil && stampOf(&st) != s.expect {
		err = bridge.ErrConflict
	}
	return conflictIfGone(err)
}

// commit puts the new file under the name, if that still is the expected one, and
// returns its stamp.
func (s *swap) commit() (bridge.Stamp, error) {
	if err := s.replace(); err != nil {
		return bridge.Stamp{}, err
	}
	stamp := s.temp.placed()
	if s.v.noExchange.Load() {
		s.v.trySyncDir(s.at.dir) // the old file has no name any more
	} else if err := s.v.syncDir(s.at.dir); err != nil {
		return bridge.Stamp{}, s.takeBack(err)
	}
	s.v.late.watch(s.at.rel, s.old, s.expect, s.oldData)
	s.old = nil
	return stamp, nil
}

// replace is the steps 2 to 5.
func (s *swap) replace() error {
	release := s.hold()
	defer release()
	if err := s.check(); err != nil {
		return err
	}
	exchanged, err := s.rename()
	if err != nil {
		return conflictIfGone(err)
	}
	if exchanged && !s.displaced() {
		return s.undo()
	}
	return nil
}

// hold lets programs that open the old file for writing wait until release is
// called. One that has it open already is given the time of a save to finish;
// whoever has it open for longer is found by step 6.
func (s *swap) hold() (release func()) {
	const step = time.Millisecond
	for start := time.Now(); ; time.Sleep(step) {
		release, err := fsat.Lease(s.old)
		if err == nil {
			return release
		}
		if !errors.Is(err, fsat.ErrWriters) || time.Since(start) >= settledAge {
			return func() {}
		}
	}
}

// rename exchanges temp and target, or moves temp over target where the disk
// knows no exchange.
func (s *swap) rename() (exchanged bool, err error) {
	if !s.v.noExchange.Load() {
		err := fsat.Exchange(s.at.dir, s.temp.name, s.at.name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err == nil, err
		}
		s.v.noExchange.Store(true)
		s.v.log.Info("disk cannot exchange files in one step: saves within microseconds of each other may be lost")
	}
	return false, fsat.Rename(s.at.dir, s.temp.name, s.at.dir, s.at.name)
}

// displaced says whether what is under the temp name is what was expected.
func (s *swap) displaced() bool {
	st, err := fsat.Stat(s.at.dir, s.temp.name)
	return err == nil && sameContent(stampOf(&st), s.expect)
}

// undo gives the name back to the save that slipped in, and always returns an error.
func (s *swap) undo() error {
	dir := s.at.dir
	err := fsat.Exchange(dir, s.temp.name, s.at.name)
	if errors.Is(err, fs.ErrNotExist) { // and was then moved away by its owner
		err = fsat.RenameNew(dir, s.temp.name, dir, s.at.name)
		return errors.Join(bridge.ErrConflict, s.keepTemp(err))
	}
	if err != nil {
		return s.keepTemp(err)
	}
	// For that blink our file was under the name: whoever opened it then, or
	// replaced it, has a save there.
	theirs, err := fsat.Open(dir, s.temp.name, os.O_RDONLY, 0)
	if err != nil {
		return s.keepTemp(err)
	}
	s.v.late.watch(s.at.rel, theirs, s.temp.stamp, s.data)
	return bridge.ErrConflict
}

// takeBack undoes a replacement whose name could not be made durable, for which err
// is the reason, and returns an error.
func (s *swap) takeBack(err error) error {
	if undone := s.undo(); !errors.Is(undone, bridge.ErrConflict) {
		return errors.Join(err, undone)
	}
	return err
}

// keepTemp is for when a person's save is under the temp name and cannot be put
// back: it is kept beside the note.
func (s *swap) keepTemp(err error) error {
	if err == nil {
		return nil
	}
	name, moveErr := moveAside(s.at.dir, s.temp.name, s.at.dir, conflictName(s.at.name, time.Now()))
	if moveErr != nil {
		name = s.temp.name
		s.temp.name = s.v.tempName() // so that discard leaves it alone
	}
	return fmt.Errorf("%w (a save made at the same moment is in %q)", err, name)
}
