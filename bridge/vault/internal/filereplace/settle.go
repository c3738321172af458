package filereplace

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// maxUnsettled is the maximum number of swaps that have not settled. If 1/shareUnsettled of the process's file
// descriptors is less, that is the maximum. Each swap has two files open.
const (
	maxUnsettled   = 256
	shareUnsettled = 32
)

// settlePause is the minimum time between the starts of two rounds, so that saves in quick succession share rounds.
const settlePause = 50 * time.Millisecond

// syncer makes swaps durable in the background: it syncs the new file, then the folder, and then removes the pre-image.
// A power cut before that leaves a complete file, new or old (sweep.go). Swaps that arrive during a round share the
// next round.
type syncer struct {
	syncs *vaultdir.Syncs
	log   *slog.Logger
	slots chan struct{}  // one token for each swap that has not settled
	all   sync.WaitGroup // counts the unsettled swaps

	mu      sync.Mutex // guards the fields below
	waiting []*pendingSync
	round   []*pendingSync // swaps of the round in progress
	running bool
	last    time.Time // start time of the last round
}

type pendingSync struct {
	rel      string
	dir      disk.Dir  // folder of the new file
	file     disk.File // the new file, even if a program has moved it
	preImage *Temp
	old      watched       // the pre-image; closed when late writes to it are not watched any more
	settled  func()        // called when the swap is durable
	done     chan struct{} // closed when the swap is settled or has failed
	err      error         // error of the file's sync; read it after done is closed
}

// add takes over a swap. It blocks while there are too many unsettled swaps.
func (t *syncer) add(s *pendingSync) {
	t.slots <- struct{}{}
	t.all.Add(1)
	s.done = make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, s)
	if !t.running {
		t.running = true
		go t.run()
	}
}

func (t *syncer) run() {
	for {
		t.mu.Lock()
		t.running = len(t.waiting) > 0
		running, pause := t.running, settlePause-time.Since(t.last)
		t.mu.Unlock()
		if !running {
			return
		}
		time.Sleep(pause)
		t.mu.Lock()
		round := t.waiting
		t.waiting, t.round, t.last = nil, round, time.Now()
		t.mu.Unlock()
		t.syncRound(round)
	}
}

// syncAt syncs the swaps at rel and below it, and returns when they have settled or failed. It returns the error of a
// file that could not be synced.
func (t *syncer) syncAt(rel string) (err error) {
	var now, others []*pendingSync
	t.mu.Lock()
	for _, s := range t.waiting {
		if s.rel == rel || vaultdir.Below(rel, s.rel) {
			now = append(now, s)
		} else {
			others = append(others, s)
		}
	}
	round := t.round
	t.waiting = others
	t.mu.Unlock()
	t.syncRound(now)
	for _, s := range append(now, round...) {
		if s.rel == rel || vaultdir.Below(rel, s.rel) {
			<-s.done
			err = errors.Join(err, s.err)
		}
	}
	return err
}

func (t *syncer) syncRound(round []*pendingSync) {
	for _, s := range round {
		s.file.StartSync() // start all syncs before waiting for the first
	}
	fileErrs := make([]error, len(round))
	for i, s := range round {
		fileErrs[i] = s.file.Sync()
	}
	synced := make(map[vaultdir.ID]error)
	for i, s := range round {
		err := fileErrs[i]
		if err == nil {
			err = t.syncOnce(s.dir, synced)
		}
		if err != nil {
			t.syncs.Failed(s.dir, err)
			t.log.Warn("note is not synced: a power cut may restore its previous content", model.LogPath, s.rel, model.LogErr, err)
		} else {
			s.settled()
		}
		s.err = fileErrs[i]
		close(s.done)
		s.file.Close()
		<-t.slots
		open, certain := writers(s.old)
		switch {
		case fileErrs[i] != nil:
			s.preImage.file.Close() // the next start handles the pre-image
			t.forget(s)
		case open || !certain || s.preImage.isChanged():
			go func() { // after a kill, the next start must find what a program has written since
				<-s.old.closed
				s.preImage.Discard()
				t.forget(s)
			}()
		default: // renames become durable in order, so the pre-image is not needed even if its removal is lost
			s.preImage.Discard()
			t.forget(s)
		}
	}
}

// forget releases the folder of a swap whose pre-image is not needed any more.
func (t *syncer) forget(s *pendingSync) {
	s.dir.Close()
	t.all.Done()
}

func (t *syncer) syncOnce(dir disk.Dir, synced map[vaultdir.ID]error) error {
	id, err := vaultdir.IDOfDir(dir)
	if err != nil {
		return err
	}
	err, done := synced[id]
	if !done {
		err = t.syncs.Sync(dir)
		synced[id] = err
	}
	return err
}
