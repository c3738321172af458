package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// asNobody runs a shell script as an ordinary user. Root becomes nobody, in a
// namespace of mounts of its own, in which /dev/fuse is open to all, as it is on
// most systems. setup runs before, as root, if the test does; files belong to the user.
func asNobody(t *testing.T, s *harness.Sandbox, setup, script string, env ...string) harness.Output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.QueueTimeout)
	defer cancel()
	cmd := s.Command(ctx)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", script}
	if os.Geteuid() == 0 {
		need.Programs(t, "unshare", "setpriv", "mknod")
		root := `mknod -m 666 "$TMP/fuse" c 10 229 && mount --bind "$TMP/fuse" /dev/fuse || exit 99
` + setup + `
exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$SCRIPT"`
		cmd.Path, cmd.Args = "/usr/bin/env", []string{"env", "unshare", "--mount", "sh", "-c", root}
		chownAll(t, s.Dir, 65534)
	}
	cmd.Env = append(s.Env, "TMP="+s.Dir, "SCRIPT="+script, "RELAYFS="+s.Binary)
	cmd.Env = append(cmd.Env, env...)
	out := harness.RunCommand(t, cmd)
	if out.Code == 99 || strings.Contains(out.Stderr, "unshare:") {
		need.Missing(t, "no namespaces or device nodes: %s", out.Stderr)
	}
	return out
}

// mountScript mounts, does what stands for WORK, and unmounts.
const mountScript = `
set -e
"$RELAYFS" mount $FLAGS "$VAULT" "$MNT" 2>"$TMP/log" &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
until grep -q "^mounted" "$TMP/log"; do kill -0 $server 2>/dev/null || { cat "$TMP/log" >&2; exit 1; }; sleep 0.05; done
WORK
"$RELAYFS" unmount "$MNT"
wait $server
`

// An ordinary user mounts through fusermount3, reads, writes and unmounts, and is
// the only one who gets in.
func TestMountAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "fusermount3")
	s := harness.NewSandbox(t)
	vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
	work := `
sed -i 's/six/seven/' "$MNT/Vault/note.md"
stat -c '%U %a' "$MNT/Vault/note.md"
grep " $MNT " /proc/self/mounts`
	out := asNobody(t, s, "", strings.Replace(mountScript, "WORK", work, 1), "FLAGS=", "VAULT="+vault, "MNT="+mnt)
	if out.Code != 0 {
		t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
	}
	if strings.Contains(out.Stdout, "allow_other") {
		t.Errorf("other users are let in: %s", out.Stdout)
	}
	raw := harness.ReadFile(t, filepath.Join(vault, "note.md"))
	if !strings.Contains(raw, "{--six--}{++seven++}") {
		t.Errorf("the vault's note: %q", raw)
	}
}

// allow-other is for whom the machine allows it; others are told what to write where.
func TestAllowOther(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "fusermount3")
	if os.Geteuid() != 0 {
		t.Skip("not root: /etc/fuse.conf cannot be replaced for the test")
	}
	for conf, allowed := range map[string]bool{"": false, "user_allow_other\n": true} {
		s := harness.NewSandbox(t)
		vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
		harness.WriteFile(t, s.Path("fuse.conf"), conf)
		// fusermount3 trusts a file of root's only.
		setup := `cp "$TMP/fuse.conf" "$TMP/root.conf" && chmod 644 "$TMP/root.conf" && mount --bind "$TMP/root.conf" /etc/fuse.conf || exit 99`
		work := `grep " $MNT " /proc/self/mounts`
		out := asNobody(t, s, setup, strings.Replace(mountScript, "WORK", work, 1), "FLAGS=", "RELAYFS_ALLOW_OTHER=true", "VAULT="+vault, "MNT="+mnt)
		if allowed && (out.Code != 0 || !strings.Contains(out.Stdout, "allow_other")) {
			t.Errorf("exit %d, mounted as %q: %s", out.Code, out.Stdout, out.Stderr)
		}
		if !allowed && (out.Code == 0 || !strings.Contains(out.Stderr, "hint: ") || !strings.Contains(out.Stderr, "user_allow_other in /etc/fuse.conf")) {
			t.Errorf("exit %d, want a refusal that names user_allow_other: %s", out.Code, out.Stderr)
		}
	}
}

// In a container that may not mount, mount and doctor say what it lacks.
func TestContainerThatMayNotMount(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "setpriv")
	if os.Geteuid() != 0 {
		t.Skip("not root: no capability to give up")
	}
	s := harness.NewSandbox(t)
	vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
	for _, args := range [][]string{{"mount", vault, mnt}, {"doctor", vault}} {
		cmd := s.Command(t.Context(), args...)
		cmd.Path = "/usr/bin/env"
		cmd.Args = append([]string{"env", "setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", s.Binary}, args...)
		out := harness.RunCommand(t, cmd)
		if out.Code != 1 || !strings.Contains(out.Stdout+out.Stderr, "--cap-add SYS_ADMIN") {
			t.Errorf("%s: exit %d: %s%s", args[0], out.Code, out.Stdout, out.Stderr)
		}
	}
	if harness.IsMounted(mnt) {
		t.Error("mounted all the same")
	}
}

