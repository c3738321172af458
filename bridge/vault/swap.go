package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// This file replaces a file's content while other programs, which take no
// locks, may be saving the same file. No system call replaces a file only if it
// is unchanged, so a swap acts first and looks then:
//
//  1. stage: the new content is complete in a temp file, in the swap folder or beside
//     the note. It is synced where nothing less makes the old or the new note certain.
//  2. hold: a lease on the old file lets programs that open it for writing wait,
//     some microseconds, and is granted once no program has it open. Thus no save
//     in place is under way during the steps 3 to 5.
//  3. check: the file is still the expected one, or model.ErrConflict.
//  4. commit: RENAME_EXCHANGE puts the new file under the name and the old one
//     under the temp name, in one step, so that nothing that was saved between
//     check and commit can be overwritten: it is under the temp name now.
//  5. If what was displaced is not the expected content, a save slipped in
//     between: it is exchanged back, and the caller gets model.ErrConflict.
//     Should yet another save have reached our file in that blink, it is
//     merged (late.go). A program that reads the file in that blink sees a text
//     that is not to be, and lacks the save: only a save by rename comes so late,
//     or any save where there are no leases.
//  6. settle: the file and the folder are synced, and then what was displaced is
//     removed (settle.go). The save has ended before: a power cut leaves the old note
//     or the new one, once the vault has been scanned again (torn.go). fsync(2) waits
//     for the disk.
//  7. A program that was about to open the old file, or had it open all the time,
//     may still write to it, though it has no name any more. Its descriptor is
//     watched, and what is written there is merged into the file (late.go).
//
// Disks without RENAME_EXCHANGE (NFS, some FUSE) get a plain rename at step 4.
// There a save by rename that falls between check and commit, some
// microseconds, is lost; a save in place is still found by step 7.

// swap is one replacement under way.
type swap struct {
	v       *Vault
	at      place
	temp    *temp
	old     disk.File // the file that is to be displaced
	oldData []byte
	data    []byte
	modTime time.Time
	expect  model.Stamp
	settled bool // or about to
}

// stage prepares a replacement of the file at rel; model.ErrConflict if it is not
// the expected one. While the disk is busy it calls r.Meanwhile, and returns the
// error of that as it is. The caller closes the swap.
func (v *Vault) stage(rel string, r model.Replacement) (*swap, error) {
	at, err := v.locate(rel)
	if err != nil {
		return nil, wrap("write", rel, conflictIfGone(err)) // Read says what has become of it
	}
	s := &swap{v: v, at: at, data: r.Data, modTime: r.ModTime, expect: r.Expect}
	v.swaps.begin()
	staged := false
	defer func() {
		if !staged { // Meanwhile may have panicked
			s.Close()
		}
	}()
	if err := s.stage(); err != nil {
		return nil, wrap("write", rel, err)
	}
	if err := r.Prepare(s.temp.stamp); err != nil {
		return nil, err
	}
	if r.Sync || !s.settles() {
		if err := s.temp.sync(); err != nil {
			return nil, wrap("write", rel, err)
		}
	}
	staged = true
	return s, nil
}

// stage is the first step, but for the wait for the disk.
func (s *swap) stage() (err error) {
	if stampOf(&s.at.stat) != s.expect {
		return model.ErrConflict
	}
	if s.old, err = s.at.dir.Open(s.at.name, os.O_RDONLY, 0); err != nil {
		return conflictIfGone(err)
	}
	if err := s.readOld(); err != nil {
		return err
	}
	if dir, ok := s.v.swaps.on(s.at.stat.Device); ok {
		s.temp, err = newTemp(dir, s.tempName(), s.content(), true)
		if err == nil || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return err
		}
		// The folder has been removed or is read-only, or a file there cannot get the note's group.
	}
	return s.stageBeside()
}

// settles says whether the bytes of a file may come to the disk after its name: where what
// it displaced stays until then, and names come to the disk in their order.
func (s *swap) settles() bool {
	return !s.v.noExchange.Load() && s.at.dir.OrdersNames()
}

func (s *swap) tempName() string { return s.v.taggedName(tagOf(s.at.rel, s.content())) }

// stageBeside stages with a temp file in the note's own folder.
func (s *swap) stageBeside() (err error) {
	s.temp, err = newTemp(s.at.dir, s.tempName(), s.content(), false)
	return err
}

func (s *swap) content() content {
	return content{data: s.data, modTime: s.modTime, old: s.old, oldInfo: &s.at.stat}
}

func conflictIfGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return model.ErrConflict
	}
	return err
}

// readOld keeps the bytes that are to be displaced: the common ancestor, should
// a merge become necessary.
func (s *swap) readOld() error {
	data, stamp, err := readAll(s.old)
	if errors.Is(err, errTorn) || err == nil && stamp != s.expect {
		return model.ErrConflict
	}
	s.oldData = data
	return err
}

// Close removes what the swap leaves behind, unless that has been left to settle.
func (s *swap) Close() {
	if s.temp != nil {
		s.temp.discard()
	}
	if s.old != nil {
		s.old.Close()
	}
	s.at.Close()
	if !s.settled {
		s.v.swaps.end()
	}
}

