package process_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
)

const logEnv = "RELAYFS_TEST_LOG"

// A daemon logs while it reports that it is ready. Its parent ends at that report, and the daemon goes on.
func TestDaemonLogsWhileItsParentEnds(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(logEnv, log)
	parent := exec.Command(os.Args[0], "-test.run=^TestDaemonParent$")
	out, err := parent.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(process.Mounted)) {
		t.Fatalf("the parent ends with %v: %s", err, out)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(log); bytes.Contains(text, []byte("end")) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the daemon has ended before its work")
		}
	}
}

func TestDaemonParent(t *testing.T) {
	log := os.Getenv(logEnv)
	switch {
	case log == "":
		t.Skip("runs in the child process of TestDaemonLogsWhileItsParentEnds")
	case !process.InBackground():
		if err := process.Start(t.Context(), os.Stderr); err != nil {
			t.Fatal(err)
		}
		return
	}
	go func() {
		for {
			fmt.Fprintln(os.Stderr, "message")
			time.Sleep(time.Millisecond)
		}
	}()
	process.Ready(os.Stderr, process.Mounted+"here", log, func() (*os.File, error) {
		time.Sleep(100 * time.Millisecond)
		return os.Create(log)
	})
	time.Sleep(100 * time.Millisecond)
	fmt.Fprintln(os.Stderr, "end")
}
