package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// statted is everything that statx(2) tells of a file.
type statted struct {
	Dev, Rdev               [2]uint32
	Ino                     uint64
	Nlink, UID, GID         uint32
	Mode                    uint16
	Size, Blocks            uint64
	Blksize                 uint32
	Atime, Mtime, Ctime     time.Time
	Mask, Attributes, Mask2 uint64
}

func statOf(dir int, name string, flags int) (statted, error) {
	var s unix.Statx_t
	err := unix.Statx(dir, name, flags|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &s)
	at := func(t unix.StatxTimestamp) time.Time { return time.Unix(t.Sec, int64(t.Nsec)) }
	return statted{
		Dev: [2]uint32{s.Dev_major, s.Dev_minor}, Rdev: [2]uint32{s.Rdev_major, s.Rdev_minor},
		Ino: s.Ino, Nlink: s.Nlink, UID: s.Uid, GID: s.Gid, Mode: s.Mode,
		Size: s.Size, Blocks: s.Blocks, Blksize: s.Blksize,
		Atime: at(s.Atime), Mtime: at(s.Mtime), Ctime: at(s.Ctime),
		Mask: uint64(s.Mask), Attributes: s.Attributes, Mask2: s.Attributes_mask,
	}, err
}

// watchedFile is a file of a mount whose attributes are looked at after each call.
type watchedFile struct {
	t    *testing.T
	name string
	fd   int // of a descriptor that stays open, or -1
	was  statted
}

// look compares all that can be told of the file with what was told before: by its
// name and its descriptor, from what the kernel has and from what it is told anew, and
// the number by which its folder lists it. size is what it must be, unless negative.
func (w *watchedFile) look(call string, size int64) {
	w.t.Helper()
	first, err := statOf(unix.AT_FDCWD, w.name, 0)
	if err != nil {
		w.t.Errorf("%s: stat %s: %v", call, w.name, err)
		return
	}
	if again, err := statOf(unix.AT_FDCWD, w.name, unix.AT_STATX_FORCE_SYNC); err != nil || again != first {
		w.t.Errorf("%s: %s asked anew: %+v, %v; at first %+v", call, w.name, again, err, first)
	}
	// The kernel does not keep an answer during which relayfs notified it of a change, such as that of the call.
	harness.Eventually(w.t, need.Scaled(5*time.Second), func() error {
		now, _ := statOf(unix.AT_FDCWD, w.name, 0)
		if cached, err := statOf(unix.AT_FDCWD, w.name, unix.AT_STATX_DONT_SYNC); err != nil || cached != first || now != first {
			return fmt.Errorf("%s: %s from the cache: %+v, %v; now %+v; at first %+v", call, w.name, cached, err, now, first)
		}
		return nil
	})
	if w.fd >= 0 {
		if open, err := statOf(w.fd, "", unix.AT_EMPTY_PATH); err != nil || open != first {
			w.t.Errorf("%s: the descriptor of %s tells %+v, %v; its name %+v", call, w.name, open, err, first)
		}
	}
	if ino := listedIno(w.t, w.name); ino != first.Ino {
		w.t.Errorf("%s: %s is listed with number %d and has %d", call, w.name, ino, first.Ino)
	}
	want := w.was
	if size >= 0 {
		want.Size = uint64(size)
	}
	want.Blocks = (want.Size + 511) / 512
	want.Atime, want.Mtime, want.Ctime = first.Atime, first.Mtime, first.Ctime
	if first != want || first.Ino == 0 || first.Blksize == 0 {
		w.t.Errorf("%s: %s has\n%+v, want\n%+v", call, w.name, first, want)
	}
	if first.Ctime.Before(w.was.Ctime) || first.Mtime.Before(w.was.Mtime) && !strings.Contains(call, "utimes") {
		w.t.Errorf("%s: times of %s go back: %+v after %+v", call, w.name, first, w.was)
	}
	w.was = first
}

