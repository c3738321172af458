package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// The tests of this file run one after the other, with nothing beside them: a program that another test starts holds what
// is open here until it runs, and its close then saves anew what was refused.

// shape is one way in which a program saves, with the error that it gets.
type shape struct {
	name string
	save func(name, text string) error
}

func saveShapes() []shape {
	return []shape{
		{"in place", func(name, text string) error { return os.WriteFile(name, []byte(text), 0o644) }},
		{"in place, synced", saveSynced},
		{"what differs", overwriteEnd},
		{"rename over", func(name, text string) error {
			temp := name + ".tmp"
			if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
				return err
			}
			return errors.Join(os.Rename(temp, name), ignoreMissing(os.Remove(temp)))
		}},
		{"unlink and create", func(name, text string) error {
			return errors.Join(ignoreMissing(os.Remove(name)), os.WriteFile(name, []byte(text), 0o644))
		}},
		{"move away and create", func(name, text string) error {
			backup := name + "~"
			if err := os.Rename(name, backup); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return errors.Join(err, os.Rename(backup, name)) // as vim leaves it to people
			}
			return os.Remove(backup)
		}},
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// saveSynced is the error of fsync(2).
func saveSynced(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

// shapeFiles is a vault in which each way to save has a note of its own.
func shapeFiles() map[string]string {
	files := make(map[string]string)
	for _, shape := range saveShapes() {
		files[shape.name+"/note.md"] = harness.TideTable
	}
	return files
}

// A disk that is full or fails: whoever saves is told so by close, fsync or
// rename, the note is what it was, nothing half-written is left, the mount goes
// on, and the same save succeeds once the disk does.
func TestFailingDisk(t *testing.T) {
	tests := []struct {
		name   string
		state  bool // the disk is that of the state folder
		faults faults
		want   syscall.Errno
	}{
		{"full disk", false, faults{"create": syscall.ENOSPC, "write": syscall.ENOSPC}, syscall.ENOSPC},
		{"full disk, half written", false, faults{"write": syscall.ENOSPC}, syscall.ENOSPC},
		{"write fails", false, faults{"write": syscall.EIO}, syscall.EIO},
		{"fsync fails", false, faults{"fsync": syscall.EIO}, syscall.EIO},
		{"rename fails", false, faults{"rename": syscall.EIO}, syscall.EIO},
		{"state folder's disk full", true, faults{"create": syscall.ENOSPC, "write": syscall.ENOSPC}, syscall.ENOSPC},
		{"state folder's disk fails", true, faults{"write": syscall.EIO, "fsync": syscall.EIO}, syscall.EIO},
		{"state folder's disk read-only", true, faults{"create": syscall.EROFS, "write": syscall.EROFS, "rename": syscall.EROFS}, syscall.EROFS},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, disk := mountOnFaultyDisk(t, tt.state, shapeFiles())
			for _, shape := range saveShapes() {
				t.Run(shape.name, func(t *testing.T) {
					testFault(t, m, shape, tt.want, func() { disk.fail(tt.faults) }, func() { disk.fail(nil) })
				})
			}
			m.Stop(t)
		})
	}
}

// mountOnFaultyDisk mounts a vault that is on a faulty disk, or whose state folder is.
func mountOnFaultyDisk(t *testing.T, state bool, files map[string]string) (*harness.Mount, *faultyDisk) {
	t.Helper()
	s := harness.NewSandbox(t)
	disk := newFaultyDisk(t, s, "disk")
	if state {
		return s.Mount(t, s.Vault(t, "Vault", files), "RELAYFS_STATE="+filepath.Join(disk.dir, "state")), disk
	}
	return s.Mount(t, s.Vault(t, filepath.Join("disk", "Vault"), files)), disk
}

