package code

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

const module = "github.com/relayfs/relayfs"

// importRule says which packages a package may import besides the standard
// library. A trailing "/..." allows everything below.
type importRule struct {
	may []string
	why string
}

// importRules holds every package of the module; docs/dependencies.md tells
// the same in prose. A new package fails TestImports until it has a line here.
var importRules = map[string]importRule{
	"diffwrap/internal/span":         {nil, "ranges, edits and lines of a text; it compares nothing"},
	"diffwrap/internal/align":        {[]string{"diffwrap/block", "diffwrap/internal/markdown", "diffwrap/internal/span", "github.com/sergi/go-diff/..."}, "two texts are compared, and nothing else knows Myers' diff; comments are whole to it, and other markup means nothing"},
	"diffwrap/internal/markdown":     {[]string{"diffwrap/block", "diffwrap/internal/span", "github.com/rivo/uniseg"}, "the constructs of one line that a change leaves whole"},
	"diffwrap/internal/critic":       {[]string{"diffwrap/internal/markdown", "diffwrap/internal/span"}, "CriticMarkup is read here, and nowhere else; it changes nothing"},
	"diffwrap/block":                 {[]string{"diffwrap/internal/span"}, "the blocks of Markdown, one pass over the lines; marks mean nothing to it"},
	"diffwrap/internal/placement":    {[]string{"diffwrap/block", "diffwrap/internal/align", "diffwrap/internal/markdown", "diffwrap/internal/span"}, "where marks begin and end, from two texts; it writes none"},
	"diffwrap/internal/marking":      {[]string{"diffwrap/block", "diffwrap/internal/align", "diffwrap/internal/critic", "diffwrap/internal/markdown", "diffwrap/internal/placement", "diffwrap/internal/span"}, "a change is written as marks; whether it may be is not asked here"},
	"bridge/ycrdt/internal/wire":     {[]string{"bridge/ycrdt/internal/lib0"}, "an update is bytes; it knows no document"},
	"bridge/ycrdt/internal/structs":  {[]string{"bridge/ycrdt/internal/lib0", "bridge/ycrdt/internal/wire"}, "structs as memory; it knows no tree and no transaction"},
	"bridge/ycrdt/internal/ytypes":   {[]string{"bridge/ycrdt/internal/structs", "bridge/ycrdt/internal/wire"}, "a document as a tree of types; it knows no transaction"},
	"bridge/ycrdt/internal/edit":     {[]string{"bridge/ycrdt/internal/lib0", "bridge/ycrdt/internal/structs", "bridge/ycrdt/internal/wire", "bridge/ycrdt/internal/ytypes"}, "a transaction, and edits by position in it; it knows no value and no update"},
	"bridge/ycrdt/internal/exchange": {[]string{"bridge/ycrdt/internal/edit", "bridge/ycrdt/internal/lib0", "bridge/ycrdt/internal/structs", "bridge/ycrdt/internal/wire", "bridge/ycrdt/internal/ytypes"}, "updates into a document and out of it; it knows no value and no handle"},

	"bridge/ycrdt":                      {[]string{"bridge/ycrdt/internal/..."}, "the engine is the standard library only, so that anyone can take it"},
	"bridge/ycrdt/internal/lib0":        {nil, "an encoding, and the count of text, know nothing of what they encode"},
	"bridge/remote/ysync":               {[]string{"bridge/ycrdt"}, "protocol frames carry updates and nothing else"},
	"diffwrap":                          {[]string{"diffwrap/block", "diffwrap/internal/...", "go.yaml.in/yaml/v4"}, "the lens maps text to text; it knows no file and no document"},
	"bridge/textmerge":                  {[]string{"bridge/ycrdt", "diffwrap"}, "a merge is a function of texts, edits and identities"},
	"bridge/model":                      {[]string{"bridge/textmerge", "bridge/ycrdt", "diffwrap", "github.com/bmatcuk/doublestar/v4", "golang.org/x/text/..."}, "the vocabulary of the workspace, and its ports; it opens nothing"},
	"bridge/note/attribution":           {[]string{"bridge/model", "bridge/textmerge", "bridge/ycrdt", "diffwrap"}, "who wrote what is a function of records and identities"},
	"bridge/note/planner":               {[]string{"bridge/model", "bridge/note/attribution", "bridge/textmerge", "bridge/ycrdt", "diffwrap"}, "what is to become of a note is a function of texts and records"},
	"bridge/index":                      {[]string{"bridge/frontmatter", "bridge/index/links", "bridge/index/outline", "bridge/model", "bridge/namespace", "bridge/note", "bridge/note/attribution", "diffwrap"}, "what is computed from the text of every note, and follows the tree; it changes nothing"},
	"bridge/note/facts":                 {[]string{"bridge/model", "bridge/note/attribution", "bridge/textmerge", "bridge/ycrdt", "diffwrap"}, "what mounts of one server tell each other of a note, in its document"},
	"bridge/note":                       {[]string{"bridge/frontmatter", "bridge/model", "bridge/note/facts", "bridge/note/attribution", "bridge/note/planner", "bridge/textmerge", "bridge/ycrdt", "diffwrap"}, "one note; it knows its place, and no tree"},
	"bridge/history":                    {[]string{"bridge/model", "bridge/namespace", "bridge/note/attribution", "bridge/ycrdt", "diffwrap"}, "what the notes were is a function of what a store kept; it changes nothing"},
	"bridge/filetype":                   {[]string{"bridge/frontmatter"}, "what a document is by its name, and what a canvas or a base must hold, are functions of a name and a text"},
	"bridge/namespace/internal/tree":    {[]string{"bridge/model", "bridge/note"}, "names in memory; it changes no source and no store"},
	"bridge/namespace":                  {[]string{"bridge/filetype", "bridge/index/links", "bridge/model", "bridge/namespace/internal/tree", "bridge/note", "bridge/note/planner", "diffwrap"}, "names: what programs and people do to them, and the proposals about them; what a person decides comes from above"},
	"bridge/review":                     {[]string{"bridge/index", "bridge/model", "bridge/namespace", "bridge/note", "bridge/note/planner", "diffwrap", "golang.org/x/sync/..."}, "what a person decides, and what becomes of it"},
	"bridge":                            {[]string{"bridge/history", "bridge/index", "bridge/model", "bridge/namespace", "bridge/note", "bridge/review", "golang.org/x/sync/..."}, "the workspace puts its parts together; like them it imports no source and no store but their interfaces"},
	"bridge/owner":                      {[]string{"bridge/disk", "golang.org/x/sys/..."}, "the state folder, its locks and a socket; it knows nothing of what its owner serves"},
	"bridge/index/outline":              {[]string{"bridge/frontmatter", "bridge/index/links", "diffwrap", "diffwrap/block"}, "what a note holds is a function of its text"},
	"bridge/frontmatter":                {[]string{"bridge/ycrdt", "diffwrap", "go.yaml.in/yaml/v4"}, "front matter is a function of a note's text"},
	"bridge/index/links":                {[]string{"bridge/frontmatter", "diffwrap", "diffwrap/block", "golang.org/x/text/..."}, "Obsidian's link rules are a function of names and texts"},
	"bridge/disk":                       {[]string{"golang.org/x/sys/unix"}, "system calls on names in an open folder; it knows nothing of notes"},
	"bridge/disk/disktest":              {[]string{"bridge/disk"}, "a machine in memory for tests of crashes"},
	"bridge/vault/internal/vaultdir":    {[]string{"bridge/disk", "bridge/model"}, "what is where in the vault's directory, and syncs of its folders; it knows no save"},
	"bridge/vault/internal/filereplace": {[]string{"bridge/disk", "bridge/model", "bridge/vault/internal/vaultdir"}, "one file replaced, and what is written to it afterwards; it does not know what the vault holds"},
	"bridge/vault":                      {[]string{"bridge/disk", "bridge/model", "bridge/vault/internal/...", "github.com/fsnotify/fsnotify"}, "the only place that knows fsnotify"},
	"bridge/store/internal/wal":         {[]string{"bridge/disk", "bridge/model", "github.com/fxamacker/cbor/v2"}, "a log of frames that outlive a crash, and what a store writes in them"},
	"bridge/store":                      {[]string{"bridge/disk", "bridge/model", "bridge/store/internal/..."}, "the log, and what it says; it knows no file format"},
	"bridge/remote/token":               {[]string{"github.com/fxamacker/cbor/v2"}, "signed sentences about ids; it knows no document and no network"},
	"bridge/store/internal/checkpoint":  {[]string{"bridge/disk", "bridge/model", "bridge/store/internal/wal", "bridge/ycrdt", "go.etcd.io/bbolt/..."}, "the only place that knows bbolt; it applies frames and does not know the log"},
	"bridge/remote": {
		[]string{"bridge/model", "bridge/owner", "bridge/remote/folderdoc", "bridge/remote/internal/canvasdoc", "bridge/remote/internal/listing", "bridge/remote/internal/replica", "bridge/remote/internal/schedule", "bridge/remote/token", "bridge/remote/transport", "bridge/remote/ysync", "bridge/ycrdt"},
		"a client of servers; it knows no store but its interface",
	},
	"bridge/remote/internal/listing":         {[]string{"bridge/model", "bridge/owner", "bridge/remote/folderdoc", "bridge/remote/internal/canvasdoc", "bridge/remote/internal/replica", "bridge/remote/internal/schedule", "bridge/remote/token", "bridge/remote/transport", "bridge/ycrdt"}, "what a folder holds: names, drafts and bytes of attachments; it does not know which document is connected"},
	"bridge/remote/internal/schedule":        {[]string{"bridge/model", "bridge/remote/internal/replica", "bridge/remote/transport", "bridge/remote/ysync", "bridge/ycrdt", "github.com/fxamacker/cbor/v2"}, "which documents are connected when; it knows no names of notes"},
	"bridge/remote/internal/replica":         {[]string{"bridge/model", "bridge/note/facts", "bridge/remote/folderdoc", "bridge/remote/internal/canvasdoc", "bridge/remote/transport", "bridge/remote/ysync", "bridge/textmerge", "bridge/ycrdt"}, "documents, each by itself; it does not know what the folder lists"},
	"bridge/remote/control":                  {[]string{"bridge/remote/token", "bridge/remote/transport"}, "a client of the service that makes tokens; it knows no document, and not where a login is kept"},
	"bridge/remote/transport":                {[]string{"bridge/model", "bridge/remote/token", "bridge/remote/ysync", "github.com/coder/websocket"}, "documents by their names at a server; it does not know what is in one, and keeps nothing"},
	"bridge/remote/relaytest":                {[]string{"bridge/remote/token", "bridge/remote/ysync", "bridge/ycrdt", "github.com/coder/websocket", "github.com/fxamacker/cbor/v2"}, "a server for tests of its clients shares no code with ours"},
	"bridge/index/semantic":                  {[]string{"bridge", "bridge/frontmatter", "bridge/index", "bridge/index/outline", "bridge/index/semantic/internal/...", "bridge/model", "bridge/owner"}, "the only place that knows vectors, and the embeddings API"},
	"bridge/index/semantic/internal/lexical": {[]string{"bridge/index/outline", "github.com/blevesearch/snowballstem/...", "golang.org/x/text/unicode/norm"}, "documents by their words, and the only place that knows stems; it does not know what a note is"},
	"bridge/remote/folderdoc":                {[]string{"bridge/frontmatter", "bridge/textmerge", "bridge/ycrdt"}, "the data model of a folder is a function of its documents, one at a time"},
	"bridge/remote/internal/canvasdoc":       {[]string{"bridge/textmerge", "bridge/ycrdt"}, "a canvas is a function of one document"},
	"bridge/bridgetest":                      {[]string{"bridge", "bridge/disk", "bridge/disk/disktest", "bridge/model", "bridge/store", "bridge/vault", "bridge/ycrdt"}, "a workspace over vaults on simulated disks, for the tests of what sits above"},
	"bridge/crashtest":                       {nil, "the workspace on a real vault and a real store, on disks in memory; what it imports is in test files"},
	"bridge/decisiontest":                    {nil, "decisions against a model; what it imports is in test files"},
	"fusefs":                                 {[]string{"bridge", "bridge/model", "bridge/owner", "fusefs/internal/...", "github.com/hanwen/go-fuse/v2/...", "golang.org/x/sys/unix"}, "with its parts, and a bench, the only place that knows go-fuse; it knows no MCP"},
	"fusefs/internal/content":                {[]string{"bridge", "bridge/model", "bridge/textmerge", "fusefs/internal/program"}, "what a file shows and what is written to it, as values; it knows no inode"},
	"fusefs/internal/program":                {[]string{"github.com/hanwen/go-fuse/v2/fuse", "golang.org/x/sys/unix"}, "who makes a call; it knows no file"},
	"mcpserver/internal/grep":                {[]string{"bridge/model"}, "a search over texts and paths, as ripgrep has it"},
	"mcpserver/internal/result":              {[]string{"bridge", "bridge/model", "diffwrap"}, "what a call gives back, in which words, how much of it fits, and where it goes on; it knows no tool and no protocol"},
	"mcpserver/internal/textrange":           {[]string{"diffwrap", "diffwrap/block", "mcpserver/internal/result", "github.com/rivo/uniseg", "golang.org/x/text/unicode/norm"}, "parts of a text, and what a model quotes of it, are a function of it"},
	"mcpserver/internal/search":              {[]string{"bridge", "bridge/model", "mcpserver/internal/result", "mcpserver/internal/document", "mcpserver/internal/grep", "mcpserver/internal/textrange", "mcpserver/internal/session"}, "lines in notes, whoever wants them"},
	"mcpserver/internal/session":             {[]string{"bridge", "bridge/model", "diffwrap", "mcpserver/internal/textrange", "mcpserver/internal/document"}, "what one client was shown; it opens no document"},
	"mcpserver/internal/toolset/vault":       {[]string{"bridge", "bridge/model", "mcpserver/internal/result", "mcpserver/internal/tool"}, "a toolset knows neither the protocol nor the other toolsets"},
	"mcpserver/internal/document":            {[]string{"bridge", "bridge/filetype", "bridge/model", "mcpserver/internal/result", "mcpserver/internal/textrange"}, "which document a model means"},
	"mcpserver/internal/change":              {[]string{"bridge", "bridge/filetype", "bridge/frontmatter", "bridge/index/outline", "bridge/model", "diffwrap", "mcpserver/internal/result", "mcpserver/internal/document", "mcpserver/internal/textrange", "mcpserver/internal/session"}, "every change of a client goes through it, and what a person is asked before; it knows no tool"},
	"mcpserver/internal/tool":                {[]string{"bridge", "bridge/frontmatter", "bridge/index", "bridge/index/outline", "bridge/index/semantic", "bridge/model", "mcpserver/internal/result", "mcpserver/internal/change", "mcpserver/internal/document", "mcpserver/internal/search", "mcpserver/internal/session", "mcpserver/internal/textrange"}, "what a tool is, its arguments and their schemas, and what a model is told for an error, whatever protocol offers it"},
	"mcpserver/internal/toolset/claude": {
		[]string{"bridge", "bridge/frontmatter", "bridge/index", "bridge/index/links", "bridge/index/outline", "bridge/index/semantic", "bridge/model", "diffwrap", "mcpserver/internal/result", "mcpserver/internal/change", "mcpserver/internal/document", "mcpserver/internal/grep", "mcpserver/internal/textrange", "mcpserver/internal/search", "mcpserver/internal/session", "mcpserver/internal/tool"},
		"the tools that Claude Code knows; no other toolset",
	},
	"mcpserver/internal/toolset/notes": {
		[]string{"bridge", "bridge/filetype", "bridge/frontmatter", "bridge/index", "bridge/index/links", "bridge/index/outline", "bridge/index/semantic", "bridge/model", "diffwrap", "mcpserver/internal/result", "mcpserver/internal/change", "mcpserver/internal/document", "mcpserver/internal/grep", "mcpserver/internal/textrange", "mcpserver/internal/search", "mcpserver/internal/session", "mcpserver/internal/tool", "golang.org/x/text/unicode/norm"},
		"tools for notes and properties; no other toolset",
	},
	"mcpserver/internal/toolset/content": {
		[]string{"bridge/filetype", "bridge/model", "diffwrap", "mcpserver/internal/result", "mcpserver/internal/change", "mcpserver/internal/document", "mcpserver/internal/grep", "mcpserver/internal/textrange", "mcpserver/internal/search", "mcpserver/internal/session", "mcpserver/internal/tool"},
		"tools for notes, canvases and bases; no other toolset",
	},
	"mcpserver": {[]string{"bridge", "bridge/filetype", "bridge/frontmatter", "bridge/index/semantic", "bridge/model", "diffwrap", "mcpserver/internal/...", "github.com/mark3labs/mcp-go/..."}, "the only place that knows mcp-go; it knows no FUSE"},
	"cmd/relayfs": {
		[]string{
			"bridge", "bridge/history", "bridge/model", "bridge/owner", "bridge/remote/control", "bridge/remote/transport", "bridge/index/semantic", "diffwrap", "fusefs", "mcpserver",
			"cmd/relayfs/internal/...", "github.com/spf13/cobra", "github.com/spf13/pflag",
		},
		"flags, wiring and exit codes; nobody imports it",
	},
	"cmd/relayfs/internal/secret":  {[]string{"bridge/owner", "cmd/relayfs/internal/cli"}, "a file that its user alone may read knows nothing of what it opens"},
	"cmd/relayfs/internal/process": {[]string{"cmd/relayfs/internal/cli", "golang.org/x/sys/..."}, "processes, and what differs between operating systems; it knows nothing of mounts"},
	"cmd/relayfs/internal/cli":     {[]string{"github.com/charmbracelet/x/ansi", "golang.org/x/term"}, "what is printed passes through here, errors too; it knows nothing of notes and of no command"},
	"cmd/relayfs/internal/source":  {[]string{"bridge/model", "bridge/owner", "bridge/remote/control", "bridge/remote/token", "bridge/remote/transport", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/secret", "github.com/zalando/go-keyring"}, "what SOURCE arguments mean, and the login that finds shared folders; it opens nothing"},
	"cmd/relayfs/internal/config": {
		[]string{"cmd/relayfs/internal/cli", "cmd/relayfs/internal/secret", "cmd/relayfs/internal/source", "github.com/BurntSushi/toml", "github.com/spf13/cobra", "github.com/spf13/pflag"},
		"the only place that knows TOML; it sets flags and knows what none of them means",
	},
	"cmd/relayfs/internal/reviewqueue": {
		[]string{"bridge", "bridge/model", "diffwrap", "cmd/relayfs/internal/cli"},
		"the review queue as others see it; it draws nothing",
	},
	"cmd/relayfs/internal/render": {
		[]string{"bridge/frontmatter", "bridge/index/outline", "bridge/model", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/reviewqueue", "diffwrap", "github.com/yuin/goldmark", "github.com/yuin/goldmark/..."},
		"what is shown is a function of texts and of what waits; the only place that knows goldmark",
	},
	"cmd/relayfs/internal/backup": {[]string{"bridge/owner", "bridge/store", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/source"}, "copies of stores, and back; it opens no workspace"},
	"cmd/relayfs/internal/api": {
		[]string{"bridge", "bridge/history", "bridge/index/links", "bridge/model", "bridge/owner", "bridge/remote/transport", "cmd/relayfs/internal/backup", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/reviewqueue", "diffwrap", "mcpserver"},
		"the one door to who owns vaults: what is asked and how it is answered; it knows no command and no port",
	},
	"cmd/relayfs/internal/tui": {
		[]string{"bridge/model", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/reviewqueue", "cmd/relayfs/internal/render", "github.com/charmbracelet/bubbletea", "github.com/charmbracelet/lipgloss", "github.com/rivo/uniseg"},
		"the only place that takes the terminal over",
	},
	"cmd/relayfs/internal/page": {[]string{"bridge/model", "bridge/owner", "cmd/relayfs/internal/api", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/ports", "cmd/relayfs/internal/reviewqueue", "cmd/relayfs/internal/render", "cmd/relayfs/internal/secret", "github.com/klauspost/compress/gzhttp"}, "a queue in a browser; it knows no workspace, and of marks only where they stand"},
	"cmd/relayfs/internal/ports": {
		[]string{"bridge", "bridge/disk", "bridge/model", "bridge/owner", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/secret", "mcpserver"},
		"TCP ports: who may ask there, whether the process is well, and MCP; it knows no lock and no socket of an owner",
	},
	"cmd/relayfs/internal/serving": {
		[]string{"bridge", "bridge/model", "bridge/owner", "bridge/remote", "bridge/index/semantic", "bridge/store", "bridge/vault", "cmd/relayfs/internal/api", "cmd/relayfs/internal/backup", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/ports", "cmd/relayfs/internal/process", "cmd/relayfs/internal/source", "github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/collectors", "github.com/prometheus/client_golang/prometheus/promhttp", "golang.org/x/sync/errgroup", "mcpserver"},
		"who serves a vault: it opens sources and stores, answers on the owner's socket, passes messages of MCP on stdio there, and counts for Prometheus; the only place that knows its client",
	},
	"cmd/relayfs/internal/doctor": {
		[]string{"bridge/model", "bridge/owner", "bridge/remote", "bridge/remote/transport", "bridge/store", "fusefs", "cmd/relayfs/internal/cli", "cmd/relayfs/internal/config", "cmd/relayfs/internal/source", "cmd/relayfs/internal/process"},
		"it looks at what a mount needs, and opens no workspace",
	},
	"cmd/relayfs/internal/tui/quietinit": {nil, "it must be initialised before everything that asks the terminal"},
	// The end-to-end tests by subject; what they import is in test files.
	"tests/claude-code":      {nil, "Claude Code on a mount"},
	"tests/cli":              {nil, "commands, configuration and machines on which something is missing"},
	"tests/code":             {nil, "rules about the source; it runs nothing"},
	"tests/crash":            {nil, "kills, failing disks and long runs"},
	"tests/docs":             {nil, "links, commands and sessions of the manual"},
	"tests/mcp":              {nil, "the MCP server over stdio and HTTP"},
	"tests/model":            {nil, "random sequences against a model"},
	"tests/owner":            {nil, "who serves a vault"},
	"tests/packages":         {nil, "packages, from their making to their removal"},
	"tests/page":             {nil, "the review page in a browser"},
	"tests/render":           {nil, "what marks do to a page"},
	"tests/review":           {nil, "what waits for a person, and what becomes of it"},
	"tests/save":             {nil, "how programs and people save"},
	"tests/servers":          {nil, "servers and Yjs clients"},
	"tests/files":            {nil, "what programs read on a mount, and system calls on names"},
	"tests/internal/harness": {[]string{"diffwrap", "tests/need", "github.com/creack/pty", "golang.org/x/sys/unix"}, "what end-to-end tests stand on drives the built binary"},
	"tests/bench/mount":      {nil, "the speed of a mount and of tools over stdio, beside mounts of go-fuse that do less"},
	"tests/need":             {nil, "what a test needs of a machine, and how much of it a call may take"},
	"tests/randomtest":       {[]string{"tests/need"}, "tests of random input"},
	"tests/testall":          {[]string{"tests/need"}, "runs every test and sums up the results"},
}

// listedPackage is what TestImports needs of `go list -json`.
type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// goList runs `go list`. The test cache does not notice what it reads, so the
// tests of this file mean something only with -count=1.
func goList(t *testing.T, args ...string) map[string]listedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e", "-json=ImportPath,Standard,Imports,Deps"}, args...)...)
	cmd.Dir = harness.Repo()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	packages := make(map[string]listedPackage)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// inModule cuts the module's path off; other import paths pass unchanged.
func inModule(importPath string) string {
	return strings.TrimPrefix(importPath, module+"/")
}

func (r importRule) allows(importPath string) bool {
	return slices.ContainsFunc(r.may, func(may string) bool {
		prefix, tree := strings.CutSuffix(may, "/...")
		return importPath == prefix || tree && strings.HasPrefix(importPath, prefix+"/")
	})
}

func TestImports(t *testing.T) {
	all := goList(t, "-deps", "./...")
	for importPath, p := range all {
		name := inModule(importPath)
		if name == importPath {
			continue // not ours
		}
		rule, known := importRules[name]
		if !known {
			t.Errorf("package %s has no line in importRules: say what it may import and why", name)
			continue
		}
		for _, imported := range p.Imports {
			if !all[imported].Standard && !rule.allows(inModule(imported)) {
				t.Errorf("package %s imports %s; it may not: %s", name, inModule(imported), rule.why)
			}
		}
	}
	for name := range importRules {
		if _, ok := all[path.Join(module, name)]; !ok {
			t.Errorf("importRules has a line for %s, which does not exist", name)
		}
	}
}

// The shipped binary holds no test code.
func TestBinaryHoldsNoTestCode(t *testing.T) {
	binary := goList(t, "./cmd/relayfs")[module+"/cmd/relayfs"]
	if len(binary.Deps) == 0 {
		t.Fatal("go list knows no dependencies of cmd/relayfs")
	}
	for _, dep := range binary.Deps {
		if dep == "testing" || strings.HasSuffix(dep, "test") && strings.HasPrefix(dep, module) {
			t.Errorf("cmd/relayfs depends on %s", dep)
		}
	}
}
