package cli

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A machine that cannot mount, or should not here, gets a sentence and a hint.
func TestMountRefusals(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	full := s.Mkdir(t, "full")
	harness.WriteFile(t, filepath.Join(full, "mine.txt"), "do not hide me")
	harness.WriteFile(t, s.Path("file"), "")
	tests := []struct {
		name       string
		mountpoint string
		want       string // in the message
	}{
		{"mountpoint not empty", full, "not empty"},
		{"mountpoint missing", s.Path("nowhere"), "nowhere"},
		{"mountpoint a file", s.Path("file"), "directory"},
		{"mountpoint in the vault", vault, "inside each other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := s.Run(t, "mount", vault, tt.mountpoint)
			harness.CheckRefused(t, out, tt.want)
			if harness.IsMounted(tt.mountpoint) {
				t.Error("mounted all the same")
			}
		})
	}
	if harness.ReadFile(t, filepath.Join(full, "mine.txt")) != "do not hide me" {
		t.Error("the full folder was hidden")
	}
}

// A mount whose log goes to a pipe continues when the pipe's reader has ended.
func TestMountOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault, dir := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
	cmd := s.Command(t.Context(), "mount", vault, dir)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(stderr).ReadString('\n') // mounted
	}
	if err == nil {
		err = stderr.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(dir, "Vault", "note.md")
	harness.CheckErrno(t, harness.WriteAll(note, []byte(harness.TideTable+"{++a whole mark++}\n")), syscall.EINVAL) // which the log reports
	if err := harness.WriteAll(note, []byte(harness.TideTable+"more\n")); err != nil {
		t.Error("a save after that:", err)
	}
	if out := s.Run(t, "unmount", dir); out.Code != 0 {
		t.Error(out.Stderr)
	}
	if err := cmd.Wait(); err != nil {
		t.Error("relayfs mount:", err)
	}
}

// Without fusermount3 root mounts directly, as it always does.
func TestRootNeedsNoFusermount(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("not root; TestMissingFusermount is for others")
	}
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "PATH="+s.Mkdir(t, "empty"))
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	harness.CheckText(t, "note", harness.ReadFile(t, m.Path("note.md")), harness.TideTable)
	m.Stop(t)
}

// Anybody but root is told what to install.
func TestMissingFusermount(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
	script := `PATH="$EMPTY" exec "$RELAYFS" mount "$VAULT" "$MNT"`
	if os.Geteuid() == 0 {
		// Become nobody, who may open a device node of our own in a namespace of our own.
		need.Programs(t, "unshare", "setpriv", "mknod")
		script = `mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse &&
			exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '` + script + `'`
		for _, path := range []string{s.Dir, s.Path("xdg"), vault, mnt} {
			chownAll(t, path, 65534)
		}
	}
	cmd := s.Command(t.Context())
	cmd.Path, cmd.Args = "/usr/bin/env", []string{"env", "unshare", "--mount", "sh", "-c", script}
	if os.Geteuid() != 0 {
		cmd.Args = []string{"env", "sh", "-c", script}
	}
	cmd.Env = append(s.Env, "EMPTY="+s.Mkdir(t, "empty"), "RELAYFS="+s.Binary, "VAULT="+vault, "MNT="+mnt)
	out := harness.RunCommand(t, cmd)
	if strings.Contains(out.Stderr, "unshare:") || strings.Contains(out.Stderr, "mknod:") {
		need.Missing(t, "no namespaces or device nodes: %s", out.Stderr)
	}
	harness.CheckRefused(t, out, "fusermount3")
}

func chownAll(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A vault on a read-only disk is served; writes say read-only. The mount lives
// in a namespace of its own, so that no disk of the machine is touched.
func TestVaultOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "unshare", "mount")
	s := harness.NewSandbox(t)
	vault, mnt := s.Mkdir(t, "Vault"), s.Mkdir(t, "mnt")
	harness.WriteFile(t, s.Path("note.md"), harness.TideTable)
	unshare := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	const script = `
set -e
mount -t tmpfs none "$VAULT"; cp note.md "$VAULT/"; mount -o remount,ro "$VAULT"
"$RELAYFS" mount "$VAULT" "$MNT" 2>log &
until grep -q "^mounted" log; do kill -0 $! || { cat log; exit 1; }; sleep 0.05; done
cat "$MNT/Vault/note.md" > read.txt
{ echo changed > "$MNT/Vault/note.md"; } 2>>errors.txt || true
{ echo new > "$MNT/Vault/new.md"; } 2>>errors.txt || true
cat "$MNT/Vault/note.md" > after.txt
"$RELAYFS" status > status.txt
"$RELAYFS" unmount "$MNT"
wait $!
`
	ctx, cancel := context.WithTimeout(t.Context(), need.Scaled(time.Minute))
	defer cancel()
	cmd := s.Command(ctx)
	cmd.Path, cmd.Args = "/usr/bin/env", append(append([]string{"env"}, unshare...), "sh", "-c", script)
	cmd.Env = append(s.Env, "VAULT="+vault, "MNT="+mnt, "RELAYFS="+s.Binary)
	if out := harness.RunCommand(t, cmd); out.Code != 0 {
		if strings.Contains(out.Stderr, "unshare") {
			need.Missing(t, "no namespaces: %s", out.Stderr)
		}
		log, _ := os.ReadFile(s.Path("log"))
		t.Fatalf("exit %d: %s%s\n%s", out.Code, out.Stdout, out.Stderr, log)
	}
	harness.CheckText(t, "note", harness.ReadFile(t, s.Path("read.txt")), harness.TideTable)
	harness.CheckText(t, "note after the write", harness.ReadFile(t, s.Path("after.txt")), harness.TideTable)
	if n := strings.Count(harness.ReadFile(t, s.Path("errors.txt")), "Read-only file system"); n != 2 {
		t.Errorf("%d writes said read-only, want 2: %s", n, harness.ReadFile(t, s.Path("errors.txt")))
	}
	if status := harness.ReadFile(t, s.Path("status.txt")); !strings.Contains(status, "READ-ONLY: its disk is mounted read-only") {
		t.Errorf("status does not say that the disk is read-only: %s", status)
	}
}
