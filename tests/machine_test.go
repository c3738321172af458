package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

func checkRefused(t *testing.T, out output, want string) {
	t.Helper()
	if out.code != 1 {
		t.Errorf("exit code %d, want 1", out.code)
	}
	if !strings.HasPrefix(out.stderr, "relayfs: error: ") || !strings.Contains(out.stderr, "\nrelayfs: hint: ") {
		t.Errorf("no error and hint in %q", out.stderr)
	}
	if !strings.Contains(out.stderr, want) {
		t.Errorf("%q does not say %q", out.stderr, want)
	}
}

// Without fusermount3 root mounts directly, and anybody else is told what to
// install.
func TestMissingFusermount(t *testing.T) {
	requireFUSE(t)
	for _, uid := range []int{0, 65534} {
		t.Run(fmt.Sprintf("uid %d", uid), func(t *testing.T) {
			if os.Geteuid() != 0 {
				skip(t, "changing the user needs root")
			}
			s := newSandbox(t)
			s.env = append(s.env, "PATH="+s.mkdir(t, "empty"))
			vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
			if uid == 0 {
				m := s.mount(t, vault)
				checkText(t, "note", readFile(t, m.path("note.md")), saveBefore)
				m.stop(t)
				return
			}
			s.mkdir(t, "mnt")
			chownAll(t, s.dir, uid)
			cmd := s.command(t.Context(), "mount", vault, s.path("mnt"))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
			out := runCommand(t, cmd)
			checkRefused(t, out, "fusermount3")
		})
	}
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
for i in $(seq 600); do grep -q "^mounted" log && break; kill -0 $! || { cat log; exit 1; }; sleep 0.05; done
cat "$MNT/Vault/note.md" > read.txt
{ echo changed > "$MNT/Vault/note.md"; } 2>>errors.txt || true
{ echo new > "$MNT/Vault/new.md"; } 2>>errors.txt || true
cat "$MNT/Vault/note.md" > after.txt
"$RELAYFS" unmount "$MNT"
wait $!
`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := s.command(ctx)
	cmd.Path, cmd.Args = "/usr/bin/env", append(append([]string{"env"}, unshare...), "sh", "-c", script)
	cmd.Env = append(s.env, "VAULT="+vault, "MNT="+mnt, "RELAYFS="+relayfsBinary)
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
