package code

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// opens says which files a package opens, makes, removes or lists by their paths. What is in the state folder is opened by
// bridge/owner and bridge/store alone: others get an owner.Folder, and files of saves by bridge/disk.
var opens = map[string]string{
	"bridge/owner":                     "the state folder, and sockets",
	"bridge/store/internal/checkpoint": "the store's checkpoint",
	"bridge/disk":                      "vaults, the store's log, and files of saves that are under way",
	"fusefs":                           "/dev/fuse, /proc, mountpoints, the control files of FUSE",
	"fusefs/internal/program":          "/proc",
	"cmd/relayfs":                      "mountpoints, and files of packages",
	"cmd/relayfs/internal/config":      "vaults that Obsidian knows",
	"cmd/relayfs/internal/doctor":      "vaults, and the limits of the kernel",
	"cmd/relayfs/internal/process":     "/proc, units of services, /dev/null",
	"cmd/relayfs/internal/source":      "folders that are named as vaults",
	"cmd/relayfs/internal/tui":         "a temporary file for $EDITOR",
}

// opening are the functions of the standard library that do.
var opening = map[string]string{
	"os":       "Chmod Chtimes CopyFS Create CreateTemp DirFS Link Mkdir MkdirAll MkdirTemp Open OpenFile OpenInRoot OpenRoot ReadDir ReadFile Remove RemoveAll Rename Symlink Truncate WriteFile",
	"filepath": "Glob Walk WalkDir",
	"ioutil":   "ReadAll ReadDir ReadFile TempDir TempFile WriteFile",
}

func TestFilesAreOpened(t *testing.T) {
	found := make(map[string][]string) // calls, by package
	root := harness.Repo()
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		dir := path.Dir(filepath.ToSlash(rel))
		switch base := e.Name(); {
		case e.IsDir() && (rel == "tests" || base == "node_modules" || base == "testdata" || rel != "." && strings.HasPrefix(base, ".") || strings.HasSuffix(base, "test")):
			return fs.SkipDir
		case err != nil || e.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := sel.X.(*ast.Ident); ok && slices.Contains(strings.Fields(opening[from.Name]), sel.Sel.Name) {
					found[dir] = append(found[dir], path.Base(filepath.ToSlash(rel))+": "+from.Name+"."+sel.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if _, known := opens[dir]; !known {
			t.Errorf("%s opens files (%s). In the state folder only bridge/owner and bridge/store do: take an owner.Folder, or give the package a line that says which files they are", dir, strings.Join(found[dir], ", "))
		}
	}
	for dir := range opens {
		if found[dir] == nil {
			t.Errorf("%s opens no file any more; take its line out", dir)
		}
	}
}
