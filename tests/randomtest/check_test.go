package randomtest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A property that fails in a process of its own, since it fails its test.
const failing = "RELAYFS_RANDOMTEST_FAILS"

// Some list of letters has an "x" before a "y", and more than three letters.
func TestFailing(t *testing.T) {
	if os.Getenv(failing) == "" {
		t.Skip("only to be run by the others")
	}
	Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		var letters []byte
		for range r.IntN(200) {
			letters = append(letters, "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)])
		}
		if x := slices.Index(letters, 'x'); x >= 0 && slices.Contains(letters[x:], 'y') && len(letters) > 3 {
			t.Fatalf("letters %q", letters)
		}
	})
}

func runFailing(t *testing.T, wantFailure bool, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFailing$", "-test.v")
	cmd.Env = append(os.Environ(), failing+"=1", "RELAYFS_TESTS=all", "RELAYFS_SOAK=", "RELAYFS_ROUNDS=", "RELAYFS_SEED=", "RELAYFS_CASE=")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if (err != nil) != wantFailure {
		t.Fatalf("with %q the test process ended with %v, want a failure: %t\n%s", env, err, wantFailure, out)
	}
	return string(out)
}

// find returns what the group of the expression is in text.
func find(t *testing.T, expr, text string) string {
	t.Helper()
	m := regexp.MustCompile(expr).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("got no match of %s in:\n%s", expr, text)
	}
	return m[1]
}

func TestAFailureIsRepeatedByItsSeedAndReplayedByItsCase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := runFailing(t, true, "RELAYFS_FINDINGS="+dir)
	letters := find(t, `seed \d+ fails:\n\s+\S+ (letters ".*")`, out)
	seed := find(t, `(RELAYFS_SEED=\d+) RELAYFS_ROUNDS=1 go test -count=1 -run '\^TestFailing\$' ./tests/randomtest\n`, out)

	again := runFailing(t, true, seed, "RELAYFS_ROUNDS=1", "RELAYFS_FINDINGS="+t.TempDir())
	if !strings.Contains(again, letters) {
		t.Errorf("got other letters with %s, want %s:\n%s", seed, letters, again)
	}

	cases, _ := filepath.Glob(filepath.Join(dir, "TestFailing-*.case"))
	if len(cases) != 1 {
		t.Fatalf("got the cases %v, want one\n%s", cases, out)
	}
	if got := find(t, `RELAYFS_CASE=(\S+)`, out); got != cases[0] {
		t.Errorf("got the case %s in the output, want %s", got, cases[0])
	}
	replayed := runFailing(t, true, "RELAYFS_CASE="+cases[0])
	if got := find(t, `fails:\n\s+\S+ letters "(.*)"`, replayed); !regexp.MustCompile(`^a*xa*ya*$`).MatchString(got) || len(got) != 4 {
		t.Errorf("got the letters %q, want x, y and two a", got)
	}
}

func TestSeedsAreNewInEachRun(t *testing.T) {
	t.Parallel()
	a, b := runFailing(t, true, "RELAYFS_FINDINGS="+t.TempDir()), runFailing(t, true, "RELAYFS_FINDINGS="+t.TempDir())
	const expr = `RELAYFS_SEED=(\d+)`
	if find(t, expr, a) == find(t, expr, b) {
		t.Errorf("got the seed %s twice, want another one", find(t, expr, a))
	}
}

func count(t *testing.T, rounds int) (seeds []uint64) {
	Check(t, rounds, func(_ testing.TB, r *rand.Rand) { seeds = append(seeds, r.Uint64()) })
	return seeds
}

func TestTheEnvironmentSaysHowManyRounds(t *testing.T) {
	for _, name := range []string{"RELAYFS_TESTS", "RELAYFS_ROUNDS", "RELAYFS_SOAK", "RELAYFS_SEED", "RELAYFS_CASE"} {
		t.Setenv(name, "")
	}
	if got := len(count(t, 50)); got != 5 {
		t.Errorf("got %d rounds of 50, want a tenth", got)
	}
	if got := len(count(t, 3)); got != 1 {
		t.Errorf("got %d rounds of 3, want 1", got)
	}
	t.Setenv("RELAYFS_TESTS", "all")
	if got := len(count(t, 50)); got != 50 {
		t.Errorf("got %d rounds of 50, want all", got)
	}
	t.Setenv("RELAYFS_ROUNDS", "7")
	t.Setenv("RELAYFS_SEED", "41")
	a := count(t, 50)
	t.Setenv("RELAYFS_SEED", "42")
	if b := count(t, 50); len(a) != 7 || !slices.Equal(a[1:], b[:6]) {
		t.Errorf("got %v from seed 41 and %v from 42, want 7 each, the second those that follow", a, b)
	}
	t.Setenv("RELAYFS_SOAK", "30ms")
	start := time.Now()
	if got := len(count(t, 1)); got < 100 || time.Since(start) < 30*time.Millisecond {
		t.Errorf("got %d rounds in %v, want many in 30 ms", got, time.Since(start))
	}
}