// testFault saves while the disk is broken, and once it is mended.
func testFault(t *testing.T, m *harness.Mount, shape shape, want syscall.Errno, breakDisk, mend func()) {
	name := shape.name + "/note.md"
	before := harness.ReadFile(t, m.Path(name))
	after := strings.Replace(before, "six", "seven", 1) + "And a last line.\n"
	breakDisk()
	if err := shape.save(m.Path(name), after); !errors.Is(err, want) {
		t.Errorf("the save on the broken disk: %v, want %v", err, want)
	}
	harness.CheckText(t, "vault's note after the failure", harness.ReadFile(t, m.VaultPath(name)), before)
	harness.FileBecomes(t, m.Path(name), before)
	mend()
	if err := shape.save(m.Path(name), after); err != nil {
		t.Errorf("the save on the mended disk: %v", err)
	}
	raw := harness.ReadFile(t, m.VaultPath(name))
	harness.CheckText(t, "original view", diffwrap.Everything.Original(raw), before)
	harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(raw), after)
	harness.Eventually(t, harness.StartTimeout, func() error { // the file that was displaced goes last
		if got := fmt.Sprint(harness.ListFiles(t, filepath.Dir(m.VaultPath(name)))); got != "[note.md]" {
			return fmt.Errorf("the vault's folder holds %s, want %s", got, "[note.md]")
		}
		return nil
	})
}

// A save that was refused is no base: who read the file before its writer closed it, or
// has it open and writes there, saves all of the text with the next save.
func TestRefusedTextIsNoBase(t *testing.T) {
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	saves := map[string]func(m *harness.Mount, name string, open *os.File) error{
		"anew": func(m *harness.Mount, name string, _ *os.File) error {
			return os.WriteFile(m.Path(name), []byte(after), 0o644)
		},
		"where it is open": func(_ *harness.Mount, _ string, open *os.File) error {
			_, err := open.WriteAt([]byte(after), 0)
			return err
		},
	}
	for how, save := range saves {
		t.Run(how, func(t *testing.T) {
			const name = "note.md"
			m, disk := mountOnFaultyDisk(t, false, map[string]string{name: harness.TideTable})
			harness.CheckText(t, "the mount", harness.ReadFile(t, m.Path(name)), harness.TideTable)
			w, err := os.OpenFile(m.Path(name), os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				t.Fatal(err)
			}
			disk.fail(faults{"write": syscall.EIO})
			if _, err := w.WriteString(after); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(); !errors.Is(err, syscall.EIO) {
				t.Errorf("fsync on the broken disk: %v", err)
			}
			open, err := os.OpenFile(m.Path(name), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err == nil {
				t.Error("close on the broken disk succeeds")
			}
			harness.Eventually(t, harness.StartTimeout, func() error { // the note is at its name again
				if info, err := os.Stat(m.Path(name)); err != nil || info.Size() != int64(len(harness.TideTable)) {
					return fmt.Errorf("the mount shows the refused text: %v", err)
				}
				return nil
			})
			disk.fail(nil)
			if err := errors.Join(save(m, name, open), open.Close()); err != nil {
				t.Errorf("the save on the mended disk: %v", err)
			}
			raw := harness.ReadFile(t, m.VaultPath(name))
			harness.CheckText(t, "original view", diffwrap.Everything.Original(raw), harness.TideTable)
			harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(raw), after)
			m.Stop(t)
		})
	}
}

// A save that was refused is not made later, when nobody expects it any more: also if
// the disk took longer to fail than what a program leaves alone waits to be saved.
func TestRefusedIsNotSavedLater(t *testing.T) {
	m, disk := mountOnFaultyDisk(t, false, shapeFiles())
	for _, shape := range saveShapes() {
		if shape.name != "in place" && shape.name != "what differs" {
			continue // after the refusal these save once more, or begin with a file of their own
		}
		t.Run(shape.name, func(t *testing.T) {
			name := shape.name + "/note.md"
			disk.failLate("fsync", syscall.EIO, 1500*time.Millisecond)
			if err := shape.save(m.Path(name), harness.TideTable+"And a last line.\n"); !errors.Is(err, syscall.EIO) {
				t.Errorf("the save on a disk that fails late: %v", err)
			}
			time.Sleep(500 * time.Millisecond)
			harness.CheckText(t, "the vault's note", harness.ReadFile(t, m.VaultPath(name)), harness.TideTable)
			harness.FileBecomes(t, m.Path(name), harness.TideTable)
		})
	}
	m.Stop(t)
}

