package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const (
	// wedgeKills is how many kills TestTimedKillWhileNotifying makes at least.
	wedgeKills = 18
	// freed is how long programs may hang after `unmount` or the next `mount`.
	freed = time.Second
)

// kill -9 of a mount while it tells the kernel of names may leave the process, and programs that use the mount, waiting for
// each other in the kernel. `relayfs unmount`, the next mount there and one somewhere else free all of them.
func TestTimedKillWhileNotifying(t *testing.T) {
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"folder/note.md": harness.TideTable})
	dirs := []string{s.Mkdir(t, "mnt-a"), s.Mkdir(t, "mnt-b")}
	m := s.MountAt(t, vault, dirs[0])
	wedged := 0
	var slowest time.Duration
	defer func() {
		t.Logf("%d kills left processes waiting; with the command the slowest took %v", wedged, slowest)
	}()
	for round := range max(wedgeKills, len(kills(t, rng))) {
		programs := useNames(m, time.Duration(50+rng.IntN(300))*time.Millisecond)
		if err := m.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-m.Ended():
		case <-time.After(need.Scaled(250 * time.Millisecond)):
			wedged++
		}
		start := time.Now()
		dead := m
		switch round % 3 {
		case 0:
			if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
				t.Fatalf("unmount of the mount of a killed process: exit %d: %s", out.Code, out.Stderr)
			}
		case 1:
			m = s.MountAt(t, vault, m.Dir)
		case 2:
			m = s.MountAt(t, vault, dirs[1-indexOf(dirs, m.Dir)])
		}
		command := time.Since(start)
		for what, ended := range map[string]<-chan struct{}{"the killed process": dead.Ended(), "a program": programs} {
			select {
			case <-ended:
			case <-time.After(need.Scaled(freed)):
				t.Fatalf("round %d: %s hangs %v after the command, which took %v", round, what, time.Since(start)-command, command)
			}
		}
		slowest = max(slowest, time.Since(start))
		if m == dead {
			m = s.MountAt(t, vault, m.Dir)
		}
		if harness.ReadFile(t, m.Path("folder/note.md")) != harness.TideTable {
			t.Fatal("the note has changed")
		}
		if dead.Dir != m.Dir && harness.IsMounted(dead.Dir) {
			if out := s.Run(t, "unmount", dead.Dir); out.Code != 0 {
				t.Fatalf("unmount of a dead mount: exit %d: %s", out.Code, out.Stderr)
			}
		}
	}
	m.Stop(t)
}

func indexOf(dirs []string, dir string) int {
	if dirs[0] == dir {
		return 0
	}
	return 1
}

// useNames has a person rename a note in the vault all the time, and programs look up, make, move and remove names beside it
// on the mount, and returns after a while. ended is closed when all programs have ended, which they do when the mount does.
func useNames(m *harness.Mount, d time.Duration) (ended <-chan struct{}) {
	all := make(chan struct{})
	var programs sync.WaitGroup
	dir, stop := m.Path("folder"), make(chan struct{})
	for w := range 4 {
		programs.Go(func() {
			for i := 0; ; i++ {
				a, b := filepath.Join(dir, fmt.Sprintf("%d-%d.tmp", w, i)), filepath.Join(dir, fmt.Sprintf("%d.tmp", w))
				if _, err := os.Stat(a); err != nil && !os.IsNotExist(err) {
					return
				}
				if os.WriteFile(a, nil, 0o600) != nil || os.Rename(a, b) != nil || os.Remove(b) != nil {
					return
				}
			}
		})
	}
	programs.Go(func() { // the mount hears of it from the disk
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			name := m.VaultPath(fmt.Sprintf("folder/person %d.md", i%8))
			if os.Remove(name) != nil {
				_ = os.WriteFile(name, []byte("text\n"), 0o644)
			}
		}
	})
	go func() {
		programs.Wait()
		close(all)
	}()
	time.AfterFunc(d+time.Millisecond, func() { close(stop) }) // the person goes on until the kill
	time.Sleep(d)
	return all
}
