package filereplace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

type Swap struct {
	s       *Swapper
	at      vaultdir.Entry
	r       model.Replacement
	temp    *Temp
	old     disk.File // the file that the swap displaces
	oldData []byte    // content of old, the common ancestor of a merge
}

// Stage prepares the replacement r of the note at rel. The caller calls r.BeforeRename, if it is set, before Commit,
// and closes the swap. Stage returns model.ErrConflict if the note is not the expected file.
func (s *Swapper) Stage(rel string, r model.Replacement) (*Swap, error) {
	at, err := s.o.Vault.Locate(rel)
	if err != nil {
		return nil, conflictIfGone(err) // on a conflict the caller reads the note again
	}
	sw := &Swap{s: s, at: at, r: r}
	s.swaps.Add(1)
	if err := sw.stage(); err != nil {
		sw.Close()
		return nil, err
	}
	return sw, nil
}

func (sw *Swap) stage() (err error) {
	if sw.old, err = sw.at.Dir.Open(sw.at.Name, os.O_RDONLY, 0); err != nil {
		return conflictIfGone(err)
	}
	if err := sw.readOld(); err != nil {
		return err
	}
	if sw.at.Info, err = sw.old.Info(); err != nil {
		return err
	}
	if int64(len(sw.oldData)) != sw.r.IfMatch.Size || vaultdir.StampOf(&sw.at.Info) != sw.r.IfMatch {
		return model.ErrConflict
	}
	if dir, ok := sw.s.dir.on(sw.at.Info.Device); ok {
		err := sw.makeTemp(dir, true)
		if err == nil || model.IsFull(err) {
			return err
		}
		// The file could not be made there: the folder was removed or is read-only, or a file there cannot get the
		// note's group.
	}
	return sw.makeTemp(sw.at.Dir, false)
}

func (sw *Swap) readOld() error {
	sw.oldData = make([]byte, sw.r.IfMatch.Size)
	n, err := sw.old.ReadAt(sw.oldData, 0)
	if sw.oldData = sw.oldData[:n]; errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (sw *Swap) makeTemp(dir disk.Dir, swap bool) (err error) {
	sw.temp, err = newTemp(dir, sw.tempName(), sw.content(), swap)
	return err
}

func (sw *Swap) tempName() string { return sw.s.TaggedName(sw.at.Rel, sw.content()) }

func (sw *Swap) content() Content {
	return Content{Data: sw.r.Data, ModTime: sw.r.ModTime, old: sw.old, oldInfo: &sw.at.Info}
}

// Stamp returns the stamp that the new file will have, except for CTime.
func (sw *Swap) Stamp() model.Stamp { return sw.temp.Stamp }

func (sw *Swap) Mode() fs.FileMode { return sw.at.Info.Mode.Perm() }

func conflictIfGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) { // ELOOP: the note has become a symlink
		return model.ErrConflict
	}
	return err
}

// Close removes the temp file, unless the swap was committed.
func (sw *Swap) Close() {
	if sw.temp != nil {
		sw.temp.Discard()
	}
	if sw.old != nil {
		sw.old.Close()
	}
	sw.at.Close()
	sw.s.swaps.Done()
}

// Commit gives the new file the name of the note and returns the file's stamp. It returns model.ErrConflict if the note
// is not the expected file any more.
func (sw *Swap) Commit() (model.Stamp, error) {
	// Sync first if there will be no pre-image, or if the disk does not make renames durable in order: a power cut could
	// leave the name without the bytes.
	if sw.r.Sync || sw.s.o.SyncBefore || sw.s.noExchange.Load() || !sw.at.Dir.OrdersNames() {
		if err := sw.s.sync(sw.temp); err != nil {
			return model.Stamp{}, err
		}
	}
	// The syncer needs its own descriptor, because another file may have the name by then.
	file, err := sw.temp.dir.Open(sw.temp.Name, os.O_RDONLY, 0)
	if err != nil {
		return model.Stamp{}, err
	}
	if err := sw.replace(); err != nil {
		file.Close()
		return model.Stamp{}, err
	}
	stamp := sw.temp.Placed()
	sw.temp.file.Close() // a descriptor that is open for writing would prevent the lease of the next swap
	if sw.at.Info.Links > 1 {
		sw.s.o.Log.Warn("the note's other names (hard links) keep its previous content", model.LogPath, sw.at.Rel)
	}
	old := watched{sw.old, make(chan struct{})}
	sw.s.late.add(sw.at.Rel, old, sw.r.IfMatch, sw.oldData)
	dir, preImage := sw.at.Dir, sw.temp
	sw.old, sw.at.Dir, sw.temp = nil, nil, nil
	sw.s.syncer.add(&pendingSync{rel: sw.at.Rel, dir: dir, file: file, preImage: preImage, old: old, settled: sw.r.Durable})
	return stamp, nil
}