// A save is on the disk when it returns, but for its name: if that fails, the
// mount shows what was saved, and fsync says that a power cut may take it.
func TestFailingFolderSync(t *testing.T) {
	m, disk := mountOnFaultyDisk(t, false, shapeFiles())
	for _, shape := range saveShapes() {
		t.Run(shape.name, func(t *testing.T) {
			name := shape.name + "/note.md"
			after := harness.ReadFile(t, m.Path(name)) + "And a last line.\n"
			disk.fail(faults{"fsyncdir": syscall.EIO})
			if err := shape.save(m.Path(name), after); err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("the save: %v", err)
			}
			harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(harness.ReadFile(t, m.VaultPath(name))), after)
			harness.CheckText(t, "the mount", harness.ReadFile(t, m.Path(name)), after)
			if err := syncFile(m.Path(name)); !errors.Is(err, syscall.EIO) {
				t.Errorf("fsync while the folder cannot be synced: %v", err)
			}
			disk.fail(nil)
			_ = syncFile(m.Path(name)) // may tell of the sync that the save started
			if err := syncFile(m.Path(name)); err != nil {
				t.Errorf("fsync on the mended disk: %v", err)
			}
			harness.Eventually(t, harness.StartTimeout, func() error {
				if got := fmt.Sprint(harness.ListFiles(t, filepath.Dir(m.VaultPath(name)))); got != "[note.md]" {
					return fmt.Errorf("the vault's folder holds %s, want %s", got, "[note.md]")
				}
				return nil
			})
		})
	}
	m.Stop(t)
}

// syncFile is the error of an fsync(2) of somebody who has written nothing.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// TestFailingDisk on disks that are full or read-only for real, and on which there is room again, or that are writable,
// while the mount goes on.
func TestFullDisk(t *testing.T) {
	for kind, size := range map[string]string{"tmpfs": "256k", "ext4": "8M"} {
		t.Run(kind, func(t *testing.T) {
			s := harness.NewSandbox(t)
			disk := s.SmallDiskOf(t, kind, size)
			m := s.Mount(t, s.Vault(t, filepath.Join("disk", "Vault"), shapeFiles()))
			for _, shape := range saveShapes() {
				t.Run(shape.name, func(t *testing.T) {
					testFault(t, m, shape, syscall.ENOSPC, func() {
						// The disk gets the blocks of a file that a save has replaced only when relayfs closes that file.
						harness.Eventually(t, harness.StartTimeout, func() error { return noDeletedFiles(m.Cmd.Process.Pid, disk.Dir) })
						disk.Fill(t)
					}, func() { disk.Drain(t) })
				})
			}
			m.Stop(t)
		})
	}
}

// noDeletedFiles fails while a process has a deleted file below dir open.
func noDeletedFiles(pid int, dir string) error {
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	list, err := os.ReadDir(fds)
	for _, fd := range list {
		if at, _ := os.Readlink(filepath.Join(fds, fd.Name())); strings.HasPrefix(at, dir+"/") && strings.HasSuffix(at, " (deleted)") {
			return fmt.Errorf("%s is open", at)
		}
	}
	return err
}

// So on a disk that is mounted read-only, and for writing again.
func TestReadOnlyDisk(t *testing.T) {
	s := harness.NewSandbox(t)
	disk := s.SmallDiskOf(t, "ext4", "8M")
	m := s.Mount(t, s.Vault(t, filepath.Join("disk", "Vault"), shapeFiles()))
	const locked = "read-only"
	for _, shape := range saveShapes() {
		t.Run(shape.name, func(t *testing.T) {
			testFault(t, m, shape, syscall.EROFS, func() {
				disk.SetReadOnly(t, true)
				time.Sleep(readOnlySeen)
				if out := s.Run(t, "status"); !strings.Contains(out.Stdout, locked) {
					t.Errorf("status says\n%s, want that the vault is read-only", out.Stdout)
				}
			}, func() {
				disk.SetReadOnly(t, false)
				time.Sleep(readOnlySeen)
				if out := s.Run(t, "status"); strings.Contains(out.Stdout, locked) {
					t.Errorf("the disk can be written, and status says\n%s", out.Stdout)
				}
			})
		})
	}
	m.Stop(t)
}