// Doctor finds the vault of a running mount that is gone, and says that it comes back.
func TestDoctorLostVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	checkDoctor(t, s, nil, 0, "ok    vault Vault: ")
	away := s.Path("away")
	if err := os.Rename(m.Vault, away); err != nil {
		t.Fatal(err)
	}
	checkDoctor(t, s, nil, 1, "fail  vault Vault: "+m.Vault+" is missing", "fix: mount its disk or move the vault back")
	if err := os.Rename(away, m.Vault); err != nil {
		t.Fatal(err)
	}
	checkDoctor(t, s, nil, 0, "ok    vault Vault: ")
	harness.FileBecomes(t, m.Path("note.md"), harness.TideTable)
}

// Doctor finds disks that are full, and those that are about to be.
func TestDoctorFullDisk(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "1m")
	vault := s.Vault(t, "disk/Vault", map[string]string{"note.md": harness.TideTable})
	state := s.Mkdir(t, "disk", "state")
	args := []string{vault, "RELAYFS_STATE=" + state}
	checkDoctor(t, s, args, 0, "warn  vault Vault: the disk of "+vault+" has ", "KiB free", "warn  state folder: ")
	disk.Fill(t)
	checkDoctor(t, s, args, 1, "fail  vault Vault: the disk of "+vault+" is full", "fail  state folder: ", "fix: free space")
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) > 0 {
		t.Errorf("doctor has left %v, %v", entries, err)
	}
}

// The processes beside a mount keep nothing of it open: it would be busy for ever.
func TestHelpersLeaveTheMountAlone(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	for range 5 {
		m := s.Mount(t, vault)
		var helpers []string
		harness.Eventually(t, harness.StartTimeout, func() error {
			helpers = childrenOf(m.Cmd.Process.Pid)
			if len(helpers) < 1 {
				return errors.New("no process runs beside the mount that wakes watchers")
			}
			return nil
		})
		for _, pid := range helpers {
			open, _ := filepath.Glob("/proc/" + pid + "/fd/*")
			for _, fd := range open {
				if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, m.Dir) {
					t.Errorf("process %s beside the mount has %s open", pid, to)
				}
			}
		}
		m.Stop(t)
	}
}

// childrenOf are the processes that a process has started, which run their own program.
func childrenOf(pid int) (children []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range processes {
		stat, _ := os.ReadFile(proc + "/stat") // it may have ended
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != fmt.Sprint(pid) {
			continue
		}
		command, _ := os.ReadFile(proc + "/cmdline")
		if strings.Contains(string(command), "mount-poke") {
			children = append(children, filepath.Base(proc))
		}
	}
	return children
}

// checkDoctor runs doctor with args, and wants the exit code and the texts.
func checkDoctor(t *testing.T, s *harness.Sandbox, args []string, code int, texts ...string) {
	t.Helper()
	out := s.Run(t, append([]string{"doctor"}, args...)...)
	if out.Code != code {
		t.Errorf("doctor: exit %d, want %d: %s", out.Code, code, out.Stderr)
	}
	for _, text := range texts {
		if !strings.Contains(out.Stdout, text) {
			t.Errorf("doctor does not say %q:\n%s", text, out.Stdout)
		}
	}
}

// The state folder and backups lie outside of what people see of a vault.
func TestNothingOfOursInTheVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "note\n"})
	if err := os.Symlink(vault, s.Path("link")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"suggestions", "list", vault, "RELAYFS_STATE=" + filepath.Join(vault, "state")},
		{"suggestions", "list", vault, "RELAYFS_STATE=" + vault},
		{"suggestions", "list", vault, "RELAYFS_STATE=" + s.Path("link", "a", "state")},
		{"backup", filepath.Join(vault, "backup"), vault},
		{"backup", s.Path("link", "a", "backup"), vault},
	} {
		if out := s.Run(t, args...); out.Code == 0 || !strings.Contains(out.Stderr, "is inside vault") || !strings.Contains(out.Stderr, "outside of the vault") {
			t.Errorf("%v: %+v", args, out)
		}
	}
	if found, err := os.ReadDir(vault); err != nil || len(found) != 1 {
		t.Errorf("the vault has %v, %v", found, err)
	}
	for _, args := range [][]string{
		{"suggestions", "list", vault, "RELAYFS_STATE=" + filepath.Join(vault, ".hidden", "state")},
		{"backup", s.Path("backup"), vault},
	} {
		if out := s.Run(t, args...); out.Code != 0 {
			t.Errorf("%v: %+v", args, out)
		}
	}
}
