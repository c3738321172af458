package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
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
	"/usr/share/fish/vendor_completions.d/relayfs.fish",
	"/usr/share/man/man1/relayfs.1.gz",
	"/usr/share/zsh/vendor-completions/_relayfs",
}

// manPages is how the names of the other pages begin.
const manPages = "/usr/share/man/man1/relayfs-"

// A package is made, installed by dpkg below a root of its own, used, and removed without a trace.
func TestDebianPackage(t *testing.T) {
	harness.RequireTools(t, "dpkg", "git")
	// nfpm is a module of hundreds, which no test should fetch.
	if _, err := os.Stat(harness.Repo("dist", "tools", "nfpm")); err != nil {
		t.Skip("dist/tools/nfpm is missing: make package builds it")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root installs packages")
	}
	dir := t.TempDir()
	dist, root := filepath.Join(dir, "dist"), filepath.Join(dir, "root")
	build := exec.CommandContext(t.Context(), harness.Repo("packaging", "package.sh"), "deb")
	build.Env = append(os.Environ(), "DIST="+dist, "ARCHS="+runtime.GOARCH, "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1700000000")
	if out := harness.RunCommand(t, build); out.Code != 0 {
		t.Fatalf("package.sh: exit code %d\n%s%s", out.Code, out.Stdout, out.Stderr)
	}
	deb := filepath.Join(dist, "packages", "relayfs_1.2.3_"+runtime.GOARCH+".deb")

	// The machine of the test is one without fuse3 at first.
	status := filepath.Join(root, "var/lib/dpkg/status")
	harness.WriteFile(t, status, "")
	for _, sub := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(filepath.Dir(status), sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out := dpkg(t, root, "--install", deb); out.Code == 0 || !strings.Contains(out.Stderr, "relayfs depends on fuse3") {
		t.Errorf("installed without fuse3: exit code %d\n%s", out.Code, out.Stderr)
	}
	harness.WriteFile(t, status, "Package: fuse3\nStatus: install ok installed\nArchitecture: "+runtime.GOARCH+
		"\nVersion: 3.14.0-4\nMaintainer: Nobody <nobody@localhost>\nDescription: a stand-in\n\n")
	if out := dpkg(t, root, "--install", deb); out.Code != 0 {
		t.Fatalf("dpkg --install: exit code %d\n%s", out.Code, out.Stderr)
	}
	installed := listFiles(t, filepath.Join(root, "usr"))
	single := slices.DeleteFunc(slices.Clone(installed), func(f string) bool { return strings.HasPrefix(f, manPages) })
	if !slices.Equal(single, files) {
		t.Errorf("the package holds\n%s\nwant\n%s", strings.Join(single, "\n"), strings.Join(files, "\n"))
	}
	if !slices.Contains(installed, manPages+"suggestions-accept.1.gz") {
		t.Errorf("no man page of 'suggestions accept' in\n%s", strings.Join(installed, "\n"))
	}
	unit := harness.ReadFile(t, filepath.Join(root, "usr/lib/systemd/user/relayfs.service"))
	if !strings.Contains(unit, "\nExecStart=\"/usr/bin/relayfs\" mount\n") {
		t.Errorf("the unit does not mount with the installed program:\n%s", unit)
	}

	t.Setenv("RELAYFS_BINARY", filepath.Join(root, "usr/bin/relayfs"))
	t.Run("use", use)

	if out := dpkg(t, root, "--remove", "relayfs"); out.Code != 0 {
		t.Fatalf("dpkg --remove: exit code %d\n%s", out.Code, out.Stderr)
	}
	if left := listFiles(t, filepath.Join(root, "usr")); len(left) > 0 {
		t.Errorf("removed, the package leaves %q", left)
	}
}

// use does what a new user does.
func use(t *testing.T) {
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	if out := s.Run(t, "version"); !strings.HasPrefix(out.Stdout, "relayfs v1.2.3 (") {
		t.Errorf("the version is %q", out.Stdout)
	}
	vault := s.SampleVault(t)
	if out := s.Run(t, "doctor", vault); out.Code != 0 {
		t.Errorf("doctor: exit code %d\n%s", out.Code, out.Stdout)
	}
	m := s.Mount(t, vault)
	harness.CheckText(t, "a note", harness.ReadFile(t, m.Path("Home.md")), harness.ReadFile(t, m.VaultPath("Home.md")))
	if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
		t.Errorf("unmount: exit code %d\n%s", out.Code, out.Stderr)
	}
	m.WaitEnd(t)
}

// dpkg runs dpkg on a root folder, as an administrator does who has the sbin folders in PATH.
func dpkg(t *testing.T, root string, args ...string) harness.Output {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "dpkg", append([]string{"--root=" + root}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "LC_ALL=C")
	return harness.RunCommand(t, cmd)
}

// listFiles returns the files below dir, the folder usr of a root, as paths that begin with /usr.
func listFiles(t *testing.T, dir string) (found []string) {
	t.Helper()
	list, err := harness.WalkFiles(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, name := range list {
		if !strings.HasSuffix(name, "/") {
			found = append(found, "/usr/"+name)
		}
	}
	return found
}