// listedIno is the number by which the folder lists the name.
func listedIno(t *testing.T, name string) uint64 {
	t.Helper()
	out, err := exec.Command("find", filepath.Dir(name), "-maxdepth", "1", "-name", filepath.Base(name), "-printf", "%i").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ino uint64
	if _, err := fmt.Sscan(string(out), &ino); err != nil {
		t.Errorf("%s is not listed: %q", name, out)
	}
	return ino
}

// do makes a call and looks.
func (w *watchedFile) do(call string, size int64, f func() error) {
	w.t.Helper()
	if err := f(); err != nil {
		w.t.Errorf("%s of %s: %v", call, w.name, err)
		return
	}
	w.look(call, size)
}

// TestStatIsComplete looks at all attributes of all kinds of files after each call
// that answers with them, or changes them.
func TestStatIsComplete(t *testing.T) {
	for _, mode := range []string{"suggest", "direct"} {
		t.Run(mode, func(t *testing.T) { testStat(t, mode) })
	}
}

// statKind is a kind of file: how one is made, nil if it is there, and its mode.
type statKind struct {
	make     func(name string) error
	mode     uint16
	writable bool
}

func makeFile(name string) error { return os.WriteFile(name, []byte("new\n"), 0o644) }
func makeDir(name string) error  { return os.Mkdir(name, 0o755) }

func testStat(t *testing.T, mode string) {
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{
		"Note.md": "# One\n\ntext\n", "picture.png": "png", "Folder/In.md": "in\n", "drawing.canvas": "{}",
	}), "--mode", mode)
	kinds := map[string]statKind{
		"Note.md":      {nil, unix.S_IFREG | 0o644, true},
		"New.md":       {makeFile, unix.S_IFREG | 0o644, true},
		"x.tmp":        {makeFile, unix.S_IFREG | 0o644, true},
		"picture.png":  {nil, unix.S_IFREG | 0o644, mode == "direct"},
		"Folder":       {nil, unix.S_IFDIR | 0o755, false},
		"New folder":   {makeDir, unix.S_IFDIR | 0o755, false},
		".scratch":     {makeDir, unix.S_IFDIR | 0o755, false},
		".#lock":       {func(name string) error { return os.Symlink("me@here", name) }, unix.S_IFLNK | 0o777, false},
		"Folder/In.md": {nil, unix.S_IFREG | 0o644, true},
	}
	if mode == "direct" {
		kinds["new.png"] = statKind{makeFile, unix.S_IFREG | 0o644, true}
	}
	root, err := statOf(unix.AT_FDCWD, m.Dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range kinds {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			name := m.Path(name)
			if kind.make != nil {
				if err := kind.make(name); err != nil {
					t.Fatal(err)
				}
			}
			w := &watchedFile{t: t, name: name, fd: -1}
			w.was, err = statOf(unix.AT_FDCWD, name, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := w.was
			want.Dev, want.Rdev, want.Mode, want.Nlink = root.Dev, [2]uint32{}, kind.mode, 1
			want.UID, want.GID = uint32(os.Geteuid()), uint32(os.Getegid())
			if kind.mode&unix.S_IFMT == unix.S_IFDIR {
				want.Nlink = 2
			}
			if w.was != want {
				t.Errorf("%s has\n%+v, want\n%+v", name, w.was, want)
			}
			w.look("lookup", -1)
			w.calls(kind.mode)
			if kind.writable {
				w.writes()
			}
		})
	}
	t.Run("a person's save", func(t *testing.T) {
		w := &watchedFile{t: t, name: m.Path("Note.md"), fd: -1}
		w.was, _ = statOf(unix.AT_FDCWD, w.name, 0)
		text := "# By a person\n"
		harness.WriteFile(t, m.VaultPath("Note.md"), text)
		harness.Eventually(t, need.Scaled(20*time.Second), func() error {
			if got, err := os.ReadFile(w.name); err != nil || string(got) != text {
				return fmt.Errorf("note is %q, %v", got, err)
			}
			return nil
		})
		for range 20 { // watchers are woken meanwhile
			w.look("a person's save", int64(len(text)))
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// calls are those that change attributes, if only to what they are.
func (w *watchedFile) calls(mode uint16) {
	if mode&unix.S_IFMT != unix.S_IFLNK {
		w.do("chmod", -1, func() error { return os.Chmod(w.name, os.FileMode(mode&0o777)) })
	}
	w.do("chown", -1, func() error { return os.Lchown(w.name, os.Geteuid(), os.Getegid()) })
	now := time.Now()
	w.do("utimes to now", -1, func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, w.name, []unix.Timespec{unix.NsecToTimespec(now.UnixNano()), unix.NsecToTimespec(now.UnixNano())}, unix.AT_SYMLINK_NOFOLLOW)
	})
	past := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	w.do("utimes to the past", -1, func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, w.name, []unix.Timespec{unix.NsecToTimespec(past.UnixNano()), unix.NsecToTimespec(past.UnixNano())}, unix.AT_SYMLINK_NOFOLLOW)
	})
	if !w.was.Mtime.Equal(past) || !w.was.Atime.Equal(past) {
		w.t.Errorf("%s: times are %v and %v, want %v", w.name, w.was.Atime, w.was.Mtime, past)
	}
}

