package fusefs_test

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
)

// posixDir tells the child process of TestPosix which folder to test.
const posixDir = "FUSEFS_POSIX_DIR"

// unclaimed are tests of what a directory of documents does not promise.
var unclaimed = map[string]string{
	"Link":                "a document has one name: no hard links",
	"LinkUnlinkRename":    "a document has one name: no hard links",
	"XAttr":               "no extended attributes: they cost a round trip for each file that ls lists",
	"XAttrLarge":          "no extended attributes: they cost a round trip for each file that ls lists",
	"Fallocate":           "nothing to allocate: programs fall back to writing zeros",
	"FallocateKeepSize":   "nothing to allocate: programs fall back to writing zeros",
	"FcntlFlockLocksFile": "locks are the kernel's own, and one process's do not conflict with each other, as on a disk",
	"FileLarge":           "scratch files are kept in memory and bounded",
	"FdLeak":              "counts the descriptors of the server, which is another process here",
}

// TestPosix runs go-fuse's suite in a scratch folder, where names do not matter.
// The suite's system calls are made by a child process.
func TestPosix(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", "mkdir .scratch")
	for _, name := range slices.Sorted(maps.Keys(posixtest.All)) {
		t.Run(name, func(t *testing.T) {
			if reason := unclaimed[name]; reason != "" {
				t.Skip(reason)
			}
			m.sh(t, "F/.scratch", "mkdir "+name)
			cmd := exec.Command(os.Args[0], "-test.run=^TestPosixChild$/^"+name+"$")
			cmd.Env = append(os.Environ(), posixDir+"="+m.path("F/.scratch/"+name))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestPosixChild is what TestPosix runs.
func TestPosixChild(t *testing.T) {
	dir := os.Getenv(posixDir)
	if dir == "" {
		t.Skip("runs in the child process of TestPosix")
	}
	for name, test := range posixtest.All {
		t.Run(name, func(t *testing.T) { test(t, dir) })
	}
}
