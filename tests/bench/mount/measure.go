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

// measurement is one of those that -steps chooses from.
type measurement struct {
	name string
	run  func() error
}

func (b *bench) measurements() []measurement {
	return []measurement{
		{"read", b.reading}, {"read-only", b.readingOnly}, {"save", b.saving}, {"sed", b.editingAll}, {"writers", b.writers}, {"idle", b.idling}, {"big", b.mountingBig},
	}
}

// reader is something that reads all notes below a directory.
type reader struct {
	name string
	run  func(dir string) error
	// goals are the most that a warm run may take, in times of the plain one:
	// read-write, and read-only. 0 is none.
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

// statAll asks for the attributes of every note, by its path below dir: the two
// directories that are compared are not equally deep themselves.
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

// coldRG is the goal for the first rg on a fresh mount.
const coldRG = 13

func (b *bench) reading() error { return b.read("", func(r reader) float64 { return r.warm }) }
func (b *bench) readingOnly() error {
	return b.read("--read-only", func(r reader) float64 { return r.readOnly })
}

// read measures each reader on the plain notes and on a mount.
func (b *bench) read(flag string, goal func(reader) float64) error {
	cold, err := b.cold(flag)
	if err != nil {
		return err
	}
	m, err := b.mount(b.vault, flag)
	if err != nil {
		return err
	}
	defer m.end()
	for i, r := range b.readers() {
		if err := r.run(m.notes); err != nil { // from here on it is warm
			return err
		}
		plain, warm, err := b.compare(r.run, b.plain, m.notes)
		if err != nil {
			return err
		}
		name := strings.TrimSpace(r.name + " " + flag)
		if i == 0 {
			row(name+", cold", plain, cold, coldRG)
		}
		row(name+", warm", plain, warm, goal(r))
	}
	return nil
}

// cold is how long the first rg on a fresh mount takes, in the median of several
// mounts.
func (b *bench) cold(flag string) (time.Duration, error) {
	var times []time.Duration
	for range b.runs {
		m, err := b.mount(b.vault, flag)
		if err != nil {
			return 0, err
		}
		took, err := timed(b.readers()[0].run, m.notes)
		m.end()
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	return middle(times), nil
}

// comparing is for how long the two directories are compared at least: what takes
// milliseconds is run more often.
const comparing = 2 * time.Second

// compare is how long run takes in either directory, in the median. They take
// turns, so that both meet the same machine.
func (b *bench) compare(run func(string) error, plain, mount string) (p, m time.Duration, err error) {
	var plains, mounts []time.Duration
	for start := time.Now(); len(plains) < b.runs || time.Since(start) < comparing; {
		took, err := timed(run, plain)
		if err != nil {
			return 0, 0, err
		}
		plains = append(plains, took)
		if took, err = timed(run, mount); err != nil {
			return 0, 0, err
		}
		mounts = append(mounts, took)
	}
	return middle(plains), middle(mounts), nil
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

// idlePeriod is how long an idle mount is watched.
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
	time.Sleep(time.Second) // what the mounting started has ended
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

// mountingBig is about a vault that is much larger than what is read of it.
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
	return nil
}

// limit prints a figure that has no plain one beside it.
func limit(name, goal, value string, over bool) {
	fmt.Printf("%-40s %10s %10s %8s %8s %s\n", name, "", value, "", goal, verdict(over))
}

func verdict(over bool) string {
	if over {
		return "over"
	}
	return ""
}

// row prints one figure.
func row(name string, plain, mount time.Duration, goal float64) {
	ratio, most := float64(mount)/float64(plain), ""
	if goal > 0 {
		most = fmt.Sprintf("%.1fx", goal)
	}
	fmt.Printf("%-40s %10v %10v %7.1fx %8s %s\n", name, plain.Round(10*time.Microsecond), mount.Round(10*time.Microsecond),
		ratio, most, verdict(goal > 0 && ratio > goal))
}
