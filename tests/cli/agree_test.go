package cli

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// place is a folder with what configurations can name, good and bad.
type place struct {
	*harness.Sandbox
	taken string // the address of a port that another program has
}

func newPlace(t *testing.T) *place {
	s := harness.NewSandbox(t)
	s.Vault(t, "Vault", map[string]string{"note.md": "text\n", "Inner/note.md": "text\n"})
	s.Vault(t, "Other", map[string]string{"note.md": "text\n"})
	s.Vault(t, "elsewhere/Vault", map[string]string{"note.md": "text\n"})
	s.Mkdir(t, "mnt")
	s.Mkdir(t, "full")
	for file, text := range map[string]string{"full/mine": "mine", "file": "text", "short": "short", "open": strings.Repeat("x", 20), "token": strings.Repeat("x", 20)} {
		harness.WriteFile(t, s.Path(file), text)
		if err := os.Chmod(s.Path(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(s.Path("open"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"to-mnt": "mnt", "to-inner": "Vault/Inner", "to-nowhere": "nowhere"} {
		if err := os.Symlink(s.Path(to), s.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &place{s, l.Addr().String()}
}

// values are what the keys of a configuration can be, good or bad. In a value, $ is the folder and @ the port that is taken.
var values = map[string][]string{
	"sources": {
		`["$/Vault"]`, `["$/Vault", "$/Other"]`, `["$/Vault", "$/elsewhere/Vault"]`, `["$/Vault", "Second=$/elsewhere/Vault"]`, `["A=$/Vault", "B=$/Vault"]`,
		`["$/Vault", "$/Vault/Inner"]`, `["$/nowhere"]`, `["$/file"]`, `["a/b=$/Vault"]`, `[]`, `["ys://127.0.0.1:1"]`, `["ys://127.0.0.1:1#Team"]`, `["ftp://x/y"]`, `["relay:Nobody"]`, `[1]`,
	},
	"mountpoint": {
		`"$/mnt"`, `"$/mnt/"`, `"$/mnt/../mnt"`, `"$/to-mnt"`, `"$/nowhere"`, `"$/to-nowhere"`, `"$/full"`, `"$/file"`, `"$/file/below"`, `"$/Vault"`, `"$/Vault/Inner"`,
		`"$/Vault/none"`, `"$/to-inner"`, `"$"`, `""`, `3`,
	},
	"metrics": {`"127.0.0.1:0"`, `"9"`, `9`, `"127.0.0.1:99999"`, `"127.0.0.1:http!"`, `"@"`, `"203.0.113.9:0"`, `"localhost:0"`, `""`},
	"http":    {`"127.0.0.1:0"`, `"0.0.0.0:0"`, `"@"`, `"127.0.0.1"`},
	"token-file": {
		`"$/token"`, `"$/short"`, `"$/open"`, `"$/new/token"`, `"$/file/token"`, `"$/mnt"`,
	},
	"mode":             {`"direct"`, `"direkt"`, `""`},
	"view":             {`"raw"`, `"rough"`},
	"dialect":          {`"commentator"`, `"swabian"`},
	"frontmatter":      {`"refuse"`, `"refuses"`},
	"structure":        {`"deny"`, `"denied"`},
	"sync":             {`"before"`, `"after"`},
	"log-level":        {`"error"`, `"loud"`},
	"log-format":       {`"json"`, `"xml"`},
	"toolsets":         {`["claude", "notes"]`, `["none"]`},
	"approve":          {`["ask"]`, `["delete=maybe"]`},
	"embeddings":       {`"http://127.0.0.1:1"`, `"nowhere"`},
	"agent-notes":      {`["House.md"]`},
	"embeddings-model": {`"m"`},
	"read-only":        {`true`, `"yes please"`},
	"author":           {`"somebody"`, `""`},
	"state":            {`"$/state"`, `"$/file"`, `"$/file/state"`},
	"presence":         {`true`},
	"unknown":          {`1`},
}

// generate is a configuration that works, with some keys that may be bad.
func (p *place) generate(r *rand.Rand) string {
	config := map[string]string{"sources": values["sources"][0], "mountpoint": values["mountpoint"][0]}
	keys := slices.Sorted(maps.Keys(values))
	for _, key := range randomtest.Some(r, 0, 4, keys...) {
		config[key] = randomtest.Pick(r, values[key]...)
	}
	if r.IntN(16) == 0 { // without a mountpoint
		delete(config, "mountpoint")
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(config)) {
		lines = append(lines, key+" = "+strings.NewReplacer("$", p.Dir, "@", p.taken).Replace(config[key])+"\n")
	}
	return strings.Join(lines, "")
}

// mounts reports whether `relayfs mount` starts, and what it says.
func (p *place) mounts(t *testing.T, file string) (started bool, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.StartTimeout)
	defer cancel()
	log := harness.NewLog()
	cmd := p.Command(ctx, "mount", "--config", file)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Fatalf("mount ended without an error\n%s", log)
		}
		return false, log.String()
	case <-log.Seen("\nmounted "):
	case <-log.Seen("mounted " + p.Dir):
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("mount: %v\n%s", err, log)
		}
	case <-time.After(harness.StartTimeout):
		t.Fatalf("mount does not end\n%s", log)
	}
	return true, log.String()
}

var (
	failing = regexp.MustCompile(`(?m)^fail  (configuration|state folder): (.*)$`)
	refused = regexp.MustCompile(`(?m)^relayfs: error: (.*)$`)
)

// Doctor finds a problem in a configuration if and only if mount does not start with it. What mount says is what doctor found.
func TestDoctorAndMountAgree(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	p := newPlace(t)
	file := p.Path("config.toml")
	outcomes := make(map[bool]int)
	randomtest.Check(t, 40, func(rt testing.TB, r *rand.Rand) { // each starts two programs
		text := p.generate(r)
		harness.WriteFile(t, file, text)
		out := p.Run(t, "doctor", "--config", file)
		found := failing.FindAllStringSubmatch(out.Stdout, -1)
		started, said := p.mounts(t, file)
		outcomes[started]++
		if started != (out.Code == 0) || started != (len(found) == 0) {
			rt.Fatalf("mount starts: %v; doctor: exit code %d\n%s\nmount said:\n%s\ndoctor said:\n%s", started, out.Code, text, said, out.Stdout)
		}
		if started {
			return
		}
		reason := refused.FindStringSubmatch(said)
		if reason == nil || goText(said) || slices.ContainsFunc(found, func(f []string) bool { return goText(f[2]) }) {
			rt.Fatalf("the refusal is not a sentence:\n%s\nmount said:\n%s\ndoctor said:\n%s", text, said, out.Stdout)
		}
		if !slices.ContainsFunc(found, func(f []string) bool { return f[2] == reason[1] || f[1] == "state folder" }) {
			rt.Fatalf("mount says what doctor does not:\n%s\nmount said:\n%s\ndoctor said:\n%s", text, said, out.Stdout)
		}
	})
	if n := min(outcomes[true], outcomes[false]); n == 0 && outcomes[true]+outcomes[false] >= 20 {
		t.Errorf("of the configurations %d mounted and %d did not: the law says little", outcomes[true], outcomes[false])
	}
}

// fromGo is what errors of Go's libraries say, which means nothing to people.
var fromGo = regexp.MustCompile(`\b(strconv|toml|json|yaml|tls|x509|url|http|exec|os|io|fs|context|pflag)[.:] |\b(open|stat|lstat|mkdir|read|readlink|unlink|rename|listen tcp|dial tcp|dial unix|lookup) \S+: |invalid character '|unexpected EOF|cannot unmarshal|parsing "|invalid syntax|%!|0x[0-9a-f]{6}|goroutine `)

func goText(said string) bool { return fromGo.MatchString(said) }
