package packages

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

func TestMain(m *testing.M) { harness.Main(m) }

// files are what the Debian package holds beside man pages of single commands.
var files = []string{
	"/usr/bin/relayfs",
	"/usr/lib/systemd/user/relayfs.service",
	"/usr/share/bash-completion/completions/relayfs",
	"/usr/share/doc/relayfs/CHANGELOG.md",
	"/usr/share/doc/relayfs/README.md",
	"/usr/share/doc/relayfs/THIRD_PARTY_NOTICES",
	"/usr/share/doc/relayfs/copyright",
	"/usr/share/doc/relayfs/relayfs.rules.yml",
	"/usr/share/fish/vendor_completions.d/relayfs.fish",
	"/usr/share/man/man1/relayfs.1.gz",
	"/usr/share/zsh/vendor-completions/_relayfs",
}

// manPages is how the names of the other pages begin.
const manPages = "/usr/share/man/man1/relayfs-"

// A package is the same bytes whatever folder it is made in, holds what docs/packaging.md says, and serves a new user of each
// Debian from its installation to its removal.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	need.Programs(t, "dpkg", "git")
	dir := t.TempDir()
	deb := makePackage(t, harness.Repo(), filepath.Join(dir, "dist"))
	t.Run("contents", func(t *testing.T) { checkContents(t, deb) })
	t.Run("same bytes", func(t *testing.T) {
		t.Parallel()
		other := filepath.Join(dir, "another folder")
		copyRepository(t, other)
		again := makePackage(t, other, filepath.Join(other, "dist"))
		if !bytes.Equal([]byte(harness.ReadFile(t, deb)), []byte(harness.ReadFile(t, again))) {
			t.Errorf("%s and %s differ", deb, again)
		}
	})
	for _, suite := range []string{"bookworm", "trixie"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			newUser(t, suite, deb)
		})
	}
}

// release is the environment in which the tests make version 1.2.3.
func release(dist string, more ...string) []string {
	return append(os.Environ(), append(more, "DIST="+dist, "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000")...)
}

// makePackage makes the Debian package of this processor from the repository in a folder, and returns its path.
func makePackage(t *testing.T, repository, dist string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(repository, "packaging", "package.sh"), "deb")
	cmd.Env = release(dist, "ARCHS="+runtime.GOARCH)
	if out := harness.RunCommand(t, cmd); out.Code != 0 {
		t.Fatalf("package.sh: exit code %d\n%s%s", out.Code, out.Stdout, out.Stderr)
	}
	return filepath.Join(dist, "packages", "relayfs_1.2.3_"+runtime.GOARCH+".deb")
}

// copyRepository copies the files that git knows or would add, and the tools that are built.
func copyRepository(t *testing.T, to string) {
	t.Helper()
	script := `git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- --ignore-failed-read | tar -x -C "$0" && mkdir "$0/dist" && cp -R dist/tools "$0/dist"`
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	if out := harness.OutputIn(t, harness.Repo(), []string{"bash", "-c", script, to}); out.Code != 0 {
		t.Fatalf("copying the repository: exit code %d\n%s", out.Code, out.Stderr)
	}
}

