package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// Notes and folders with symbolic links to them: the links of linked, by their names.
func linkedFiles() map[string]string {
	return map[string]string{
		"Real/Note.md": "alpha beta gamma\n", "Real/sub/Deep.md": "the deep\n", "Real/pic.png": "pixels", "Other/N.md": "one two three\n",
	}
}

var linked = map[string]string{
	"Alias": "Real", "Link.md": "Other/N.md", "Other/Up": "../Real", "Inner": "Alias/sub", "pic.png": "Other/Up/pic.png",
	"Real/loop": "..", "here": ".", "ping": "pong", "pong": "ping", "Dangling": "no/such", "Dangling.md": "No.md",
}

// leaving are links that are not shown.
var leaving = map[string]string{"out": "/etc", "up": "../outside", "far": "Real/../../outside", "hidden": ".obsidian"}

func link(t *testing.T, dir string, links map[string]string) {
	t.Helper()
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func linkedMount(t *testing.T, s *harness.Sandbox, flags ...string) *harness.Mount {
	t.Helper()
	vault := s.Vault(t, "Vault", linkedFiles())
	link(t, vault, linked)
	return s.Mount(t, vault, flags...)
}

// shellOutput is what a shell command prints in a folder, errors among it.
func shellOutput(t *testing.T, dir, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, _ := cmd.CombinedOutput() // its status is not the same for loops everywhere
	return string(out)
}

// With symbolic links, programs find on the mount what they find in the vault.
func TestSymlinksLookAsInTheVault(t *testing.T) {
	t.Parallel()
	need.Programs(t, "rg", "git")
	s := harness.NewSandbox(t)
	m := linkedMount(t, s)
	repo := filepath.Join(s.Path("repo"), ".git")
	git := fmt.Sprintf("GIT_DIR='%s' GIT_WORK_TREE=. git ", repo)
	shellOutput(t, m.Vault, fmt.Sprintf("git init -q '%s' && %s add -A && %s -c user.name=a -c user.email=a@b commit -qm all", s.Path("repo"), git, git))
	if got := shellOutput(t, m.Path(""), git+"status --porcelain"); got != "" {
		t.Errorf("git sees changes on the mount:\n%s", got)
	}
	for _, command := range []string{
		"find . | sort", "find -L . 2>&1 | sort", "find . -type l -printf '%p > %l %s\n' | sort",
		"ls -1RF", "rg --files --sort path", "rg --follow --files --sort path 2>&1", "rg --follow --sort path deep 2>&1",
		"cat Alias/Note.md Link.md Inner/Deep.md Other/Up/sub/Deep.md pic.png here/here/Alias/loop/Link.md", "cd -P Inner && ls .. && pwd -P | sed 's/.*Vault//'",
	} {
		harness.CheckText(t, command, shellOutput(t, m.Path(""), command), shellOutput(t, m.Vault, command))
	}
	link(t, m.Vault, leaving)
	harness.WriteFile(t, m.VaultPath("Last.md"), "last\n") // the watcher has seen all before by then
	harness.FileBecomes(t, m.Path("Last.md"), "last\n")
	for name := range leaving {
		if _, err := os.Lstat(m.Path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, which leads out of what is shown: %v", name, err)
		}
	}
}

// A note has one document, one reading and one place in every list, whatever the name
// that a program comes by.
func TestNoteHasOneNameBehindLinks(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := linkedMount(t, s)
	client := s.MCP(t, m.Vault)
	for _, name := range []string{"Vault/Alias/Note.md", "Vault/Link", m.Path("Inner/Deep.md")} {
		client.MustCall(t, "read", "file_path", name)
	}
	// By another name than it was read by.
	client.MustCall(t, "edit", "file_path", "Vault/Real/Note.md", "old_string", "alpha", "new_string", "ALPHA")
	got := client.MustCall(t, "edit", "file_path", "Vault/Other/Up/Note.md", "old_string", "gamma", "new_string", "GAMMA")
	if !strings.HasPrefix(got, "Edited Vault/Real/Note.md:") {
		t.Errorf("an edit through a link says %q", got)
	}
	client.MustCall(t, "edit", "file_path", "Vault/Other/N.md", "old_string", "three", "new_string", "THREE")
	m.Shell(t, `sed -i 's/one/ONE/' Link.md; printf 'the DEEP\n' > Inner/Deep.md; printf 'new\n' > Alias/New.md`)
	client.MustCall(t, "write", "file_path", "Vault/Alias/Made/There.md", "content", "there\n")
	m.CheckSuggested(t, "Real/Note.md", linkedFiles()["Real/Note.md"], "ALPHA beta GAMMA\n")
	m.CheckSuggested(t, "Other/N.md", linkedFiles()["Other/N.md"], "ONE two THREE\n")
	for name, text := range map[string]string{"Alias/Note.md": "ALPHA beta GAMMA\n", "Link.md": "ONE two THREE\n", "Real/New.md": "new\n", "Real/Made/There.md": "there\n"} {
		harness.FileBecomes(t, m.Path(name), text)
	}
	for name, target := range linked {
		if got, err := os.Readlink(m.VaultPath(name)); got != target {
			t.Errorf("%s says %q, %v, after all that; want %q", name, got, err, target)
		}
	}
	var lines []string
	for _, q := range s.Suggestions(t, m.Vault) {
		lines = append(lines, q.Path+" "+q.Author)
	}
	slices.Sort(lines)
	want := []string{"Vault/Other/N.md", "Vault/Other/N.md", "Vault/Real/Made/There.md", "Vault/Real/New.md", "Vault/Real/Note.md", "Vault/Real/Note.md", "Vault/Real/sub/Deep.md"}
	for i, line := range lines {
		name, author, _ := strings.Cut(line, " ")
		if i >= len(want) || name != want[i] || author == "" {
			t.Errorf("the queue has %q, want one entry for each change, with its author", lines)
			break
		}
	}
	if len(lines) != len(want) {
		t.Errorf("the queue has %q, want %d entries: %q", lines, len(want), want)
	}
	for pattern, want := range map[string]string{"**/N.md": "Vault/Other/N.md", "**/*eep.md": "Vault/Real/sub/Deep.md", "Link.md": "No files found"} {
		harness.CheckText(t, "glob "+pattern, strings.TrimSpace(client.MustCall(t, "glob", "pattern", pattern)), want)
	}
	harness.CheckText(t, "grep in a link", strings.TrimSpace(client.MustCall(t, "grep", "pattern", "beta", "path", "Vault/Alias")), "Vault/Real/Note.md")
	harness.CheckText(t, "cat", s.Run(t, "cat", "Vault/Alias/Note.md", m.Vault).Stdout, "ALPHA beta GAMMA\n")
}

// Moving and deleting by a link's name is about the link, on the mount and in MCP, and
// waits for a person, who may take it back.
func TestLinksAreMovedAndDeleted(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := linkedMount(t, s)
	client := s.MCP(t, m.Vault)
	m.Shell(t, "rm Alias; mv Link.md Renamed.md")
	client.MustCall(t, "delete", "file_path", "Vault/Dangling")
	client.MustCall(t, "move", "file_path", "Vault/Inner", "new_path", "Vault/Outer")
	if refused := client.Call(t, "move", "file_path", "Vault/Other/Up", "new_path", "Vault/Up"); !refused.IsError {
		t.Errorf("a link was moved to where it leads out of the vault: %s", refused.Text)
	}
	harness.FileBecomes(t, m.Path("Renamed.md"), linkedFiles()["Other/N.md"])
	harness.FileBecomes(t, m.Path("Real/Note.md"), linkedFiles()["Real/Note.md"])
	if _, err := os.Lstat(m.Path("Alias")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a deleted link is shown: %v", err)
	}
	for name, target := range linked {
		if got, err := os.Readlink(m.VaultPath(name)); got != target {
			t.Errorf("%s of the vault says %q, %v, before anybody has decided, want %q", name, got, err, target)
		}
	}
	m.Stop(t) // what waits is known to the next process
	m = s.MountAt(t, m.Vault, m.Dir)
	want := []string{"delete Alias > ", "delete Dangling > ", "rename Inner > Outer", "rename Link.md > Renamed.md"}
	list := s.Suggestions(t, m.Vault)
	for i := range list {
		list[i].Old = strings.TrimPrefix(list[i].Path, "Vault/")
		list[i].New = strings.TrimPrefix(list[i].New, "Vault/")
	}
	if got := harness.Gists(list); !slices.Equal(got, want) {
		t.Errorf("the queue has %q, want %q", got, want)
	}
	s.Decide(t, "accept", "--all", "--yes", m.Vault)
	for name, target := range map[string]string{"Renamed.md": "Other/N.md", "Outer": "Alias/sub", "Alias": "", "Dangling": "", "Link.md": "", "Inner": ""} {
		if got, _ := os.Readlink(m.VaultPath(name)); got != target {
			t.Errorf("%s of the vault says %q, want %q", name, got, target)
		}
		eventuallyLink(t, m.Path(name), target)
	}
	s.Decide(t, "undo", m.Vault)
	for name, target := range map[string]string{"Link.md": "Other/N.md", "Inner": "Alias/sub", "Alias": "Real", "Dangling": "no/such"} {
		if got, _ := os.Readlink(m.VaultPath(name)); got != target {
			t.Errorf("%s of the vault says %q after undo, want %q", name, got, target)
		}
	}
	s.Decide(t, "reject", "--all", "--yes", m.Vault)
	harness.FileBecomes(t, m.Path("Alias/Note.md"), linkedFiles()["Real/Note.md"])
	eventuallyLink(t, m.Path("Inner"), "Alias/sub")
}

// eventuallyLink waits until a name is a link to target, or is not there for "".
func eventuallyLink(t *testing.T, name, target string) {
	t.Helper()
	harness.Eventually(t, 5*harness.Soon, func() error {
		if got, err := os.Readlink(name); got != target {
			return fmt.Errorf("%s says %q, %w, want %q", name, got, err, target)
		}
		return nil
	})
}

// A person makes, changes, moves and removes links and what they lead to while the
// vault is mounted. No note is taken for another, or loses who wrote what in it.
func TestPersonChangesLinks(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", linkedFiles())
	m := s.Mount(t, vault)
	harness.Program("", "sed", "-i", "s/alpha/ALPHA/", "Real/Note.md")(t, m.Path(""))
	harness.Program("", "sed", "-i", "s/two/TWO/", "Other/N.md")(t, m.Path(""))
	step := func(script, name, target, note, text string) {
		t.Helper()
		harness.Shell(script)(t, vault)
		eventuallyLink(t, m.Path(name), target)
		harness.FileBecomes(t, m.Path(note), text)
		queue := s.Suggestions(t, vault)
		if len(queue) != 2 || queue[0].Author == "" || queue[1].Author == "" {
			t.Errorf("after %s the queue has %+v", script, queue)
		}
	}
	const note, n = "ALPHA beta gamma\n", "one TWO three\n"
	step("ln -s Real Alias", "Alias", "Real", "Alias/Note.md", note)
	step("ln -sfn Other Alias", "Alias", "Other", "Alias/N.md", n)
	step("mv Alias Again", "Again", "Other", "Again/N.md", n)
	step("rm Again", "Again", "", "Other/N.md", n)
	step("ln -s Other/N.md Link.md", "Link.md", "Other/N.md", "Link.md", n)
	step("mv Real Moved && ln -s Moved Real", "Real", "Moved", "Real/Note.md", note)
	step("mv Other/N.md Other/M.md && ln -s M.md Other/N.md", "Other/N.md", "M.md", "Link.md", n)
	step("mkdir deep && mv Moved deep/er && ln -sfn deep/er Real", "Real", "deep/er", "Real/Note.md", note)
	step("rm Real && mv deep/er Real", "Real", "", "Real/Note.md", note)
	step("rm Link.md && echo plain > Link.md", "Link.md", "", "Link.md", "plain\n")
	if _, err := os.Stat(m.Path("Moved")); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a folder that was moved is shown twice: %v", err)
	}
}