// writes are the calls that change content.
func (w *watchedFile) writes() {
	f, err := os.OpenFile(w.name, os.O_RDWR, 0)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer f.Close()
	w.fd = int(f.Fd())
	size := int64(w.was.Size)
	w.look("open", size)
	w.do("write", size, func() error { _, err := f.WriteAt([]byte("#"), 0); return err })
	w.do("write behind the end", size+4, func() error { _, err := f.WriteAt([]byte("end\n"), size); return err })
	w.do("ftruncate", 2, func() error { return f.Truncate(2) })
	w.do("fsync", 2, f.Sync)
	w.do("ftruncate to more", 5, func() error { return errors.Join(f.Truncate(5), write(f, "\nabc\n", 0)) })
	w.do("fchmod", 5, func() error { return f.Chmod(os.FileMode(w.was.Mode & 0o777)) })
	w.do("fchown", 5, func() error { return f.Chown(os.Geteuid(), os.Getegid()) })
	w.fd = -1
	w.do("close", 5, f.Close)
	w.do("truncate", 3, func() error { return os.Truncate(w.name, 3) })
	w.do("append", 600, func() error { return appendTo(w.name, strings.Repeat("more\n", 119)+"e\n") })
	w.do("open with O_TRUNC and write", 7, func() error { return os.WriteFile(w.name, []byte("anew\nx\n"), 0) })
	w.do("append", 7+4096, func() error { return appendTo(w.name, strings.Repeat("a", 4095)+"\n") })
}

func write(f *os.File, text string, off int64) error {
	_, err := f.WriteAt([]byte(text), off)
	return err
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// Programs that compare inode numbers do not take two notes for one, whoever set
// something on them before.
func TestProgramsTellNotesApart(t *testing.T) {
	t.Parallel()
	need.Programs(t, "diff", "cp", "cat", "sh")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"a.md": "one\n", "b.md": "two\n"}))
	sh := func(script string) (string, error) {
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(m.Path("a.md")), &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	settle := "touch a.md b.md; chmod 644 a.md b.md; "
	if out, err := sh(settle + "diff a.md b.md"); err == nil {
		t.Errorf("diff of two notes finds no difference: %s", out)
	}
	if out, err := sh(settle + "test a.md -ef b.md"); err == nil {
		t.Errorf("two notes are the same file: %s", out)
	}
	for _, script := range []string{"cp a.md b.md && diff a.md b.md", settle + "cat a.md >> b.md", settle + "mv a.md b.md"} {
		if out, err := sh(script); err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
	}
}
