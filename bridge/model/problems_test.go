package model_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// attempt is one attempt at a thing; err is "" if it succeeded.
type attempt struct {
	about, err    string
	before, after time.Time
}

// problemsAfter is the law of the package, as a function of all attempts so far. A problem is the
// last attempt at a thing with the times of the first one that it goes on from.
func problemsAfter(attempts []attempt) (want []attempt) {
	for _, about := range []string{"a", "b", "c"} {
		var p attempt
		for _, x := range slices.Backward(attempts) {
			if x.about != about {
				continue
			}
			if x.err == "" {
				break
			}
			p = attempt{about, cmp.Or(p.err, x.err), x.before, x.after}
		}
		if p.err != "" {
			want = append(want, p)
		}
	}
	slices.SortFunc(want, func(a, b attempt) int { return a.before.Compare(b.before) })
	return want
}

// Whatever is tried in whatever order, the problems are those of the law, and the log has a line
// for each beginning, each change and each end.
func TestLaw(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		var log bytes.Buffer
		list := model.NewProblems(slog.New(slog.NewTextHandler(&log, nil)), explain)
		var attempts []attempt
		for range randomtest.Between(r, 0, 30) {
			x := attempt{about: randomtest.Pick(r, "a", "b", "c"), err: randomtest.Pick(r, "", "", "full", "slow")}
			old := textOf(problemsAfter(attempts), x.about)
			log.Reset()
			var err error
			if x.err != "" {
				err = errors.New(x.err)
			}
			x.before = time.Now()
			list.Record(x.about, err)
			x.after = time.Now()
			attempts = append(attempts, x)

			want := problemsAfter(attempts)
			same := slices.EqualFunc(list.All(), want, func(p model.Problem, x attempt) bool {
				return p.About == x.about && p.Text == "explained: "+x.err && !p.Since.Before(x.before) && !p.Since.After(x.after)
			})
			if !same {
				t.Fatalf("after %v the problems are\n%v, want\n%v", attempts, list.All(), want)
			}
			if got := list.Err(x.about); got != err {
				t.Fatalf("Err(%q) = %v, want %v", x.about, got, err)
			}
			checkLine(t, log.String(), old, textOf(want, x.about))
		}
	})
}

func explain(err error) string { return "explained: " + err.Error() }

func textOf(problems []attempt, about string) string {
	for _, p := range problems {
		if p.about == about {
			return "explained: " + p.err
		}
	}
	return ""
}

// checkLine checks the line of the log when the problem of a thing becomes another one; "" is none.
func checkLine(t testing.TB, line, old, now string) {
	want := ""
	switch {
	case old == now:
	case old == "":
		want = fmt.Sprintf("level=WARN msg=problem about=%%s err=%q\n", now)
	case now == "":
		want = "level=WARN msg=\"problem is over\" about=%s lasted="
	default:
		want = fmt.Sprintf("level=WARN msg=\"problem has changed\" about=%%s err=%q\n", now)
	}
	before, after, _ := strings.Cut(want, "%s")
	if (want == "") != (line == "") || !strings.Contains(line, before) || !strings.Contains(line, after) {
		t.Fatalf("from %q to %q the log has %q, want %q", old, now, line, want)
	}
}

// The end of a problem says how long it lasted.
func TestLasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		list := model.NewProblems(slog.New(slog.NewTextHandler(&log, nil)), error.Error)
		for range 3 {
			list.Record("store", errors.New("full"))
			time.Sleep(time.Minute)
		}
		list.Record("store", nil)
		if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "about=store lasted=3m0s") {
			t.Errorf("log is %s", got)
		}
	})
}

// While a list is held the log hears nothing; then it hears of what there is, once.
func TestHold(t *testing.T) {
	var log bytes.Buffer
	list := model.NewProblems(slog.New(slog.NewTextHandler(&log, nil)), error.Error)
	list.MuteLog()
	list.Record("a", errors.New("full"))
	list.Record("a", nil)
	list.Record("b", errors.New("away"))
	if log.Len() > 0 {
		t.Errorf("a list that is held says %s", log.String())
	}
	if all := list.All(); len(all) != 1 || all[0].About != "b" {
		t.Errorf("problems are %v", all)
	}
	list.UnmuteLog()
	list.UnmuteLog()
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN msg=problem about=b err=away") {
		t.Errorf("after Release the log is %s", got)
	}
	list.Record("b", nil)
	if !strings.Contains(log.String(), "problem is over") {
		t.Errorf("the log is %s", log.String())
	}
}