// readOnlySeen is how long a mount may take to see that a disk is read-only, or is that no more.
const readOnlySeen = 1100 * time.Millisecond

// On a state disk that is full for real nothing is acknowledged that is not kept, status says so, and saves go on once there
// is room, without a restart.
func TestFullStateDisk(t *testing.T) {
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			s := harness.NewSandbox(t)
			disk := s.SmallDiskOf(t, kind, "8M")
			state := filepath.Join(disk.Dir, "state")
			m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": "begin\n"}), "RELAYFS_STATE="+state)
			status := func() string { return s.Run(t, "status", "RELAYFS_STATE="+state).Stdout }
			kept := "begin\n"
			save := func(i int) error {
				text := kept + fmt.Sprintf("%d %s\n", i, strings.Repeat("words ", 2000))
				err := harness.WriteAll(m.Path("note.md"), []byte(text))
				if err == nil {
					kept = text
				}
				return err
			}
			for round := range 3 {
				disk.Fill(t)
				var err error
				for i := 0; err == nil && i < 1000; i++ { // the log has room in advance
					err = save(i)
					disk.Fill(t)
				}
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("round %d: a save on the full disk: %v", round, err)
				}
				if !strings.Contains(status(), "changes cannot be stored in") {
					t.Errorf("round %d: status says\n%s", round, status())
				}
				harness.FileBecomes(t, m.Path("note.md"), kept)
				harness.CheckText(t, "the vault's note", diffwrap.Accepted(harness.ReadFile(t, m.VaultPath("note.md"))), kept)
				disk.Drain(t)
				if strings.Contains(status(), "changes cannot be stored in") {
					t.Errorf("round %d: there is room, and status says\n%s", round, status())
				}
				harness.Eventually(t, harness.StartTimeout, func() error { // the checkpoint is tried again every second
					if says := status(); strings.Contains(says, "PROBLEM") {
						return errors.New(says)
					}
					return nil
				})
				if err := save(-1); err != nil {
					t.Errorf("round %d: a save once there is room: %v", round, err)
				}
			}
			m.Stop(t)
			m = s.Mount(t, m.Vault, "RELAYFS_STATE="+state)
			harness.FileBecomes(t, m.Path("note.md"), kept)
			m.Stop(t)
		})
	}
}

// kill -9 on a disk that fails now and then: every save whose close had returned
// without an error is there, none that failed, and nothing half-written.
func TestKillOnAFailingDisk(t *testing.T) {
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	disk := newFaultyDisk(t, s, "disk")
	vault := s.Vault(t, filepath.Join("disk", "Vault"), shapeFiles())
	names := harness.ListFiles(t, vault)
	notes := make(map[string]written)
	for name := range shapeFiles() {
		notes[name] = written{kept: harness.TideTable}
	}
	all := []faults{nil, {"write": syscall.ENOSPC}, {"fsync": syscall.EIO}, {"fsyncdir": syscall.EIO}, {"rename": syscall.EIO}}
	for range 5 {
		m := s.Mount(t, vault)
		checkAfterCrash(t, m, notes, names)
		for i := range 20 {
			shape := saveShapes()[rng.IntN(len(saveShapes()))]
			name := shape.name + "/note.md"
			kept := notes[name].kept
			text := randomEdit(rng, kept, i)
			fault := all[rng.IntN(len(all))]
			disk.fail(fault)
			// If only the folder cannot be synced, or could not the last time, fsync
			// fails, and what was saved stays.
			if err := shape.save(m.Path(name), text); err == nil || fault == nil || fault["fsyncdir"] != 0 {
				notes[name] = written{kept: text}
			} else {
				harness.FileBecomes(t, m.Path(name), kept)
			}
		}
		m.Kill(t)
		disk.fail(nil)
		if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
			t.Fatalf("unmount of the dead mount: exit %d: %s", out.Code, out.Stderr)
		}
	}
	m := s.Mount(t, vault)
	checkAfterCrash(t, m, notes, names)
	m.Stop(t)
}

