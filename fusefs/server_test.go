package fusefs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/fusefs"
	"github.com/relayfs/relayfs/tests/need"
)

func isMounted(t testing.TB, dir string) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), " "+dir+" ")
}

// Check says what is wrong with a mountpoint, and what to do.
func TestCheck(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m := mount(t, map[string]string{"F/Note.md": "x\n"})
	for _, tt := range []struct {
		dir, problem, hint string
	}{
		{filepath.Join(dir, "my notes"), "does not exist", "mkdir -p '" + dir + "/my notes'"},
		{file, "not a directory", "directory"},
		{dir, "not empty", "give an empty directory"},
		{m.dir, "mounted", "relayfs unmount"},
	} {
		var problem *fusefs.SetupError
		if err := fusefs.Check(tt.dir); !errors.As(err, &problem) {
			t.Errorf("Check(%s) = %v, want a SetupError", tt.dir, err)
		} else if !strings.Contains(problem.Problem, tt.problem) || !strings.Contains(problem.Hint, tt.hint) {
			t.Errorf("Check(%s): %q, %q, want %q, %q", tt.dir, problem.Problem, problem.Hint, tt.problem, tt.hint)
		}
	}
}

// What was written and not closed is kept by an unmount, and a mount that is in
// use is detached.
func TestUnmountWhileInUse(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	a := m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "r+b", 0))`)
	a.do(`held["f"].write(b"# TIDE")`)
	start := time.Now()
	if err := m.server.Unmount(); err != nil {
		t.Fatal(err)
	}
	<-m.server.Done()
	if isMounted(t, m.dir) {
		t.Error("still mounted")
	}
	if took := time.Since(start); took > need.Scaled(10*time.Second) {
		t.Errorf("the unmount took %v", took)
	}
	m.checkSuggested(t, "F/Note.md", tideTable, "# TIDE"+tideTable[6:])
	checkText(t, "a write after it", a.do(`held["f"].write(b"# tide")`), `"Input/output error"`)
}

// startCopy starts a container, which has a copy of each mount, and returns when it has them.
func startCopy(t *testing.T) {
	t.Helper()
	need.Programs(t, "unshare")
	args := []string{"--mount", "sh", "-c", "echo started; exec sleep 1000"}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	container := exec.CommandContext(t.Context(), "unshare", args...)
	out, err := container.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := container.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		container.Process.Kill()
		container.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		need.Missing(t, "no namespaces: %v", err)
	}
}

// A container that was started while the notes were mounted has a copy of the mount, which does not hold up the end.
func TestUnmountWithACopy(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	startCopy(t)
	start := time.Now()
	if err := m.server.Unmount(); err != nil {
		t.Error(err)
	}
	if isMounted(t, m.dir) {
		t.Error("still mounted")
	}
	if took := time.Since(start); took > need.Scaled(10*time.Second) {
		t.Errorf("the unmount took %v", took)
	}
}

// If another program unmounts while a container has a copy of the mount, saved text is kept and the mount ends.
func TestUnmountByOthersWithACopy(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Gone.md": "gone\n"}, func(o *bridge.Options) { o.Structure = bridge.StructureDirect })
	startCopy(t)
	m.sh(t, "F", ": > Note.md; rm Gone.md")
	m.server.EndIfUnmounted() // nothing happens
	if err := fusefs.Unmount(m.dir); err != nil {
		t.Fatal(err)
	}
	m.server.EndIfUnmounted()
	select {
	case <-m.server.Done():
	case <-time.After(need.Scaled(20 * time.Second)):
		t.Error("the mount does not end")
	}
	m.checkSuggested(t, "F/Note.md", tideTable, "")
	if names := m.sourceNames(t, "F"); len(names) != 1 {
		t.Errorf("the vault has %q", names)
	}
}

// Somebody else unmounts: what was written is kept, Wait returns, and the
// directory can be mounted again.
func TestUnmountByOthers(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", ": > Note.md")
	if err := fusefs.Unmount(m.dir); err != nil {
		t.Fatal(err)
	}
	<-m.server.Done()
	m.checkSuggested(t, "F/Note.md", tideTable, "")
	if err := fusefs.Unmount(m.dir); err == nil || !strings.Contains(err.Error(), m.dir) {
		t.Errorf("unmounted twice: %v", err)
	}
	m.mount(t)
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), "")
}

// A mount whose process was killed is freed: it goes away, and who has something open there gets an error and does not wait. A mount
// whose process lives stays.
func TestFree(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	f, err := os.Open(filepath.Join(m.dir, "F", "Note.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, dir := range []string{m.dir, t.TempDir(), filepath.Join(t.TempDir(), "missing", "folder")} {
		if err := fusefs.FreeKilled(dir); err != nil {
			t.Errorf("FreeKilled(%s) = %v, want nil: nobody was killed", dir, err)
		}
	}
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), tideTable)
	if err := fusefs.Free(m.dir); err != nil {
		t.Fatal(err)
	}
	<-m.server.Done()
	if _, err := os.Stat(filepath.Join(m.dir, "F")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was mounted is there still: %v", err)
	}
	if err := f.Sync(); err == nil {
		t.Error("an open file of a mount that is gone is synced")
	}
	m.mount(t)
	checkText(t, "Note.md, mounted again", m.cat(t, "F/Note.md"), tideTable)
}

// Who wakes watchers has what changed open for a moment, which keeps nobody from unmounting.
func TestUnmountWaitsAMoment(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	f, err := os.Open(filepath.Join(m.dir, "F", "Note.md"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { f.Close() })
	if err := fusefs.Unmount(m.dir); err != nil {
		t.Error(err)
	}
}

func TestUnmountNamesWhoIsInTheWay(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.agent(t, "F").do("1") // it is in the folder now
	var problem *fusefs.SetupError
	if err := fusefs.Unmount(m.dir); !errors.As(err, &problem) || !strings.Contains(err.Error(), "python3") {
		t.Errorf("got %v, want an error that names python3", err)
	}
	if !isMounted(t, m.dir) {
		t.Error("unmounted all the same")
	}
}

// deadDir tells the child process of TestDeadMount where to mount and die.
const deadDir = "FUSEFS_DEAD_DIR"

// A server that was killed leaves a mount that answers nothing: it is cleared by
// Unmount, and by Check before the next mount.
func TestDeadMount(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	for name, mend := range map[string]func(string) error{
		"Unmount": fusefs.Unmount,
		"Check":   func(dir string) error { return fusefs.Check(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
			cmd := exec.Command(os.Args[0], "-test.run=^TestDeadMountChild$")
			cmd.Env = append(os.Environ(), deadDir+"="+dir)
			out, _ := cmd.CombinedOutput() // it kills itself
			if err := syscall.Statfs(dir, new(syscall.Statfs_t)); !errors.Is(err, syscall.ENOTCONN) {
				t.Fatalf("no dead mount: %v: %s", err, out)
			}
			if err := mend(dir); err != nil {
				t.Fatal(err)
			}
			if isMounted(t, dir) {
				t.Error("still mounted")
			}
		})
	}
}

func TestDeadMountChild(t *testing.T) {
	dir := os.Getenv(deadDir)
	if dir == "" {
		t.Skip("runs in the child process of TestDeadMount")
	}
	ws := bridgetest.New(t, map[string]string{"F/Note.md": "x\n"})
	if _, err := fusefs.Mount(t.Context(), ws.Workspace, dir, fusefs.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {}
}

func TestReadOnlyMount(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/image.png": "\x89PNG"}, func(o *bridge.Options) { o.ReadOnly = true })
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), tideTable)
	for _, script := range []string{"echo x > Note.md", "echo x > New.md", "rm Note.md", "mkdir sub", "mv Note.md x.tmp", "echo x > x.tmp", "touch Note.md"} {
		m.fails(t, "F", script, "Read-only file system")
	}
}

// In direct mode attachments are files like any other.
func TestAttachments(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/image.png": "\x89PNG\x00\xff", "F/Note.md": "x\n"}, direct, func(o *bridge.Options) { o.Mode = bridge.Direct })
	checkText(t, "image.png", m.sh(t, "F", "od -An -tx1 image.png | tr -d ' \n'"), "89504e4700ff")
	m.sh(t, "F", `
