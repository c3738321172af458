// Command testsum reads the output of one or several `go test -json` runs on
// stdin and prints what a person wants of it: a line per package, the whole
// output of what failed, why tests were skipped, and at the end one line
//
//	N passed, N failed
//
// It exits 1 if anything failed, and also if nothing was run.
//
// A test whose result comes twice was run again; the second result counts, and a
// test that passed only then is listed as flaky. Which tests to run again is what
//
//	testsum -again <EVENTS
//
// prints: a line "package<TAB>pattern for -run" for each package in which tests
// failed. What a second run would hide (a data race, a panic) is not among them.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	again := flag.Bool("again", false, "print which of the failed tests are worth a second run")
	flag.Parse()
	out := io.Writer(os.Stdout)
	if *again {
		out = io.Discard
	}
	s := newSummary(out)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "testsum: %v\n", err)
		os.Exit(1)
	}
	if *again {
		fmt.Print(s.again())
		return
	}
	if !s.finish() {
		os.Exit(1)
	}
}

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// read consumes events until the end of r. A line that is not JSON (a tool's
// message) is printed as it is.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var ev event
			if json.Unmarshal(line, &ev) == nil {
				s.add(ev)
			} else {
				fmt.Fprintf(s.out, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
