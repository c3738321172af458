package packages

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The functions of PKGBUILD build the program and put what the Debian package holds where Arch Linux has it.
func TestPKGBUILD(t *testing.T) {
	harness.RequireTools(t, "git")
	dir := t.TempDir()
	copyRepository(t, filepath.Join(dir, "src", "relayfs"))
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		`srcdir=$PWD/src pkgdir=$PWD/pkg; source src/relayfs/packaging/arch/PKGBUILD; (build); (package)`)
	cmd.Dir, cmd.Env = dir, release(filepath.Join(dir, "src", "relayfs", "dist"))
	if out := harness.RunCommand(t, cmd); out.Code != 0 {
		t.Fatalf("PKGBUILD: exit code %d\n%s", out.Code, out.Stderr)
	}
	arch := strings.NewReplacer("zsh/vendor-completions", "zsh/site-functions", "doc/relayfs/copyright", "licenses/relayfs/LICENSE",
		"doc/relayfs/THIRD", "licenses/relayfs/THIRD")
	var want []string
	for _, name := range files {
		want = append(want, strings.TrimPrefix(arch.Replace(name), "/"))
	}
	got := slices.DeleteFunc(harness.ListFiles(t, filepath.Join(dir, "pkg")), func(name string) bool {
		return strings.HasSuffix(name, "/") || strings.HasPrefix("/"+name, manPages)
	})
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("PKGBUILD packs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Homebrew is not here; Ruby reads its formula.
func TestFormula(t *testing.T) {
	harness.RequireTools(t, "ruby")
	if out := harness.OutputIn(t, harness.Repo("packaging", "homebrew"), []string{"ruby", "-wc", "relayfs.rb"}); out.Code != 0 || out.Stderr != "" {
		t.Errorf("ruby -wc: exit code %d\n%s", out.Code, out.Stderr)
	}
}

// flake.nix has the hash of the modules that go.mod names today.
func TestVendorHash(t *testing.T) {
	harness.RequireTools(t, "python3")
	out := harness.RunCommand(t, exec.CommandContext(t.Context(), harness.Repo("packaging", "vendor-hash.py")))
	if out.Code != 0 {
		t.Fatalf("vendor-hash.py: exit code %d\n%s", out.Code, out.Stderr)
	}
	hash := strings.TrimSpace(out.Stdout)
	if !strings.Contains(harness.ReadFile(t, harness.Repo("flake.nix")), `vendorHash = "`+hash+`";`) {
		t.Errorf("go.mod has changed: write vendorHash = %q; into flake.nix", hash)
	}
}

// registry is the module that has the schema of server.json. tests/scripts/deps.sh fetches it.
const registry = "github.com/modelcontextprotocol/registry@v1.4.1"

// The entry for the MCP registry is one by the registry's own schema.
func TestServerJSON(t *testing.T) {
	harness.RequireTools(t, "python3")
	bundle := filepath.Join(t.TempDir(), "relayfs_linux_amd64.mcpb")
	harness.WriteFile(t, bundle, "a bundle")
	out := harness.RunCommand(t, exec.CommandContext(t.Context(), harness.Repo("packaging", "mcpb", "registry.py"), "1.2.3", bundle))
	if out.Code != 0 {
		t.Fatalf("registry.py: exit code %d\n%s", out.Code, out.Stderr)
	}
	server, err := jsonschema.UnmarshalJSON(strings.NewReader(out.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(moduleDir(t, registry), "docs", "reference", "server-json", "server.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(server); err != nil {
		t.Errorf("%v\n%s", err, out.Stdout)
	}
}

// moduleDir is where Go's cache has a module.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Env = append(cmd.Environ(), "GOPROXY=off", "GOSUMDB=off")
	var found struct{ Dir string }
	if out, err := cmd.Output(); err != nil || json.Unmarshal(out, &found) != nil {
		harness.Skip(t, "no module %s: %v", module, err)
	}
	return found.Dir
}
