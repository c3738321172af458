package vault

import (
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
)

// maxUnsettled bounds the swaps that are not on the disk yet, each of which holds two
// files open. Who comes then waits.
const maxUnsettled = 256

// settlePause is the least time between the beginnings of two rounds: while one note after
// the other is saved, each round has many, and the disk's journal some peace.
const settlePause = 50 * time.Millisecond

// settler has swaps on the disk, in the background: the new file, the folder, and then,
// not before, it removes the file that was displaced. Until then a power cut leaves one of
// the two, whole: see torn.go. Swaps that come while it is busy share the next round.
type settler struct {
	syncDir func(disk.Dir) error
	failed  func(*settlement, error)
	room    chan struct{} // holds a token for each swap that is not settled

	all sync.WaitGroup // swaps that are not settled

	mu      sync.Mutex // protects the following
	waiting []*settlement
	running bool
}

// settlement is a swap that is done but for the disk.
type settlement struct {
	rel       string
	file      disk.File // the new one
	dir       disk.Dir  // the folder that it is in
	displaced *temp
	end       func()
}

func newSettler(syncDir func(disk.Dir) error, failed func(*settlement, error)) *settler {
	const shareUnsettled = 32 // of the files that the process may have open
	return &settler{syncDir: syncDir, failed: failed, room: make(chan struct{}, max(1, min(maxUnsettled, disk.MaxFiles()/shareUnsettled)))}
}

// add takes over a swap.
func (t *settler) add(s *settlement) {
	t.room <- struct{}{}
	t.all.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, s)
	if !t.running {
		t.running = true
		go t.run()
	}
}

func (t *settler) run() {
	var last time.Time
	for {
		time.Sleep(settlePause - time.Since(last))
		last = time.Now()
		t.mu.Lock()
		round := t.waiting
		t.waiting = nil
		t.running = len(round) > 0
		t.mu.Unlock()
		if len(round) == 0 {
			return
		}
		t.settle(round)
	}
}

// settle syncs the files of a round and then each of their folders once.
func (t *settler) settle(round []*settlement) {
	for _, s := range round {
		if s.file != nil {
			s.file.StartSync() // together, and not one after the other
		}
	}
	errs, lost := make([]error, len(round)), make([]bool, len(round))
	for i, s := range round {
		if s.file != nil {
			errs[i] = s.file.Sync()
			lost[i] = errs[i] != nil
		}
	}
	synced := make(map[fileID]error)
	for i, s := range round {
		if errs[i] == nil {
			errs[i] = t.syncOnce(s.dir, synced)
		}
		if errs[i] != nil {
			t.failed(s, errs[i])
		}
		if lost[i] {
			s.displaced.leave()
		} else { // names come to the disk in their order: where it is not removed there yet, it is not needed
			s.displaced.discard()
		}
		if s.file != nil {
			s.file.Close()
		}
		s.dir.Close()
		s.end()
		<-t.room
		t.all.Done()
	}
}

// syncOnce syncs a folder that has not been in this round.
func (t *settler) syncOnce(dir disk.Dir, synced map[fileID]error) error {
	id, err := idOfDir(dir)
	if err != nil {
		return err
	}
	err, done := synced[id]
	if !done {
		err = t.syncDir(dir)
		synced[id] = err
	}
	return err
}
