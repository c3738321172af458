package randomtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

// slow is the time after which a running round is reported, because a hanging test would not report its seed.
const slow = time.Minute

func Soaks() bool { return os.Getenv("RELAYFS_SOAK") != "" }

// Check runs property in a number of rounds, each with another seed, and fails t at the first failure. Environment
// variables can change the number of rounds (see the package comment). The testing.TB of property belongs to the round:
// Fatal and Skip end the round, and Cleanup functions run at its end. All randomness of a round must come from r, which
// must not be used concurrently.
func Check(t *testing.T, rounds int, property func(t testing.TB, r *rand.Rand)) {
	t.Helper()
	check(t, rand.Uint64N(1e12), rounds, property)
}

// CheckFrom is Check for a property of which rare failures are known: it uses the same seeds in each run, from first on.
// make soak, and a run with RELAYFS_ROUNDS, use new seeds.
func CheckFrom(t *testing.T, first uint64, rounds int, property func(t testing.TB, r *rand.Rand)) {
	t.Helper()
	if Soaks() || os.Getenv("RELAYFS_ROUNDS") != "" {
		first = rand.Uint64N(1e12)
	}
	check(t, first, rounds, property)
}

func check(t *testing.T, first uint64, rounds int, property func(t testing.TB, r *rand.Rand)) {
	t.Helper()
	if path := os.Getenv("RELAYFS_CASE"); path != "" {
		draws, err := readCase(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, &source{script: draws}, property); got.failed() {
			t.Fatalf("%s fails:\n%s", path, got.text())
		}
		return
	}
	if !need.Everything() || need.Raced() {
		rounds = max(1, rounds/10)
	}
	env(t, "RELAYFS_ROUNDS", &rounds, strconv.Atoi)
	var soak time.Duration
	env(t, "RELAYFS_SOAK", &soak, time.ParseDuration)
	base := seed(t, first)
	src := &source{}
	start := time.Now()
	for i := 0; soak > 0 && time.Since(start) < soak || soak == 0 && i < rounds; i++ {
		seed := base + uint64(i)
		src.reset(rand.NewPCG(seed, 0))
		timer := time.AfterFunc(slow, func() {
			fmt.Fprintf(os.Stderr, "%s: the round with RELAYFS_SEED=%d has run for %v\n", t.Name(), seed, slow)
		})
		got := run(t, src, property)
		timer.Stop()
		if got.failed() {
			report(t, seed, max(10*time.Second, soak/20), src.drawn, got, property)
			return
		}
	}
}

// New returns the random source of a test that does not use Check. It logs the seed for RELAYFS_SEED.
func New(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(seed(t, rand.Uint64N(1e12)), 0))
}

// seed returns RELAYFS_SEED, or else without, and logs it.
func seed(t testing.TB, without uint64) uint64 {
	t.Helper()
	seed := without
	env(t, "RELAYFS_SEED", &seed, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
	t.Logf("RELAYFS_SEED=%d", seed)
	return seed
}

func env[T any](t testing.TB, name string, value *T, parse func(string) (T, error)) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return
	}
	v, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	*value = v
}

// report fails t for a round. It prints the command to repeat the round, and the smallest case found that fails in the
// same way.
func report(t *testing.T, seed uint64, limit time.Duration, draws []uint64, first *round, property func(testing.TB, *rand.Rand)) {
	t.Helper()
	again := fmt.Sprintf("RELAYFS_SEED=%d RELAYFS_ROUNDS=1 go test -count=1 -run '%s' %s", seed, pattern(t.Name()), here)
	t.Errorf("seed %d fails:\n%s\nrepeat it: %s", seed, first.text(), again)
	small, last := shrink(t, draws, first, limit, property)
	if last == nil {
		t.Logf("the round passes when repeated with the same draws: it depends on other randomness or on time")
		last = first
	} else if len(small) < len(draws) {
		t.Logf("a smaller case, %d draws of %d:\n%s", len(small), len(draws), last.text())
	}
	path, err := writeCase(t.Name(), seed, again, last.text(), small)
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("replay the smallest case: RELAYFS_CASE=%s go test -count=1 -run '%s' %s", path, pattern(t.Name()), here)
}

// here is the path of the package under test, relative to the root of the module.
var here = func() string {
	dir, err := os.Getwd()
	root, noRoot := need.Root()
	if errors.Join(err, noRoot) != nil {
		return "."
	}
	rel, _ := filepath.Rel(root, dir)
	return "./" + filepath.ToSlash(rel)
}()

func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// The file of a case contains the draws in hexadecimal, and comment lines that begin with "#".

var notInName = regexp.MustCompile(`[^A-Za-z0-9]+`)

func writeCase(name string, seed uint64, again, text string, draws []uint64) (string, error) {
	dir := os.Getenv("RELAYFS_FINDINGS")
	if dir == "" {
		dir = os.TempDir()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# %s\n#\n# %s\n", name, again, strings.ReplaceAll(text, "\n", "\n# "))
	for _, v := range draws {
		fmt.Fprintf(&b, "%x\n", v)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.case", notInName.ReplaceAllString(name, "-"), seed))
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

func readCase(path string) (draws []uint64, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := strconv.ParseUint(line, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		draws = append(draws, v)
	}
	return draws, nil
}
