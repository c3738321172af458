package files

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// On the mount what is hidden does not exist and cannot be made, what is locked cannot be changed, and no rename changes
// that. Users move things as they like, and the mount follows.
func TestHiddenAndLocked(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"open.md": "open\n", "Private/hidden.md": "hidden\n", "work/Diary/day.md": "day\n", "work/plain.md": "plain\n",
		"Locked/kept.md": "kept\n", "Locked/kept.png": "png",
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	if err := os.Symlink("Private", s.Path("Vault", "link")); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), "hide = [\"Private\", \"**/Diary\"]\nlock = [\"Locked/**\"]\n")
	m := s.Mount(t, vault)
	harness.CheckListing(t, m.Path(""), []string{"Locked", "Locked/kept.md", "Locked/kept.png", "open.md", "work", "work/plain.md"})
	for _, name := range []string{"Private", "Private/hidden.md", "link", "link/hidden.md", "work/Diary", "work/Diary/day.md"} {
		if _, err := os.Lstat(m.Path(name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	harness.CheckText(t, "what is locked", harness.ReadFile(t, m.Path("Locked/kept.md")), "kept\n")
	rename := func(from, to string) func() error { return func() error { return os.Rename(m.Path(from), m.Path(to)) } }
	write := func(name string) func() error {
		return func() error { return harness.WriteAll(m.Path(name), []byte("x\n")) }
	}
	mkdir := func(name string) func() error { return func() error { return os.Mkdir(m.Path(name), 0o755) } }
	for what, do := range map[string]func() error{
		"make a hidden folder": mkdir("Private"), "make it in another case": mkdir("private"), "make a hidden file": write("work/Diary"),
		"rename to a hidden name": rename("open.md", "Private"), "rename a folder that holds something hidden": rename("work", "out"),
		"write a locked note": write("Locked/kept.md"), "write a locked file": write("Locked/kept.png"), "make something locked": write("Locked/new.md"),
		"make a locked file": write("Locked/new.png"), "make a locked folder": mkdir("Locked/sub"), "rename something locked": rename("Locked/kept.md", "out.md"),
		"rename over something locked": rename("open.md", "Locked/kept.md"), "rename into a locked folder": rename("open.md", "Locked/open.md"),
		"rename a folder that holds something locked": rename("Locked", "Out"),
		"remove something locked":                     func() error { return os.Remove(m.Path("Locked/kept.md")) },
		"remove a locked file":                        func() error { return os.Remove(m.Path("Locked/kept.png")) },
		"change the mode of something locked":         func() error { return os.Chmod(m.Path("Locked/kept.md"), 0o600) },
		"cut something locked":                        func() error { return os.Truncate(m.Path("Locked/kept.png"), 1) },
	} {
		t.Run(what, func(t *testing.T) { harness.CheckErrno(t, do(), unix.EROFS) })
	}
	harness.CheckErrno(t, os.Remove(m.Path("work")), unix.ENOTEMPTY)
	out := s.Run(t, "why", m.Dir)
	for _, rule := range []string{`hide = "Private"`, `hide = "**/Diary"`, `lock = "Locked/**"`} {
		if !strings.Contains(out.Stdout, rule) {
			t.Errorf("why does not name %s: %s", rule, out.Stdout)
		}
	}
	if err := os.Remove(m.VaultPath("link")); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, vault, files)
	if list := s.Suggestions(t, vault); len(list) != 0 {
		t.Errorf("something is proposed: %v", list)
	}

	for _, move := range [][2]string{{"open.md", "Private/open.md"}, {"Private/hidden.md", "shown.md"}} {
		if err := os.Rename(m.VaultPath(move[0]), m.VaultPath(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	harness.WaitFor(t, "the user's moves", func() bool {
		names, err := harness.WalkFiles(m.Path(""))
		return err == nil && slices.Contains(names, "shown.md") && !slices.Contains(names, "open.md")
	})
	if _, err := os.Stat(m.Path("open.md")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a user has hidden: %v", err)
	}
}