// check says model.ErrConflict if the file is not the expected one any more.
func (s *swap) check() error {
	st, err := s.at.dir.Stat(s.at.name)
	if err == nil && stampOf(&st) != s.expect {
		err = model.ErrConflict
	}
	return conflictIfGone(err)
}

// commit puts the new file under the name, if that still is the expected one, and
// returns its stamp.
func (s *swap) commit() (model.Stamp, error) {
	if err := s.replace(); err != nil {
		return model.Stamp{}, err
	}
	stamp := s.temp.placed()
	placed, err := s.at.dir.Open(s.at.name, os.O_RDONLY, 0) // to be synced
	if err != nil {
		s.v.log.Debug("a new file is not there any more", model.LogPath, s.at.rel, model.LogErr, err)
		placed = nil
	}
	s.temp.file.Close() // open for writing, it would keep the next swap from its lease
	if s.at.stat.Links > 1 {
		s.v.log.Warn("the note's other names (hard links) keep what it held before", model.LogPath, s.at.rel)
	}
	s.v.late.watch(s.at.rel, s.old, s.expect, s.oldData)
	s.old = nil
	s.settle(placed)
	return stamp, nil
}

// settle leaves the rest to the settler. placed is the new file, nil if somebody has
// already put another one in its place.
func (s *swap) settle(placed disk.File) {
	dir, displaced := s.at.dir, s.temp
	s.at.dir, s.temp, s.settled = nil, nil, true
	s.v.settler.add(&settlement{rel: s.at.rel, file: placed, dir: dir, displaced: displaced, end: s.v.swaps.end})
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
	switch {
	case !exchanged:
		return nil
	case !s.displaced():
		return s.undo()
	}
	// Should the process be killed before it is removed, nobody needs it back.
	name := displacedName(s.temp.name, s.expect)
	if s.temp.dir.RenameNew(s.temp.name, s.temp.dir, name) == nil {
		s.temp.name = name
	}
	return nil
}

// hold lets programs that open the old file for writing wait until release is
// called. One that has it open already is given the time of a save to finish;
// whoever has it open for longer is found by step 7.
func (s *swap) hold() (release func()) {
	const step = time.Millisecond
	for start := time.Now(); ; time.Sleep(step) {
		release, err := s.old.Lease()
		if err == nil {
			return release
		}
		if !errors.Is(err, disk.ErrWriters) || time.Since(start) >= settledAge {
			return func() {}
		}
	}
}

// rename exchanges temp and target, or moves temp over target where the disk
// knows no exchange.
func (s *swap) rename() (exchanged bool, err error) {
	exchanged, err = s.renameOnce()
	if err == nil || errors.Is(err, fs.ErrNotExist) || !s.temp.swap {
		return exchanged, err
	}
	// On one disk, and yet nothing can be moved from there: a bind mount, or a state
	// folder that has become read-only.
	s.v.swaps.stop()
	s.temp.discard()
	if err := s.stageBeside(); err != nil {
		return false, err
	}
	if err := s.temp.sync(); err != nil {
		return false, err
	}
	return s.renameOnce()
}

func (s *swap) renameOnce() (exchanged bool, err error) {
	if !s.v.noExchange.Load() {
		err := s.temp.dir.Exchange(s.temp.name, s.at.dir, s.at.name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err == nil, err
		}
		s.v.noExchange.Store(true)
		s.v.log.Info("disk cannot exchange files in one step: saves within microseconds of each other may be lost")
	}
	if err := s.temp.sync(); err != nil { // nothing is left of what it replaces
		return false, err
	}
	return false, s.temp.dir.Rename(s.temp.name, s.at.dir, s.at.name)
}

// displaced says whether what is under the temp name is what was expected.
func (s *swap) displaced() bool {
	st, err := s.temp.dir.Stat(s.temp.name)
	return err == nil && stampOf(&st).SameFile(s.expect)
}

// undo gives the name back to the save that slipped in, and always returns an error.
func (s *swap) undo() error {
	dir := s.temp.dir
	err := dir.Exchange(s.temp.name, s.at.dir, s.at.name)
	if errors.Is(err, fs.ErrNotExist) { // and was then moved away by its owner
		err = dir.RenameNew(s.temp.name, s.at.dir, s.at.name)
		return errors.Join(model.ErrConflict, s.keepTemp(err))
	}
	if err != nil {
		return s.keepTemp(err)
	}
	// For that blink our file was under the name: whoever opened it then, or
	// replaced it, has a save there.
	theirs, err := dir.Open(s.temp.name, os.O_RDONLY, 0)
	if err != nil {
		return s.keepTemp(err)
	}
	s.v.late.watch(s.at.rel, theirs, s.temp.stamp, s.data)
	return model.ErrConflict
}

// keepTemp is for when a person's save is under the temp name and cannot be put
// back: it is kept beside the note.
func (s *swap) keepTemp(err error) error {
	if err == nil {
		return nil
	}
	name, moveErr := moveAside(s.temp.dir, s.temp.name, s.at.dir, conflictName(s.at.name, time.Now()))
	if moveErr != nil {
		name = s.temp.name
		s.temp.name = s.tempName() // so that discard leaves it alone
	}
	return fmt.Errorf("%w (a save made at the same moment is in %q)", err, name)
}