func TestARoundHasItsOwnTest(t *testing.T) {
	var order []string
	src := &source{random: rand.NewPCG(1, 2)}
	var dir string
	got := run(t, src, func(t testing.TB, _ *rand.Rand) {
		dir = t.TempDir()
		t.Setenv("RELAYFS_RANDOMTEST", "1")
		t.Cleanup(func() { order = append(order, "first", os.Getenv("RELAYFS_RANDOMTEST")) })
		t.Cleanup(func() { order = append(order, "second"); t.Fatal("late") })
		t.Log("a line")
		t.Error("an error")
		if t.Context().Err() != nil {
			t.Error("the context is over")
		}
		t.Fatalf("the %s", "end")
	})
	if want := "a line\nan error\nthe end\nlate"; regexp.MustCompile(`(?m)^check_test.go:\d+: `).ReplaceAllString(got.text(), "") != want {
		t.Errorf("got the lines %q, want %q with places", got.text(), want)
	}
	if !got.failed() || t.Failed() {
		t.Errorf("got round failed %t and test failed %t, want true and false", got.failed(), t.Failed())
	}
	if want := []string{"second", "first", "1"}; !slices.Equal(order, want) {
		t.Errorf("got the cleanups %v, want %v", order, want)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("got %v for the round's folder, want none", err)
	}
	if v, ok := os.LookupEnv("RELAYFS_RANDOMTEST"); ok {
		t.Errorf("got RELAYFS_RANDOMTEST=%s after the round, want none", v)
	}
}

func TestPanicsAndSkips(t *testing.T) {
	got := run(t, &source{}, func(testing.TB, *rand.Rand) { panic("oh") })
	if !got.failed() || !strings.Contains(got.text(), "panic: oh") || got.where() != "panic" {
		t.Errorf("got failed %t at %q: %s", got.failed(), got.where(), got.text())
	}
	got = run(t, &source{}, func(t testing.TB, _ *rand.Rand) { t.Skip("no such input"); t.Error("not skipped") })
	if got.failed() || !got.Skipped() {
		t.Errorf("got failed %t and skipped %t, want false and true", got.failed(), got.Skipped())
	}
	// A script that is over gives least values, and not forever.
	got = run(t, &source{}, func(t testing.TB, r *rand.Rand) {
		for r.IntN(7) != 3 {
		}
	})
	if got.failed() || !got.Skipped() {
		t.Errorf("got failed %t and skipped %t of a round that draws for ever, want false and true", got.failed(), got.Skipped())
	}
}

func TestABubbleIsPartOfItsRound(t *testing.T) {
	ended, cleaned := true, false
	got := run(t, &source{random: rand.NewPCG(1, 2)}, func(t testing.TB, r *rand.Rand) {
		start := time.Now()
		Bubble(t, func(t testing.TB) {
			time.Sleep(time.Hour + time.Duration(r.IntN(100)))
			t.Log("slept")
		})
		if took := time.Since(start); took > time.Minute {
			t.Errorf("an hour in a bubble took %v", took)
		}
		Bubble(t, func(t testing.TB) {
			t.Cleanup(func() { cleaned = true })
			t.Fatal("inside")
		})
		ended = false
	})
	if !got.failed() || t.Failed() || !ended || !cleaned {
		t.Errorf("got round failed %t, test failed %t, round ended %t, bubble cleaned up %t, want true, false, true, true", got.failed(), t.Failed(), ended, cleaned)
	}
	if text := got.text(); !strings.Contains(text, "slept") || !strings.Contains(text, "inside") {
		t.Errorf("got %q, want the lines of both bubbles", text)
	}
}

func TestRepeatChecksAfterEachActAndGoesOnAfterASkip(t *testing.T) {
	done := ""
	src := &source{random: rand.NewPCG(1, 2)}
	got := run(t, src, func(t testing.TB, r *rand.Rand) {
		Repeat(t, r, func() { done += "check " }, map[string]func(){
			"act":  func() { done += "act " },
			"skip": func() { done += "skip "; t.Skip() },
			"fail": func() {
				if len(done) > 40 {
					done += "fail"
					t.Error("failed")
				}
			},
		})
		t.Error("it went on after a failure")
	})
	if text := got.text(); !got.failed() || !strings.HasSuffix(text, ": failed") {
		t.Errorf("got failed %t: %s", got.failed(), text)
	}
	if !regexp.MustCompile(`^check (check |act check |skip )*fail$`).MatchString(done) || !strings.Contains(done, "act check") || !strings.Contains(done, "skip") {
		t.Errorf("got %s", done)
	}
}

func TestLeastIsTheLeastValue(t *testing.T) {
	r := rand.New(&source{})
	for n := 1; n < 100; n++ {
		if got := r.IntN(n); got != 0 {
			t.Errorf("got %d of %d, want 0", got, n)
		}
	}
	if got := r.Float64(); got > 1e-6 {
		t.Errorf("got %v, want almost 0", got)
	}
}

// What fails elsewhere is no smaller case of the same failure.
func TestShrinkStaysWithTheFailure(t *testing.T) {
	property := func(t testing.TB, r *rand.Rand) {
		n := r.IntN(1000)
		if n > 500 {
			t.Fatalf("large: %d", n)
		}
		if n < 10 {
			t.Fatalf("small: %d", n)
		}
	}
	src := &source{script: []uint64{900 << 32 / 1000 << 32}}
	first := run(t, src, property)
	draws, last := shrink(t, src.drawn, first, 10*time.Second, property)
	if last == nil || !strings.HasSuffix(last.text(), "large: 501") {
		t.Fatalf("got %v from %x, want 501", last, draws)
	}
}