// The commands list and count a note once.
func TestCommandsListLinkedNotesOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := linkedMount(t, s)
	out := s.Run(t, "ls", "-R")
	if out.Code != 0 || strings.Count(out.Stdout, "Note.md") != 1 || !strings.Contains(out.Stdout, "Vault/Alias\n") {
		t.Errorf("ls -R lists:\n%s%s", out.Stdout, out.Stderr)
	}
	harness.CheckText(t, "ls of a link", s.Run(t, "ls", "Vault/Inner").Stdout, "Vault/Real/sub/Deep.md\n")
	status := s.Run(t, "status", "--json", m.Vault)
	if !strings.Contains(strings.ReplaceAll(status.Stdout, " ", ""), `"notes":3`) {
		t.Errorf("status counts other notes than the 3 there are:\n%s", status.Stdout)
	}
}

// A move that waits changes where links lead that are moved with it, as it does in any
// folder, and never to a place outside of what is mounted.
func TestLinksStayInTheMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"a/b/c/Note.md": "c\n", "Top.md": "top\n"})
	link(t, vault, map[string]string{"a/b/c/up": "../../..", "a/b/c/Top.md": "../../../Top.md", "a/b/c/beside": "../../x"})
	m := s.Mount(t, vault)
	if err := os.Rename(m.Path("a/b/c"), m.Path("c")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c/up", "c/Top.md", "c/beside"} {
		real, err := filepath.EvalSymlinks(m.Path(name))
		if err == nil && real != m.Path("") && !strings.HasPrefix(real, m.Path("")+"/") {
			t.Errorf("%s leads to %s, out of the mount", name, real)
		}
	}
	harness.FileBecomes(t, m.Path("c/Note.md"), "c\n")
}
