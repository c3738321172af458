package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

type event struct {
	Action      string
	Package     string
	ImportPath  string // set in build events
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// read adds the events of one go test command, with suffix after the names of packages. It prints lines that are not
// JSON.
func (a *all) read(r io.Reader, suffix string) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var ev event
			isEvent := json.Unmarshal(line, &ev) == nil
			a.mu.Lock()
			if isEvent {
				ev.Package += suffix
				a.summary.add(ev)
			} else {
				fmt.Fprintf(a.summary.out, "%s", line)
			}
			a.mu.Unlock()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
