//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// The measurements compare these ways to access the same notes.
const (
	plain    = iota // a directory
	loopback        // a loopback mount of such a directory
	floor           // a mount that does only the necessary work
	relayfs         // a mount of relayfs
	ways
)

var wayNames = [ways]string{"plain", "loopback", "floor", "relayfs"}

// goal is the maximum ratio of relayfs to another way; 0 for none.
type goal struct {
	ratio float64
	of    int
}

type step struct {
	name string
	run  func(*bench) error
}

var steps = []step{
	{"save", (*bench).saving}, {"sed", (*bench).editingAll}, {"writers", (*bench).writers},
	{"read", (*bench).reading}, {"read-only", (*bench).readingOnly}, {"mcp", (*bench).editingOverMCP},
	{"idle", (*bench).idling}, {"big", (*bench).mountingBig}, {"million", (*bench).mountingMillion}, {"kept", (*bench).mountingKept},
}

func stepNames() (names []string) {
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

type reader struct {
	name           string
	run            func(dir string) error
	warm, readOnly goal // goals of a warm run, without and with --read-only
}

func (b *bench) readers() []reader {
	return []reader{
		{"rg", rg, goal{1.2, floor}, goal{2, plain}},
		{"ls -lR", program("ls", "-lR"), goal{1.3, plain}, goal{1.3, plain}},
		{"stat of every note", b.statAll, goal{1.2, plain}, goal{1.2, plain}},
		{"cat of every note", program("sh", "-c", "printf '%s\\0' */*.md | xargs -0 cat"), goal{}, goal{1.6, plain}},
	}
}

var rg = program("rg", "--no-config", "-c", "lantern")

func program(name string, args ...string) func(string) error {
	return func(dir string) error {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, stderr.String())
		}
		return nil
	}
}

// statAll reads the attributes of every note by its path below dir. It does not use absolute paths, because the
// compared directories differ in depth.
func (b *bench) statAll(dir string) error {
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	defer os.Chdir(before)
	for i := range b.notes {
		if _, err := os.Lstat(noteFolder(i) + "/" + noteName(i)); err != nil {
			return err
		}
	}
	return nil
}

// coldRG is the goal of the first rg on a fresh mount.
var coldRG = goal{13, plain}

func (b *bench) reading() error { return b.read("", func(r reader) goal { return r.warm }) }
func (b *bench) readingOnly() error {
	return b.read("--read-only", func(r reader) goal { return r.readOnly })
}

func (b *bench) read(flag string, goalOf func(reader) goal) error {
	if err := b.makeNotes(); err != nil {
		return err
	}
	mounts := [ways]func() (*mounted, error){
		loopback: func() (*mounted, error) { return b.served("loopback", b.plain) },
		floor:    func() (*mounted, error) { return b.served("floor", b.plain) },
		relayfs:  func() (*mounted, error) { return b.mount(b.vault, flag) },
	}
	dirs, cold := [ways]string{plain: b.plain}, [ways]time.Duration{}
	for way, mount := range mounts {
		if mount == nil {
			continue
		}
		var m *mounted
		var err error
		var times []time.Duration
		for range b.runs {
			if m != nil {
				m.end()
			}
			if m, err = mount(); err != nil {
				return err
			}
			once, err := timed(rg, m.notes)
			if err != nil {
				return err
			}
			times = append(times, once)
		}
		defer m.end()
		dirs[way], cold[way] = m.notes, middle(times)
	}
	for i, r := range b.readers() {
		for _, dir := range dirs[loopback:] { // after this run the mounts are warm
			if err := r.run(dir); err != nil {
				return err
			}
		}
		warm, err := b.compare(r.run, dirs)
		if err != nil {
			return err
		}
		name := strings.TrimSpace(r.name + " " + flag)
		if i == 0 {
			cold[plain] = warm[plain]
			row(name+", cold", cold, coldRG)
		}
		row(name+", warm", warm, goalOf(r))
	}
	return nil
}

// comparing is the minimum duration of a comparison. A comparison repeats short runs until this time has passed.
const comparing = 3 * time.Second

// compare returns the median time of run in each directory. It alternates between the directories, so that the load of
// the machine affects all of them equally.
func (b *bench) compare(run func(string) error, dirs [ways]string) (took [ways]time.Duration, err error) {
	var times [ways][]time.Duration
	for start := time.Now(); len(times[relayfs]) < b.runs || time.Since(start) < comparing; {
		for i, dir := range dirs {
			once, err := timed(run, dir)
			if err != nil {
				return took, err
			}
			times[i] = append(times[i], once)
		}
	}
	return middles(times), nil
}

func middles(times [ways][]time.Duration) (m [ways]time.Duration) {
	for i := range times {
		m[i] = middle(times[i])
	}
	return m
}

func timed(run func(string) error, dir string) (time.Duration, error) {
	start := time.Now()
	err := run(dir)
	return time.Since(start), err
}

func middle(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return times[len(times)/2]
}

const idlePeriod = 20 * time.Second

func (b *bench) idling() error {
	if err := b.makeNotes(); err != nil {
		return err
	}
	m, err := b.mount(b.vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	if err := b.statAll(m.notes); err != nil {
		return err
	}
	time.Sleep(time.Second) // until the goroutines of the start have ended
	before, err := m.cpu()
	if err != nil {
		return err
	}
	time.Sleep(idlePeriod)
	after, err := m.cpu()
	if err != nil {
		return err
	}
	limit(fmt.Sprintf("CPU of an idle mount in %v", idlePeriod), (after - before).String(), "0s", after > before)
	return nil
}

// row prints one figure of each way, and the ratio to the way of the goal.
func row(name string, took [ways]time.Duration, g goal) {
	var figures [ways]string
	for way, t := range took {
		if t > 0 {
			figures[way] = t.Round(10 * time.Microsecond).String()
		}
	}
	most, of := "", ratio(took[relayfs], took[g.of])
	if g.ratio > 0 {
		most = times(g.ratio)
	}
	least := ""
	if g.of != floor && took[floor] > 0 {
		least = times(ratio(took[floor], took[g.of]))
	}
	printRow(name, figures, times(of)+" "+wayNames[g.of], least, most, g.ratio > 0 && of > g.ratio)
}

// limit prints a figure whose goal is an absolute value.
func limit(name, value, most string, over bool) {
	printRow(name, [ways]string{relayfs: value}, "", "", most, over)
}

func printRow(name string, figures [ways]string, of, least, most string, over bool) {
	verdict := ""
	if over {
		verdict = "missed"
	}
	fmt.Printf("%-42s %10s %10s %10s %10s %15s %8s %8s %s\n", name, figures[plain], figures[loopback], figures[floor], figures[relayfs], of, least, most, verdict)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func times(ratio float64) string { return fmt.Sprintf("%.3gx", ratio) }
