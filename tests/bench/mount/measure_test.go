//go:build linux

package mount

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
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
	for i := range *notes {
		if _, err := os.Lstat(noteFolder(i) + "/" + noteName(i)); err != nil {
			return err
		}
	}
	return nil
}

// coldRG is the goal of the first rg on a fresh mount.
var coldRG = goal{13, plain}

func (b *bench) reading(t *testing.T) { b.read(t, func(r reader) goal { return r.warm }) }
func (b *bench) readingOnly(t *testing.T) {
	b.read(t, func(r reader) goal { return r.readOnly }, "--read-only")
}

func (b *bench) read(t *testing.T, goalOf func(reader) goal, flags ...string) {
	b.makeNotes(t)
	mounts := [ways]func() *mounted{
		loopback: func() *mounted { return b.served(t, "loopback", b.plain) },
		floor:    func() *mounted { return b.served(t, "floor", b.plain) },
		relayfs:  func() *mounted { return b.mount(t, b.vault, flags...) },
	}
	dirs, cold := [ways]string{plain: b.plain}, [ways]time.Duration{}
	for way, mount := range mounts {
		if mount == nil {
			continue
		}
		var m *mounted
		var times []time.Duration
		for range *runs {
			if m != nil {
				m.end()
			}
			m = mount()
			times = append(times, timed(t, rg, m.notes))
		}
		dirs[way], cold[way] = m.notes, middle(times)
	}
	for i, r := range b.readers() {
		for _, dir := range dirs[loopback:] { // after this run the mounts are warm
			must(t, r.run(dir))
		}
		warm := b.compare(t, r.run, dirs)
		name := strings.TrimSpace(r.name + " " + strings.Join(flags, " "))
		if i == 0 {
			cold[plain] = warm[plain]
			row(name+", cold", cold, coldRG)
		}
		row(name+", warm", warm, goalOf(r))
	}
}

// comparing is the minimum duration of a comparison. A comparison repeats short runs until this time has passed.
const comparing = 3 * time.Second

// compare returns the median time of run in each directory. It alternates between the directories, so that the load of
// the machine affects all of them equally.
func (b *bench) compare(t *testing.T, run func(string) error, dirs [ways]string) [ways]time.Duration {
	t.Helper()
	var times [ways][]time.Duration
	for start := time.Now(); len(times[relayfs]) < *runs || time.Since(start) < comparing; {
		for i, dir := range dirs {
			times[i] = append(times[i], timed(t, run, dir))
		}
	}
	return middles(times)
}

func middles(times [ways][]time.Duration) (m [ways]time.Duration) {
	for i := range times {
		m[i] = middle(times[i])
	}
	return m
}

func timed(t *testing.T, run func(string) error, dir string) time.Duration {
	t.Helper()
	start := time.Now()
	must(t, run(dir))
	return time.Since(start)
}

func middle(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return times[len(times)/2]
}

const idlePeriod = 20 * time.Second

func (b *bench) idling(t *testing.T) {
	b.makeNotes(t)
	m := b.mount(t, b.vault)
	must(t, b.statAll(m.notes))
	time.Sleep(time.Second) // until the goroutines of the start have ended
	before := m.cpu(t)
	time.Sleep(idlePeriod)
	after := m.cpu(t)
	limit(fmt.Sprintf("CPU of an idle mount in %v", idlePeriod), (after - before).String(), "0s", after > before)
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
