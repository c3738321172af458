package save

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// gitRun runs git commands on a work tree, each of which may fail, and returns what
// git says of the tree after each.
type gitRun struct {
	work, repo string
	env        []string
}

func (g *gitRun) do(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*harness.StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = g.work
	cmd.Env = append(g.env, "GIT_DIR="+g.repo, "GIT_WORK_TREE="+g.work, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// gitSteps are commands, after each of which the mount is as a plain folder is.
var gitSteps = map[string][]string{
	"move a note and reset": {"git mv a.md z.md", "git reset -q --hard", "git status --porcelain"},
	"move a note, commit, go back": {"git mv a.md z.md && git commit -qm moved", "git checkout -q HEAD~1", "git checkout -q main",
		"git reset -q --hard HEAD~1"},
	"move a folder and reset":                     {"git mv few less", "git reset -q --hard", "git status --porcelain"},
	"move a folder of many notes and reset":       {"git mv many more", "git reset -q --hard", "git status --porcelain"},
	"move a folder in a folder and reset":         {"git mv nest tree", "git reset -q --hard", "git status --porcelain"},
	"move a folder of many notes into another":    {"git mv many few/many", "git reset -q --hard", "git status --porcelain"},
	"move a folder of many notes, stash, pop":     {"git mv many more", "git stash -q", "git stash pop -q", "git reset -q --hard"},
	"move a folder of many notes, commit, switch": {"git mv many more && git commit -qm moved", "git checkout -q HEAD~1", "git checkout -q main", "git reset -q --hard HEAD~1"},
	"edit, stash, pop":                            {"echo more >> a.md", "git stash -q", "git stash pop -q", "git checkout -q -- a.md"},
	"branches":                                    {"git checkout -qb side && echo side > side.md && echo side >> b.md && git add -A && git commit -qm side", "git checkout -q main", "git checkout -q side", "git checkout -q main"},
	"rebase": {"git checkout -qb side && echo side >> b.md && git commit -qam side && git checkout -q main && echo main >> a.md && git commit -qam main",
		"git checkout -q side", "git rebase -q main", "git checkout -q main", "git merge -q side"},
	"revert": {"echo one >> a.md && git commit -qam one", "git revert --no-edit HEAD", "git reset -q --hard HEAD~2"},
}

// gitFiles are a vault in which a folder has more notes than may go at once.
func gitFiles() map[string]string {
	files := map[string]string{"a.md": "# A\n\nThe text of a.\n", "b.md": "# B\n\nWhat b says.\n", "nest/in/x.md": "# X\n", "nest/y.md": "# Y\n"}
	for i := range 30 {
		files[fmt.Sprintf("many/n%d.md", i)] = fmt.Sprintf("# Note %d\n\nText of many %d.\n", i, i)
	}
	for i := range 3 {
		files[fmt.Sprintf("few/m%d.md", i)] = fmt.Sprintf("# Note %d\n\nText of few %d.\n", i, i)
	}
	return files
}

// git leaves on the mount what it leaves on a plain folder, and a person who rejects
// all has what was there before.
func TestGit(t *testing.T) {
	t.Parallel()
	need.Programs(t, "git")
	for name, steps := range gitSteps {
		for mode, flags := range harness.FileModes {
			if mode == "suggest" && gitBraked[name] {
				continue
			}
			t.Run(name+", "+mode, func(t *testing.T) {
				t.Parallel()
				testGit(t, steps, flags...)
			})
		}
	}
}

// gitBraked are the steps that remove more notes than may go at once, which git tells:
// "unable to unlink". It knows of no renaming when it switches between commits.
var gitBraked = map[string]bool{
	"move a folder of many notes, stash, pop":     true,
	"move a folder of many notes, commit, switch": true,
}

func testGit(t *testing.T, steps []string, flags ...string) {
	s := harness.NewSandbox(t)
	vault, folder := s.Vault(t, "Vault", gitFiles()), s.Vault(t, "plain", gitFiles())
	for _, dir := range []string{vault, folder} { // git reads the contents again of what is as new as its index
		for name := range gitFiles() {
			if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := s.Mount(t, vault, flags...)
	plain := gitRun{work: folder, repo: s.Path("plain.git"), env: s.Env}
	mounted := gitRun{work: m.Path(""), repo: s.Path("mounted.git"), env: s.Env}
	const begin = "git init -q -b main && git add -A && git commit -qm begin"
	plain.do(t, begin)
	mounted.do(t, begin)
	for _, step := range steps {
		want, got := plain.do(t, step), mounted.do(t, step)
		if strings.HasPrefix(step, "git status") && got != want {
			t.Errorf("%s says %q, on a plain folder %q", step, got, want)
		}
		checkSameTree(t, "after "+step, mounted.work, plain.work)
	}
	time.Sleep(heldBack)
	checkSameTree(t, "after a while", mounted.work, plain.work)
	if len(flags) > 0 {
		return
	}
	out := s.Run(t, "suggestions", "reject", "--all", "--yes", m.Vault)
	if out.Code != 0 {
		t.Errorf("reject: exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
	}
	want := maps.Clone(gitFiles())
	if got := texts(t, m.Vault); !maps.Equal(got, want) {
		t.Errorf("vault after a rejection of all: %q, want %q", got, want)
	}
	for _, name := range harness.ListFiles(t, m.Vault) {
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			if files := harness.ListFiles(t, filepath.Join(m.Vault, dir)); len(files) == 0 {
				t.Errorf("an empty folder is left: %s", dir)
			}
		}
	}
}

func checkSameTree(t *testing.T, when, got, want string) {
	t.Helper()
	have, wanted := harness.ListFiles(t, got), harness.ListFiles(t, want)
	if strings.Join(have, "\n") != strings.Join(wanted, "\n") {
		t.Errorf("%s: %q, on a plain folder %q", when, have, wanted)
		return
	}
	checkTexts(t, when, texts(t, got), texts(t, want))
}
