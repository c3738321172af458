package fusefs_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
)

// posixDir tells the child process of TestPosix in which folder each test has one of its name.
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

// TestPosix runs go-fuse's suite in a scratch folder, where names do not matter. One child process makes the suite's
// system calls.
func TestPosix(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	var names []string
	for _, name := range slices.Sorted(maps.Keys(posixtest.All)) {
		if reason := unclaimed[name]; reason != "" {
			t.Logf("%s does not run: %s", name, reason)
			continue
		}
		names = append(names, name)
	}
	m.sh(t, "F", "mkdir .scratch && cd .scratch && mkdir "+strings.Join(names, " "))
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestPosixChild$/^("+strings.Join(names, "|")+")$")
	cmd.Env = append(os.Environ(), posixDir+"="+m.path("F/.scratch"))
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("=== RUN   TestPosixChild/")) != len(names) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPosixChild is what TestPosix runs.
func TestPosixChild(t *testing.T) {
	dir := os.Getenv(posixDir)
	if dir == "" {
		t.Skip("runs in the child process of TestPosix")
	}
	for name, test := range posixtest.All {
		t.Run(name, func(t *testing.T) { test(t, filepath.Join(dir, name)) })
	}
}