// A new note for which there is no room, in the vault or in the state folder, is not
// made, and leaves nothing behind.
func TestCreateOnAFailingDisk(t *testing.T) {
	tests := []struct {
		name   string
		state  bool // the disk is that of the state folder
		faults []faults
	}{
		{"vault", false, []faults{{"create": syscall.ENOSPC}, {"write": syscall.ENOSPC}, {"fsync": syscall.EIO}, {"fsyncdir": syscall.EIO}, {"rename": syscall.EIO}}},
		{"state folder", true, []faults{{"create": syscall.ENOSPC, "write": syscall.ENOSPC}, {"write": syscall.EIO, "fsync": syscall.EIO}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, disk := mountOnFaultyDisk(t, tt.state, map[string]string{"note.md": harness.TideTable})
			for _, f := range tt.faults {
				t.Run(fmt.Sprint(f), func(t *testing.T) { testCreateFault(t, m, disk, f) })
			}
			m.Stop(t)
		})
	}
}

// testCreateFault makes a note while the disk has the faults, and once it is mended.
func testCreateFault(t *testing.T, m *harness.Mount, disk *faultyDisk, f faults) {
	var want syscall.Errno
	for _, errno := range f {
		want = errno
	}
	disk.fail(f)
	if err := os.WriteFile(m.Path("new.md"), []byte("new\n"), 0o644); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	if got := fmt.Sprint(harness.ListFiles(t, m.Vault)); got != "[note.md]" {
		t.Errorf("the vault holds %s, want %s", got, "[note.md]")
	}
	deleted := func() error {
		if _, err := os.Stat(m.Path("new.md")); !os.IsNotExist(err) {
			return fmt.Errorf("the mount shows a note that is not there: %v", err)
		}
		if got := fmt.Sprint(harness.ListFiles(t, m.Dir)); strings.Contains(got, "new.md") {
			return fmt.Errorf("the mount lists %s", got)
		}
		return nil
	}
	harness.Eventually(t, harness.StartTimeout, deleted)
	disk.fail(nil)
	harness.WriteFile(t, m.Path("new.md"), "new\n")
	harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(harness.ReadFile(t, m.VaultPath("new.md"))), "new\n")
	harness.CheckText(t, "original view", diffwrap.Everything.Original(harness.ReadFile(t, m.VaultPath("new.md"))), "")
	if err := os.Remove(m.VaultPath("new.md")); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.StartTimeout, deleted)
}

// A tool that finds the disk full says so, and changes nothing.
func TestMCPOnAFullDisk(t *testing.T) {
	s := harness.NewSandbox(t)
	disk := newFaultyDisk(t, s, "disk")
	m := s.Mount(t, s.Vault(t, filepath.Join("disk", "Vault"), map[string]string{"note.md": harness.TideTable}))
	client := s.MCP(t, m.Vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	edit := []any{"file_path", "Vault/note.md", "old_string", "six", "new_string", "seven"}
	disk.fail(faults{"create": syscall.ENOSPC, "write": syscall.ENOSPC})
	if got := client.Call(t, "edit", edit...); !got.IsError || !strings.Contains(got.Text, "no space left") {
		t.Errorf("the tool says %+v", got)
	}
	harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("note.md")), harness.TideTable)
	disk.fail(nil)
	client.MustCall(t, "edit", edit...)
	m.CheckSuggested(t, "note.md", harness.TideTable, strings.Replace(harness.TideTable, "six", "seven", 1))
}