// watched is a displaced file. Close also closes the channel in the field closed.
type watched struct {
	disk.File
	closed chan struct{}
}

func (w watched) Close() error {
	defer close(w.closed)
	return w.File.Close()
}

// replace carries out steps 2 to 5 of the package comment.
func (sw *Swap) replace() error {
	release := sw.leaseOld()
	defer release()
	if err := sw.check(); err != nil {
		return err
	}
	exchanged, err := sw.rename()
	if err != nil {
		return conflictIfGone(err)
	}
	if exchanged && !sw.displaced() {
		return sw.undo()
	}
	return nil
}

// leaseOld makes programs that open the old file for writing wait until release is called. If a program already has the
// file open for writing, leaseOld waits up to vaultdir.QuietAge for it; step 7 handles longer writes.
func (sw *Swap) leaseOld() (release func()) {
	const step = time.Millisecond
	for start := time.Now(); ; time.Sleep(step) {
		release, err := sw.old.Lease()
		if err == nil {
			return release
		}
		if !errors.Is(err, disk.ErrWriters) || time.Since(start) >= vaultdir.QuietAge {
			return func() {}
		}
	}
}

func (sw *Swap) check() error {
	info, err := sw.at.Dir.Stat(sw.at.Name)
	if err == nil && vaultdir.StampOf(&info) != sw.r.IfMatch {
		err = model.ErrConflict
	}
	return conflictIfGone(err)
}

// rename exchanges the temp file and the note. If the disk cannot exchange files, it renames the temp file over the
// note.
func (sw *Swap) rename() (exchanged bool, err error) {
	exchanged, err = sw.renameOnce()
	if err == nil || errors.Is(err, fs.ErrNotExist) || !sw.temp.swap {
		return exchanged, err
	}
	// The swap folder is on the same device, but files cannot be moved from it: it is a bind mount, or became
	// read-only.
	sw.s.dir.off.Store(true)
	sw.temp.Discard()
	if err := sw.makeTemp(sw.at.Dir, false); err != nil {
		return false, err
	}
	if err := sw.s.sync(sw.temp); err != nil {
		return false, err
	}
	return sw.renameOnce()
}

func (sw *Swap) renameOnce() (exchanged bool, err error) {
	if !sw.s.noExchange.Load() {
		err := sw.temp.dir.Exchange(sw.temp.Name, sw.at.Dir, sw.at.Name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err == nil, err
		}
		sw.s.noExchange.Store(true)
		sw.s.o.Log.Info("disk cannot exchange files in one step: saves within microseconds of each other may be lost")
	}
	if err := sw.s.sync(sw.temp); err != nil { // sync now, because there will be no pre-image
		return false, err
	}
	return false, sw.temp.dir.Rename(sw.temp.Name, sw.at.Dir, sw.at.Name)
}

// displaced reports whether the file under the temp name is the expected old file.
func (sw *Swap) displaced() bool {
	info, err := sw.temp.dir.Stat(sw.temp.Name)
	now := vaultdir.StampOf(&info)
	return err == nil && now.SameFile(sw.r.IfMatch)
}

// undo gives the name back to the save that came in between. It always returns an error.
func (sw *Swap) undo() error {
	dir := sw.temp.dir
	err := dir.Exchange(sw.temp.Name, sw.at.Dir, sw.at.Name)
	if errors.Is(err, fs.ErrNotExist) { // another program has moved the note away
		err = dir.RenameNew(sw.temp.Name, sw.at.Dir, sw.at.Name)
		return errors.Join(model.ErrConflict, sw.keepTemp(err))
	}
	if err != nil {
		return sw.keepTemp(err)
	}
	// Otherwise a power cut could revert this exchange, but not the first exchange.
	sw.s.o.Syncs.SyncBestEffort(sw.at.Dir)
	// Our file had the name for a moment. A program that opened or replaced it in that moment has saved there.
	theirs, err := dir.Open(sw.temp.Name, os.O_RDONLY, 0)
	if err != nil {
		return sw.keepTemp(err)
	}
	sw.s.late.add(sw.at.Rel, theirs, sw.temp.Stamp, sw.r.Data)
	return model.ErrConflict
}

// keepTemp handles a user's save that has the temp name and could not get the note's name back: it moves the save to a
// free name next to the note. It returns err, the reason, with the new name. If err is nil, it returns nil.
func (sw *Swap) keepTemp(err error) error {
	if err == nil {
		return nil
	}
	name, moveErr := MoveAside(sw.temp.dir, sw.temp.Name, sw.at.Dir, conflictName(sw.at.Name))
	if moveErr != nil {
		name = sw.temp.Name
		sw.temp.Name = sw.tempName() // another name, so that Discard does not remove the save
	}
	return fmt.Errorf("%w (a save made at the same moment is in %q)", err, name)
}
