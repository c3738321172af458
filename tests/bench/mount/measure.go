//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type measurement struct {
	name string
	run  func() error
}

func (b *bench) measurements() []measurement {
	return []measurement{
		{"read", b.reading}, {"read-only", b.readingOnly}, {"save", b.saving}, {"sed", b.editingAll}, {"writers", b.writers}, {"idle", b.idling}, {"big", b.mountingBig}, {"kept", b.mountingKept},
	}
}

type reader struct {
	name string
	run  func(dir string) error
	// Maximum ratios of a warm run to the plain directory: read-write and read-only; 0 for none.
	warm, readOnly float64
}

func (b *bench) readers() []reader {
	return []reader{
		{"rg", program("rg", "--no-config", "-c", "lantern"), 7, 2},
		{"ls -lR", program("ls", "-lR"), 1.3, 1.3},
		{"stat of every note", b.statAll, 1.2, 1.2},
		{"cat of every note", program("sh", "-c", "printf '%s\\0' */*.md | xargs -0 cat"), 0, 1.6},
	}
}

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

// statAll reads the attributes of every note, by its path below dir: the compared directories differ in depth.
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

// coldRG is the maximum ratio of the first rg on a fresh mount.
const coldRG = 13

func (b *bench) reading() error { return b.read("", func(r reader) float64 { return r.warm }) }
func (b *bench) readingOnly() error {
	return b.read("--read-only", func(r reader) float64 { return r.readOnly })
}

// The compared ways to the same notes.
const (
	plain    = iota // a directory
	loopback        // a loopback mount of such a directory
	relayfs         // a mount of relayfs
)

func (b *bench) read(flag string, goal func(reader) float64) error {
	cold, err := b.cold(flag)
	if err != nil {
		return err
	}
	l, err := b.loopback(b.plain)
	if err != nil {
		return err
	}
	defer l.end()
	m, err := b.mount(b.vault, flag)
	if err != nil {
		return err
	}
	defer m.end()
	dirs := [3]string{b.plain, l.notes, m.notes}
	for i, r := range b.readers() {
		for _, dir := range dirs[loopback:] { // from now on the mounts are warm
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
		row(name+", warm", warm, goal(r))
	}
	return nil
}

func (b *bench) cold(flag string) (took [3]time.Duration, err error) {
	mounts := map[int]func() (*mounted, error){
		loopback: func() (*mounted, error) { return b.loopback(b.plain) },
		relayfs:  func() (*mounted, error) { return b.mount(b.vault, flag) },
	}
	for kind, mount := range mounts {
		var times []time.Duration
		for range b.runs {
			m, err := mount()
			if err != nil {
				return took, err
			}
			once, err := timed(b.readers()[0].run, m.notes)
			m.end()
			if err != nil {
				return took, err
			}
			times = append(times, once)
		}
		took[kind] = middle(times)
	}
	return took, nil
}

// comparing is the minimum duration of a comparison: runs of milliseconds are repeated more often.
const comparing = 3 * time.Second

// compare returns the median time of run in each directory. It alternates between the directories, so that all see the
// same load of the machine.
func (b *bench) compare(run func(string) error, dirs [3]string) (took [3]time.Duration, err error) {
	var times [3][]time.Duration
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

func middles(times [3][]time.Duration) (m [3]time.Duration) {
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
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return times[len(times)/2]
}

const idlePeriod = 20 * time.Second

func (b *bench) idling() error {
	m, err := b.mount(b.vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	if err := b.statAll(m.notes); err != nil {
		return err
	}
	time.Sleep(time.Second) // goroutines of the start have ended
	before, err := m.cpu()
	if err != nil {
		return err
	}
	time.Sleep(idlePeriod)
	after, err := m.cpu()
	if err != nil {
		return err
	}
	limit(fmt.Sprintf("CPU of an idle mount in %v", idlePeriod), "0s", (after - before).String(), after > before)
	return nil
}

func (b *bench) mountingBig() error {
	if b.big == 0 {
		return nil
	}
	vault := filepath.Join(b.work, "Big")
	if err := makeVault(vault, b.big, 600); err != nil {
		return err
	}
	start := time.Now()
	m, err := b.mount(vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	ready := time.Since(start)
	memory, err := m.memory()
	if err != nil {
		return err
	}
	limit(fmt.Sprintf("%d notes, ready after", b.big), "2s", ready.Round(time.Millisecond).String(), ready > 2*time.Second)
	limit(fmt.Sprintf("%d notes, memory then", b.big), "200 MB", fmt.Sprintf("%d MB", memory>>20), memory > 200<<20)
	if err := b.readers()[0].run(m.notes); err != nil {
		return err
	}
	if memory, err = m.memory(); err != nil {
		return err
	}
	limit("  after rg", "", fmt.Sprintf("%d MB", memory>>20), false)
	const goal = 250 << 20
	for start = time.Now(); time.Since(start) < quietPeriod && memory > goal; time.Sleep(5 * time.Second) {
		if memory, err = m.memory(); err != nil {
			return err
		}
	}
	limit(fmt.Sprintf("  %v later", time.Since(start).Round(time.Second)), "250 MB", fmt.Sprintf("%d MB", memory>>20), memory > goal)
	return nil
}

// quietPeriod is the time in which an idle mount must release the memory of a search.
const quietPeriod = 5 * time.Minute

func limit(name, goal, value string, over bool) {
	line(name, [3]string{relayfs: value}, "", "", goal, over)
}

// row prints one figure of each way. goal is the maximum ratio of relayfs to the plain directory; 0 for none.
func row(name string, took [3]time.Duration, goal float64) {
	most := ""
	if goal > 0 {
		most = times(goal)
	}
	toPlain := ratio(took[relayfs], took[plain])
	line(name, rounded(took), times(toPlain), times(ratio(took[relayfs], took[loopback])), most, goal > 0 && toPlain > goal)
}

func line(name string, figures [3]string, toPlain, toLoopback, most string, over bool) {
	verdict := ""
	if over {
		verdict = "missed"
	}
	fmt.Printf("%-40s %10s %10s %10s %8s %9s %8s %s\n", name, figures[plain], figures[loopback], figures[relayfs], toPlain, toLoopback, most, verdict)
}

func rounded(took [3]time.Duration) (s [3]string) {
	for i, t := range took {
		s[i] = t.Round(10 * time.Microsecond).String()
	}
	return s
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func times(ratio float64) string { return fmt.Sprintf("%.1fx", ratio) }
