package tests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs a shell script as an ordinary user. Root becomes nobody, in a
// namespace of mounts of its own, in which /dev/fuse is open to all, as it is on
// most systems. setup runs before, as root, if the test does; files belong to the user.
func asNobody(t *testing.T, s *sandbox, setup, script string, env ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), queueTimeout)
	defer cancel()
	cmd := s.command(ctx)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", script}
	if os.Geteuid() == 0 {
		requireTools(t, "unshare", "setpriv", "mknod")
		root := `mknod -m 666 "$TMP/fuse" c 10 229 && mount --bind "$TMP/fuse" /dev/fuse || exit 99
` + setup + `
exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$SCRIPT"`
		cmd.Path, cmd.Args = "/usr/bin/env", []string{"env", "unshare", "--mount", "sh", "-c", root}
		chownAll(t, s.dir, 65534)
	}
	cmd.Env = append(s.env, "TMP="+s.dir, "SCRIPT="+script, "RELAYFS="+s.binary)
	cmd.Env = append(cmd.Env, env...)
	out := runCommand(t, cmd)
	if out.code == 99 || strings.Contains(out.stderr, "unshare:") {
		skip(t, "no namespaces or device nodes: %s", out.stderr)
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
	requireFUSE(t)
	requireTools(t, "fusermount3")
	s := newSandbox(t)
	vault, mnt := s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), s.mkdir(t, "mnt")
	work := `
sed -i 's/six/seven/' "$MNT/Vault/note.md"
stat -c '%U %a' "$MNT/Vault/note.md"
grep " $MNT " /proc/self/mounts`
	out := asNobody(t, s, "", strings.Replace(mountScript, "WORK", work, 1), "FLAGS=", "VAULT="+vault, "MNT="+mnt)
	if out.code != 0 {
		t.Fatalf("exit %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if strings.Contains(out.stdout, "allow_other") {
		t.Errorf("other users are let in: %s", out.stdout)
	}
	raw := readFile(t, filepath.Join(vault, "note.md"))
	if !strings.Contains(raw, "{--six--}{++seven++}") {
		t.Errorf("the vault's note: %q", raw)
	}
}

// --allow-other is for whom the machine allows it; others are told what to write where.
func TestAllowOther(t *testing.T) {
	requireFUSE(t)
	requireTools(t, "fusermount3")
	if os.Geteuid() != 0 {
		t.Skip("not root: /etc/fuse.conf cannot be replaced for the test")
	}
	for conf, allowed := range map[string]bool{"": false, "user_allow_other\n": true} {
		s := newSandbox(t)
		vault, mnt := s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), s.mkdir(t, "mnt")
		writeFile(t, s.path("fuse.conf"), conf)
		// fusermount3 trusts a file of root's only.
		setup := `cp "$TMP/fuse.conf" "$TMP/root.conf" && chmod 644 "$TMP/root.conf" && mount --bind "$TMP/root.conf" /etc/fuse.conf || exit 99`
		work := `grep " $MNT " /proc/self/mounts`
		out := asNobody(t, s, setup, strings.Replace(mountScript, "WORK", work, 1), "FLAGS=--allow-other", "VAULT="+vault, "MNT="+mnt)
		if allowed && (out.code != 0 || !strings.Contains(out.stdout, "allow_other")) {
			t.Errorf("exit %d, mounted as %q: %s", out.code, out.stdout, out.stderr)
		}
		if !allowed && (out.code == 0 || !strings.Contains(out.stderr, "hint: ") || !strings.Contains(out.stderr, "user_allow_other in /etc/fuse.conf")) {
			t.Errorf("exit %d, want a refusal that names user_allow_other: %s", out.code, out.stderr)
		}
	}
}

// In a container that may not mount, mount and doctor say what it lacks.
func TestContainerThatMayNotMount(t *testing.T) {
	requireFUSE(t)
	requireTools(t, "setpriv")
	if os.Geteuid() != 0 {
		t.Skip("not root: no capability to give up")
	}
	s := newSandbox(t)
	vault, mnt := s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), s.mkdir(t, "mnt")
	for _, args := range [][]string{{"mount", vault, mnt}, {"doctor", vault}} {
		cmd := s.command(t.Context(), args...)
		cmd.Path = "/usr/bin/env"
		cmd.Args = append([]string{"env", "setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", s.binary}, args...)
		out := runCommand(t, cmd)
		if out.code != 1 || !strings.Contains(out.stdout+out.stderr, "--cap-add SYS_ADMIN") {
			t.Errorf("%s: exit %d: %s%s", args[0], out.code, out.stdout, out.stderr)
		}
	}
	if isMounted(mnt) {
		t.Error("mounted all the same")
	}
}

// Doctor finds the vault of a running mount that is gone, and says that it comes back.
func TestDoctorLostVault(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	checkDoctor(t, s, nil, 0, "ok    vault Vault: ")
	away := s.path("away")
	if err := os.Rename(m.vault, away); err != nil {
		t.Fatal(err)
	}
	checkDoctor(t, s, nil, 1, "fail  vault Vault: "+m.vault+" is not there", "mend: mount its disk or move it back")
	if err := os.Rename(away, m.vault); err != nil {
		t.Fatal(err)
	}
	checkDoctor(t, s, nil, 0, "ok    vault Vault: ")
	waitForView(t, m, "note.md", saveBefore)
}

// Doctor finds disks that are full, and those that are about to be.
func TestDoctorFullDisk(t *testing.T) {
	s := newSandbox(t)
	disk := s.mkdir(t, "disk")
	if err := syscall.Mount("relayfs-test", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	vault := s.vault(t, "disk/Vault", map[string]string{"note.md": saveBefore})
	state := s.mkdir(t, "disk", "state")
	args := []string{vault, "--state", state}
	checkDoctor(t, s, args, 0, "warn  vault Vault: the disk of "+vault+" has ", "KiB free", "warn  state folder: ")
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	checkDoctor(t, s, args, 1, "fail  vault Vault: the disk of "+vault+" is full", "fail  state folder: ", "mend: free space")
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) > 0 {
		t.Errorf("doctor has left %v, %v", entries, err)
	}
}

// The processes beside a mount keep nothing of it open: it would be busy for ever.
func TestHelpersLeaveTheMountAlone(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
	for range 5 {
		m := s.mount(t, vault)
		var helpers []string
		eventually(t, startTimeout, func() error {
			helpers = childrenOf(m.cmd.Process.Pid)
			if len(helpers) < 2 {
				return fmt.Errorf("%d processes run beside the mount, want guard and poker", len(helpers))
			}
			return nil
		})
		for _, pid := range helpers {
			open, _ := filepath.Glob("/proc/" + pid + "/fd/*")
			for _, fd := range open {
				if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, m.dir) {
					t.Errorf("process %s beside the mount has %s open", pid, to)
				}
			}
		}
		m.stop(t)
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
		if strings.Contains(string(command), "mount-guard") || strings.Contains(string(command), "mount-poke") {
			children = append(children, filepath.Base(proc))
		}
	}
	return children
}

// checkDoctor runs doctor with args, and wants the exit code and the texts.
func checkDoctor(t *testing.T, s *sandbox, args []string, code int, texts ...string) {
	t.Helper()
	out := s.run(t, append([]string{"doctor"}, args...)...)
	if out.code != code {
		t.Errorf("doctor: exit %d, want %d: %s", out.code, code, out.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(out.stdout, text) {
			t.Errorf("doctor does not say %q:\n%s", text, out.stdout)
		}
	}
}
