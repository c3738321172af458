package code

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What a package may be, so that a newcomer can read it: in one of more than ten files, no more than maxCycle of them
// use each other in a circle, and no type has more than maxMethods methods. The rest of a package can be read from the
// bottom up. What programs call has no more than maxFacade methods, with those of the types that it embeds.
const (
	manyFiles  = 10
	maxCycle   = 8
	maxMethods = 40
	maxFacade  = 60
)

func TestStructure(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
		Dir:  harness.Repo(),
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.PkgPath, module+"/")
		if name == "bridge" {
			checkFacade(t, p)
		}
		if cycle := fileCycle(p); len(p.Syntax) > manyFiles && len(cycle) > maxCycle {
			t.Errorf("package %s: %d files use each other in a circle, want at most %d: %s", name, len(cycle), maxCycle, strings.Join(cycle, " "))
		}
		for typ, n := range methodsOf(p) {
			if n > maxMethods {
				t.Errorf("package %s: type %s has %d methods, want at most %d", name, typ, n, maxMethods)
			}
		}
	}
}

// The facade is bridge.Workspace.
func checkFacade(t *testing.T, p *packages.Package) {
	set := types.NewMethodSet(types.NewPointer(p.Types.Scope().Lookup("Workspace").Type()))
	var names []string
	for m := range set.Methods() {
		if m.Obj().Exported() {
			names = append(names, m.Obj().Name())
		}
	}
	if len(names) > maxFacade {
		t.Errorf("Workspace has %d exported methods, want at most %d: %s", len(names), maxFacade, strings.Join(names, " "))
	}
}

// methodsOf counts the methods of the types of a package.
func methodsOf(p *packages.Package) map[string]int {
	count := make(map[string]int)
	for _, name := range p.Types.Scope().Names() {
		if typ, ok := p.Types.Scope().Lookup(name).(*types.TypeName); ok {
			if named, ok := typ.Type().(*types.Named); ok {
				count[name] = named.NumMethods()
			}
		}
	}
	return count
}

// fileCycle is the largest set of files of a package each of which uses, over others or directly, what each other one
// declares.
func fileCycle(p *packages.Package) (largest []string) {
	uses := make(map[string]map[string]bool)
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Package).Filename)
		uses[from] = make(map[string]bool)
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if obj := p.TypesInfo.Uses[id]; obj != nil && obj.Pkg() == p.Types {
					uses[from][filepath.Base(p.Fset.Position(obj.Pos()).Filename)] = true
				}
			}
			return true
		})
	}
	reach := make(map[string]map[string]bool)
	for f := range uses {
		reach[f] = make(map[string]bool)
		for next := []string{f}; len(next) > 0; {
			at := next[0]
			next = next[1:]
			for to := range uses[at] {
				if !reach[f][to] {
					reach[f][to] = true
					next = append(next, to)
				}
			}
		}
	}
	for f := range uses {
		var cycle []string
		for g := range uses {
			if f == g || reach[f][g] && reach[g][f] {
				cycle = append(cycle, g)
			}
		}
		if len(cycle) > len(largest) {
			largest = cycle
		}
	}
	slices.Sort(largest)
	return largest
}
