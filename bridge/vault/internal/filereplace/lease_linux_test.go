package filereplace

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
)

// The lease that a swap takes is granted while nobody has the file open for
// writing, and whoever opens it then waits for its release.
func TestLease(t *testing.T) {
	w := newWorld(t, "text\n")
	writer := w.open("N.md")
	defer writer.Close()
	reader := w.onDisk("N.md")
	if _, err := reader.Lease(); !errors.Is(err, disk.ErrWriters) {
		t.Errorf("lease on a file that is open for writing: %v, want %v", err, disk.ErrWriters)
	}
	w.ok(writer.Close())
	waiting := make(chan os.Signal, 1)
	signal.Notify(waiting, syscall.SIGIO) // sent to who holds a lease that somebody waits for
	defer signal.Stop(waiting)
	release, err := reader.Lease()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this disk grants no leases")
	}
	w.ok(err)
	opened := make(chan error, 1)
	go func() { opened <- os.WriteFile(filepath.Join(w.dir, "N.md"), []byte("hers\n"), 0) }()
	<-waiting
	select {
	case err := <-opened:
		t.Errorf("the file was written while the lease was held: %v", err)
	default:
	}
	release()
	w.ok(<-opened)
	w.want(map[string]string{"N.md": "hers\n"})
}

// The next save of a note finds no program that has it open for writing: the one
// before has closed it, even if the folder's sync takes long.
func TestLeaseAfterSave(t *testing.T) {
	for temp, newWorld := range worlds {
		t.Run(temp, func(t *testing.T) {
			w := newWorld(t, "old\n")
			for i := range 20 {
				w.ok(w.replace(fmt.Sprintln(i)))
				f := w.onDisk("N.md")
				release, err := f.Lease()
				if err == nil {
					release()
				}
				f.Close()
				if errors.Is(err, disk.ErrWriters) {
					t.Fatalf("after save %d: %v", i, err)
				}
			}
		})
	}
}
