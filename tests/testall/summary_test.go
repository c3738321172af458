package main

import (
	"io"
	"maps"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	tests := []struct {
		name   string
		events string
		ok     bool
		want   []string // in the output, in this order
	}{
		{
			name: "leaves are counted, frames are not",
			events: `{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Elapsed":1.25}`,
			ok:   true,
			want: []string{"ok  \tp\t1.2s\n", "3 passed, 0 failed\n"},
		},
		{
			name: "a failing subtest is one failure and shows its output",
			events: `{"Action":"output","Package":"p","Test":"TestA/one","Output":"a_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			want: []string{"a_test.go:7: got 1, want 2\n", "failed\tp TestA/one\n", "1 passed, 1 failed\n"},
		},
		{
			name: "a frame that fails on its own is a failure",
			events: `{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}`,
			want: []string{"1 passed, 1 failed\n"},
		},
		{
			name: "a package that does not build is a failure and shows the compiler's words",
			events: `{"Action":"build-output","ImportPath":"p [p.test]","Output":"p.go:3: undefined: x\n"}
{"Action":"build-fail","ImportPath":"p [p.test]"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
{"Action":"pass","Package":"q","Test":"TestB"}`,
			want: []string{"p.go:3: undefined: x\n", "1 passed, 1 failed\n"},
		},
		{
			name: "a skip shows its reason and is neither passed nor failed",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:9: no /dev/fuse\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}`,
			ok:   true,
			want: []string{"skipped\tTestA: a_test.go:9: no /dev/fuse\n", "1 passed, 0 failed\n"},
		},
		{
			name: "a test that passes when run again is flaky, not failed",
			events: `{"Action":"fail","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			ok:   true,
			want: []string{"flaky\tp TestA/one: failed, but passed when repeated\n", "2 passed, 0 failed\n"},
		},
		{
			name: "a package that panics stays a failure, though its timed tests pass in another run",
			events: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestC","Output":"panic: lost\n"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"p","Test":"TestTimedB"}
{"Action":"pass","Package":"p"}`,
			want: []string{"panic: lost\n", "failed\tp, see above\n", "2 passed, 1 failed\n"},
		},
		{
			name: "a data race is shown, also if its report is in the output of a test that passes, and is not repeated",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"WARNING: DATA RACE\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    testing.go:1712: race detected during execution of test\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			want: []string{"WARNING: DATA RACE\n", "race detected during execution of test\n", "failed\tp TestB\n", "1 passed, 1 failed\n"},
		},
		{name: "nothing run is not well", events: `{"Action":"skip","Package":"p"}`, want: []string{"0 passed, 0 failed\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			a := &all{summary: newSummary(&out)}
			if err := a.read(strings.NewReader(tt.events), ""); err != nil {
				t.Fatal(err)
			}
			if got := a.summary.finish(); got != tt.ok {
				t.Errorf("finish() = %v, want %v", got, tt.ok)
			}
			rest := out.String()
			for _, want := range tt.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("output lacks %q\n%s", want, out.String())
				}
				rest = after
			}
		})
	}
}

func TestAgain(t *testing.T) {
	events := `{"Action":"fail","Package":"q","Test":"TestQ"}
{"Action":"fail","Package":"p","Test":"TestA/one"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestRace","Output":"WARNING: DATA RACE\n"}
{"Action":"fail","Package":"p","Test":"TestRace"}
{"Action":"output","Package":"p","Test":"TestPanic/sub","Output":"panic: index out of range\n"}
{"Action":"fail","Package":"p","Test":"TestPanic/sub"}
{"Action":"fail","Package":"p","Test":"TestPanic"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}`
	a := &all{summary: newSummary(io.Discard)}
	if err := a.read(strings.NewReader(events), ""); err != nil {
		t.Fatal(err)
	}
	if got, want := a.summary.again(), map[string]string{"p": "^(TestA|TestC)$", "q": "^(TestQ)$"}; !maps.Equal(got, want) {
		t.Errorf("again() = %q, want %q", got, want)
	}
}
