package tests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
)

// A machine that cannot mount, or should not here, gets a sentence and a hint.
func TestMountRefusals(t *testing.T) {
	requireFUSE(t)
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
	full := s.mkdir(t, "full")
	writeFile(t, filepath.Join(full, "mine.txt"), "do not hide me")
	writeFile(t, s.path("file"), "")
	tests := []struct {
		name       string
		mountpoint string
		want       string // in the message
	}{
		{"mountpoint not empty", full, "not empty"},
		{"mountpoint missing", s.path("nowhere"), "nowhere"},
		{"mountpoint a file", s.path("file"), "directory"},
		{"mountpoint in the vault", vault, "inside each other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := s.run(t, "mount", vault, tt.mountpoint)
			checkRefused(t, out, tt.want)
			if isMounted(tt.mountpoint) {
				t.Error("mounted all the same")
			}
		})
	}
	if readFile(t, filepath.Join(full, "mine.txt")) != "do not hide me" {
		t.Error("the full folder was hidden")
	}
}

// Without fusermount3 root mounts directly, as it always does.
func TestRootNeedsNoFusermount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root; TestMissingFusermount is for others")
	}
	s := newSandbox(t)
	s.env = append(s.env, "PATH="+s.mkdir(t, "empty"))
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	checkText(t, "note", readFile(t, m.path("note.md")), saveBefore)
	m.stop(t)
}

// Anybody but root is told what to install.
func TestMissingFusermount(t *testing.T) {
	requireFUSE(t)
	s := newSandbox(t)
	vault, mnt := s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), s.mkdir(t, "mnt")
	script := `PATH="$EMPTY" exec "$RELAYFS" mount "$VAULT" "$MNT"`
	if os.Geteuid() == 0 {
		// Become nobody, who may open a device node of our own in a namespace of our own.
		requireTools(t, "unshare", "setpriv", "mknod")
		script = `mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse &&
			exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '` + script + `'`
		for _, path := range []string{s.dir, s.path("xdg"), vault, mnt} {
			chownAll(t, path, 65534)
		}
	}
	cmd := s.command(t.Context())
	cmd.Path, cmd.Args = "/usr/bin/env", []string{"env", "unshare", "--mount", "sh", "-c", script}
	if os.Geteuid() != 0 {
		cmd.Args = []string{"env", "sh", "-c", script}
	}
	cmd.Env = append(s.env, "EMPTY="+s.mkdir(t, "empty"), "RELAYFS="+s.binary, "VAULT="+vault, "MNT="+mnt)
	out := runCommand(t, cmd)
	if strings.Contains(out.stderr, "unshare:") || strings.Contains(out.stderr, "mknod:") {
		skip(t, "no namespaces or device nodes: %s", out.stderr)
	}
	checkRefused(t, out, "fusermount3")
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
	requireFUSE(t)
	requireTools(t, "unshare", "mount")
	s := newSandbox(t)
	vault, mnt := s.mkdir(t, "Vault"), s.mkdir(t, "mnt")
	writeFile(t, s.path("note.md"), saveBefore)
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
"$RELAYFS" unmount "$MNT"
wait $!
`
	ctx, cancel := context.WithTimeout(t.Context(), limittest.Scaled(time.Minute))
	defer cancel()
	cmd := s.command(ctx)
	cmd.Path, cmd.Args = "/usr/bin/env", append(append([]string{"env"}, unshare...), "sh", "-c", script)
	cmd.Env = append(s.env, "VAULT="+vault, "MNT="+mnt, "RELAYFS="+s.binary)
	if out := runCommand(t, cmd); out.code != 0 {
		if strings.Contains(out.stderr, "unshare") {
			skip(t, "no namespaces: %s", out.stderr)
		}
		log, _ := os.ReadFile(s.path("log"))
		t.Fatalf("exit %d: %s%s\n%s", out.code, out.stdout, out.stderr, log)
	}
	checkText(t, "note", readFile(t, s.path("read.txt")), saveBefore)
	checkText(t, "note after the write", readFile(t, s.path("after.txt")), saveBefore)
	if n := strings.Count(readFile(t, s.path("errors.txt")), "Read-only file system"); n != 2 {
		t.Errorf("%d writes said read-only, want 2: %s", n, readFile(t, s.path("errors.txt")))
	}
}