func checkContents(t *testing.T, deb string) {
	root := t.TempDir()
	if out := harness.OutputIn(t, root, []string{"dpkg", "--extract", deb, root}); out.Code != 0 {
		t.Fatalf("dpkg --extract: exit code %d\n%s", out.Code, out.Stderr)
	}
	var held []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			held = append(held, strings.TrimPrefix(path, root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	single := slices.DeleteFunc(slices.Clone(held), func(f string) bool { return strings.HasPrefix(f, manPages) })
	if !slices.Equal(single, files) {
		t.Errorf("the package holds\n%s\nwant\n%s", strings.Join(single, "\n"), strings.Join(files, "\n"))
	}
	if !slices.Contains(held, manPages+"suggestions-accept.1.gz") {
		t.Errorf("no man page of 'suggestions accept' in\n%s", strings.Join(held, "\n"))
	}
	unit := harness.ReadFile(t, filepath.Join(root, "usr/lib/systemd/user/relayfs.service"))
	if !strings.Contains(unit, "\nExecStart=\"/usr/bin/relayfs\" mount\n") {
		t.Errorf("the unit does not mount with the installed program:\n%s", unit)
	}
	checkELF(t, filepath.Join(root, "usr/bin/relayfs"))
	checkNamesNoFolder(t, filepath.Join(root, "usr/bin/relayfs"))
	checkManPages(t, filepath.Join(root, "usr/share/man/man1"))
	out := harness.OutputIn(t, root, []string{filepath.Join(root, "usr/bin/relayfs"), "version"})
	if !strings.HasPrefix(out.Stdout, "relayfs v1.2.3 (") {
		t.Errorf("the version is %q", out.Stdout)
	}
}

// checkManPages has each page formatted, with all warnings.
func checkManPages(t *testing.T, dir string) {
	t.Helper()
	need.Programs(t, "groff", "gzip")
	out := harness.OutputIn(t, dir, []string{"bash", "-c", `for page in *; do echo "$page:"; gzip -dc "$page" | groff -man -Tutf8 -K utf8 -ww -z 2>&1 || exit; done`})
	for line := range strings.Lines(out.Stdout) {
		if out.Code != 0 || !strings.HasSuffix(line, ".1.gz:\n") {
			t.Fatalf("groff: exit code %d\n%s", out.Code, out.Stdout)
		}
	}
}

// newUser installs the package on a bare Debian, uses and removes it, as testdata/newuser.sh tells.
func newUser(t *testing.T, suite, deb string) {
	harness.RequireFUSE(t)
	need.Programs(t, "unshare", "python3")
	if os.Geteuid() != 0 {
		need.Missing(t, "only root installs packages")
	}
	tar := harness.RequireCached(t, "debian-"+suite+".tar")
	start := time.Now()
	out := harness.RunCommand(t, exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child",
		filepath.Join("testdata", "newuser.sh"), tar, t.TempDir(), deb, harness.Repo("tests", "sample-vault", "Garden")))
	if out.Code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	_, times, _ := strings.Cut(out.Stdout, "== times\n")
	t.Logf("on %s:\n%s", suite, times)
	if took := time.Since(start); took > need.Scaled(2*time.Minute) {
		t.Errorf("a new user took %v, want at most two minutes", took)
	}
}

// What a release holds for each system is stripped, and static on Linux. make snapshot makes it and runs this;
// tests/code checks the types of the other systems.
func TestSnapshot(t *testing.T) {
	dir := os.Getenv("RELAYFS_SNAPSHOT")
	if dir == "" {
		t.Skip("make snapshot runs it")
	}
	for system, check := range map[string]func(t *testing.T, file string){
		"linux_amd64": checkELF, "linux_arm64": checkELF, "darwin_arm64": checkMachO, "windows_amd64": checkPE,
	} {
		files, err := filepath.Glob(filepath.Join(dir, "relayfs_"+system+"*", "relayfs*"))
		if err != nil || len(files) != 1 {
			t.Errorf("%s: found %q, %v; want one program", system, files, err)
			continue
		}
		check(t, files[0])
		checkNamesNoFolder(t, files[0])
	}
}

func checkNamesNoFolder(t *testing.T, file string) {
	t.Helper()
	if repo := harness.Repo(); strings.Contains(harness.ReadFile(t, file), repo) {
		t.Errorf("%s names %s", file, repo)
	}
}

func checkELF(t *testing.T, file string) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{".interp", ".dynamic", ".symtab", ".debug_info", ".zdebug_info"} {
		if f.Section(name) != nil {
			t.Errorf("%s has a section %s", file, name)
		}
	}
}

func checkMachO(t *testing.T, file string) {
	t.Helper()
	f, err := macho.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section("__debug_info") != nil || f.Section("__zdebug_info") != nil {
		t.Errorf("%s has debugging information", file)
	}
}

func checkPE(t *testing.T, file string) {
	t.Helper()
	f, err := pe.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Symbols) > 0 || f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
		t.Errorf("%s has symbols or debugging information", file)
	}
}
