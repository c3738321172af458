package packages

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The functions of PKGBUILD build the program and put what the Debian package holds where Arch Linux has it.
func TestPKGBUILD(t *testing.T) {
	t.Parallel()
	need.Programs(t, "git")
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
	t.Parallel()
	need.Programs(t, "ruby")
	if out := harness.OutputIn(t, harness.Repo("packaging", "homebrew"), []string{"ruby", "-wc", "relayfs.rb"}); out.Code != 0 || out.Stderr != "" {
		t.Errorf("ruby -wc: exit code %d\n%s", out.Code, out.Stderr)
	}
}

// flake.nix has the hash of the modules that go.mod names today.
func TestVendorHash(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	out := harness.RunCommand(t, exec.CommandContext(t.Context(), harness.Repo("packaging", "vendor-hash.py")))
	if out.Code != 0 {
		t.Fatalf("vendor-hash.py: exit code %d\n%s", out.Code, out.Stderr)
	}
	hash := strings.TrimSpace(out.Stdout)
	if !strings.Contains(harness.ReadFile(t, harness.Repo("flake.nix")), `vendorHash = "`+hash+`";`) {
		t.Errorf("go.mod has changed: write vendorHash = %q; into flake.nix", hash)
	}
}

// The manifest of the bundle for Claude Desktop is one by the tool that packs it, in the version that packs it.
func TestBundleManifest(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node")
	tool := harness.Repo("tests", "packages", "node_modules", ".bin", "mcpb")
	if _, err := os.Stat(tool); err != nil {
		need.Missing(t, "npm ci in tests/packages: %v", err)
	}
	manifest := harness.ReadFile(t, harness.Repo("packaging", "mcpb", "manifest.json"))
	file := filepath.Join(t.TempDir(), "manifest.json")
	for text, valid := range map[string]bool{manifest: true, strings.Replace(manifest, `"command"`, `"comand"`, 1): false} {
		harness.WriteFile(t, file, text)
		if out := harness.OutputIn(t, filepath.Dir(file), []string{tool, "validate", file}); (out.Code == 0) != valid {
			t.Errorf("mcpb validate: exit code %d, want valid: %v\n%s%s\n%s", out.Code, valid, out.Stdout, out.Stderr, text)
		}
	}
	var wanted struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(harness.ReadFile(t, harness.Repo("tests", "packages", "package.json"))), &wanted); err != nil {
		t.Fatal(err)
	}
	for name, version := range wanted.Dependencies {
		if !strings.Contains(harness.ReadFile(t, harness.Repo("packaging", "mcpb", "bundle.sh")), name+"@"+version+" pack") {
			t.Errorf("bundle.sh does not pack with %s@%s", name, version)
		}
	}
}

// The marketplace of Claude Code leads to the plugin, and that starts a command that there is. Claude Code itself is not here.
func TestClaudePlugin(t *testing.T) {
	t.Parallel()
	var market struct {
		Name    string
		Owner   struct{ Name string }
		Plugins []struct{ Name, Source string }
	}
	var plugin struct{ Name, Description string }
	var servers struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	read := func(v any, elem ...string) {
		t.Helper()
		d := json.NewDecoder(strings.NewReader(harness.ReadFile(t, harness.Repo(elem...))))
		if err := d.Decode(v); err != nil {
			t.Fatalf("%v: %v", elem, err)
		}
	}
	read(&market, ".claude-plugin", "marketplace.json")
	if market.Name == "" || market.Owner.Name == "" || len(market.Plugins) != 1 {
		t.Fatalf("the marketplace is %+v", market)
	}
	dir := market.Plugins[0].Source
	read(&plugin, dir, ".claude-plugin", "plugin.json")
	read(&servers, dir, ".mcp.json")
	if plugin.Name != market.Plugins[0].Name || plugin.Description == "" {
		t.Errorf("the marketplace has %+v, and the plugin is %+v", market.Plugins[0], plugin)
	}
	for name, s := range servers.Servers {
		if out := harness.OutputIn(t, t.TempDir(), append([]string{harness.Binary(t)}, append(s.Args, "--help")...)); s.Command != "relayfs" || out.Code != 0 {
			t.Errorf("%s starts %s %v: exit code %d", name, s.Command, s.Args, out.Code)
		}
	}
	if len(servers.Servers) != 1 {
		t.Errorf("the plugin has the servers %v", servers.Servers)
	}
	var hooks struct {
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
	}
	read(&hooks, dir, "hooks", "hooks.json")
	if h := hooks.Hooks["UserPromptSubmit"]; len(hooks.Hooks) != 1 || len(h) != 1 || len(h[0].Hooks) != 1 || h[0].Hooks[0].Command != "relayfs outcomes --hook || exit 1" {
		t.Errorf("the plugin has the hooks %+v", hooks.Hooks)
	}
}

// registry is the module that has the schema of server.json. tests/scripts/deps.sh fetches it.
const registry = "github.com/modelcontextprotocol/registry@v1.4.1"

// The entry for the MCP registry is one by the registry's own schema.
func TestServerJSON(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
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
		need.Missing(t, "no module %s: %v", module, err)
	}
	return found.Dir
}