printf 'a,b\n' > data.csv && test "$(cat data.csv)" = a,b
printf 'c,d\n' >> data.csv && test "$(stat -c %s data.csv)" = 8
printf 'new' > image.png && test "$(cat image.png)" = new
printf 'all of it' > download.part && mv download.part download.bin && test "$(cat download.bin)" = 'all of it'
truncate -s 3 download.bin && test "$(cat download.bin)" = all
printf 'newer' > image.part && mv image.part image.png && truncate -s 3 image.png && test "$(stat -c %s image.png)" = 3`)
	m.sh(t, "F", `for i in $(seq 50); do
printf 'all of it' > d.part && mv d.part $i.bin && truncate -s 3 $i.bin && echo x >> $i.bin && test "$(cat $i.bin)" = allx || exit 1
done`)
	for i := range 50 {
		checkText(t, "source of a download", m.SourceText(fmt.Sprintf("F/%d.bin", i+1)), "allx\n")
	}
	checkText(t, "source of data.csv", m.SourceText("F/data.csv"), "a,b\nc,d\n")
	checkText(t, "source of image.png", m.SourceText("F/image.png"), "new")
	checkText(t, "source of download.bin", m.SourceText("F/download.bin"), "all")
}

// Direct mode writes notes as plain text.
func TestDirectMode(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	m.sh(t, "F", "sed -i s/six/seven/ Note.md; echo more >> Note.md")
	checkText(t, "source", m.SourceText("F/Note.md"), strings.Replace(tideTable, "six", "seven", 1)+"more\n")
}

// What editors and copying tools set is remembered, and published to nobody.
func TestAttributesAreRemembered(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	got := m.sh(t, "F", `chmod 644 Note.md && touch -d @1000000000 Note.md && chown 12:34 Note.md && stat -c '%a %Y %u:%g' Note.md && df --output=avail . | tail -1`)
	if fields := strings.Fields(got); len(fields) != 4 || fields[0] != "644" || fields[1] != "1000000000" || fields[2] != "12:34" || fields[3] == "0" {
		t.Errorf("got %q", got)
	}
	checkText(t, "source", m.SourceText("F/Note.md"), tideTable)
}

// A Folder that is offline refuses writes and new notes when they are opened,
// and is as before when it is back.
func TestOffline(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Unread.md": "unread\n"})
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), tideTable)
	m.SetOffline("F", true)
	for _, name := range []string{"Note.md", "Unread.md", "New.md"} {
		if f, err := os.OpenFile(m.path("F/"+name), os.O_WRONLY|os.O_CREATE, 0o644); !errors.Is(err, syscall.EIO) {
			t.Errorf("open of %s in an offline folder: %v, want EIO", name, err)
			f.Close()
		}
	}
	m.SetOffline("F", false)
	eventually(t, func() error { return wants("Note.md", m.cat(t, "F/Note.md"), tideTable) })
	checkText(t, "Unread.md", m.cat(t, "F/Unread.md"), "unread\n")
	checkText(t, "source", m.SourceText("F/Note.md"), tideTable)
}
