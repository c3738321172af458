package code

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The module is valid for the other systems that it supports: macOS mounts through macFUSE or FUSE-T, and Windows does
// everything but mount. Checking types takes a tenth of the time of a first build, and the bodies of others' functions
// are left out.
func TestOtherSystems(t *testing.T) {
	need.Full(t, "it reads all dependencies")
	root := harness.Repo() + string(filepath.Separator)
	for _, system := range [][2]string{{"darwin", "arm64"}, {"windows", "amd64"}} {
		t.Run(system[0], func(t *testing.T) {
			list, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedFiles | packages.NeedCompiledGoFiles |
					packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes,
				Dir: harness.Repo("."),
				Env: append(os.Environ(), "GOOS="+system[0], "GOARCH="+system[1], "CGO_ENABLED=0"),
				ParseFile: func(set *token.FileSet, name string, src []byte) (*ast.File, error) {
					file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
					if file != nil && !strings.HasPrefix(name, root) {
						for _, d := range file.Decls {
							if f, ok := d.(*ast.FuncDecl); ok {
								f.Body = nil
							}
						}
					}
					return file, err
				},
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(list) < 50 {
				t.Errorf("only %d packages are checked", len(list))
			}
			packages.Visit(list, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					if err.Kind != packages.TypeError || slices.Contains(list, p) { // others' packages seem not to use their imports
						t.Errorf("%s: %v", p.PkgPath, err)
					}
				}
			})
		})
	}
}
