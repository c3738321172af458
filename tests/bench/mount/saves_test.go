//go:build linux

package mount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type save struct {
	name string
	size int // size of the note in bytes
	run  func(name string, text []byte) error
	goal goal
}

var savings = []save{
	{"write, fsync, rename of 4 KB, p50", 4 << 10, renameOver, goal{1.15, loopback}},
	{"save in place of 4 KB, p50", 4 << 10, inPlace, goal{3, loopback}},
	{"save in place of 100 KB, p50", 100 << 10, inPlace, goal{4, loopback}},
}

// saving compares saves through the mount with the same saves on the vault's own disk, and through a loopback mount and
// a floor on that disk. It alternates between them, so that the state of the disk affects all of them equally. It first
// saves notes that were read but never saved before, and then saves the same notes again.
func (b *bench) saving(t *testing.T) {
	for _, way := range savings {
		b.withSaved(t, strings.Fields(way.name)[0]+fmt.Sprint(way.size), way.size, func(t *testing.T, dirs [ways]string, cpu func() [ways]time.Duration) {
			for round, name := range []string{way.name, "  again"} {
				row(name, b.saveEach(t, way, dirs, round), way.goal)
				b.rowCPU(cpu(), goal{of: loopback})
			}
		})
	}
}

// withSaved calls a function (use) with one directory for each way, each with notes of the given size. cpu returns the
// CPU time of the processes that serve the directories since the previous call of cpu.
func (b *bench) withSaved(t *testing.T, name string, size int, use func(t *testing.T, dirs [ways]string, cpu func() [ways]time.Duration)) {
	t.Run(name, func(t *testing.T) {
		var dirs [ways]string
		var served [ways]*mounted
		for way, of := range wayNames {
			dir := b.Path(name + " " + of)
			b.makeSaved(t, dir, size)
			switch dirs[way] = dir; way {
			case loopback, floor:
				served[way] = b.served(t, of, dir)
			case relayfs:
				served[way] = b.mount(t, dir)
			}
			if m := served[way]; m != nil {
				dirs[way] = m.notes
			}
		}
		var before [ways]time.Duration
		cpu := func() (used [ways]time.Duration) {
			for way, m := range served {
				if m != nil {
					now := m.cpu(t)
					used[way], before[way] = now-before[way], now
				}
			}
			return used
		}
		cpu()
		use(t, dirs, cpu)
	})
}

// rowCPU prints the average CPU time of a save.
func (b *bench) rowCPU(used [ways]time.Duration, g goal) {
	for i := range used {
		used[i] /= time.Duration(*saves)
	}
	row("  CPU", used, g)
}

func (b *bench) makeSaved(t *testing.T, dir string, size int) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o755))
	for i := range *saves {
		must(t, os.WriteFile(filepath.Join(dir, noteName(i)), noteText(i, size), 0o644))
	}
}

func (b *bench) saveEach(t *testing.T, way save, dirs [ways]string, round int) [ways]time.Duration {
	t.Helper()
	var times [ways][]time.Duration
	for n := range *saves {
		for i, dir := range dirs {
			name := filepath.Join(dir, noteName(n))
			text, err := os.ReadFile(name) // like a program that is about to write the file
			must(t, err)
			text = fmt.Appendf(slices.Clip(text), "saved %d\n", round)
			times[i] = append(times[i], timed(t, func(name string) error { return way.run(name, text) }, name))
		}
	}
	return middles(times)
}

// inPlace writes like the shell's > and most scripts.
func inPlace(name string, text []byte) error { return os.WriteFile(name, text, 0o644) }

// renameOver writes like careful programs: vim, Claude Code.
func renameOver(name string, text []byte) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

// editingAll edits all notes with one sed, which saves each by a rename. The first edit of a note creates its document.
func (b *bench) editingAll(t *testing.T) {
	b.withSaved(t, "Sed", 4<<10, func(t *testing.T, dirs [ways]string, cpu func() [ways]time.Duration) {
		edit := func(word string) (took [ways]time.Duration) {
			for i, dir := range dirs {
				args := []string{"-i", "s/" + word + "/other/"}
				for n := range *saves {
					args = append(args, filepath.Join(dir, noteName(n)))
				}
				took[i] = timed(t, program("sed", args...), dir)
			}
			return took
		}
		name := fmt.Sprintf("sed -i over %d notes", *saves)
		for _, word := range []string{"lantern", "willow"} {
			row(name, edit(word), goal{2, loopback})
			b.rowCPU(cpu(), goal{2.5, loopback})
			name = "  again"
		}
	})
}

const several = 8

// writers compares the speed of concurrent programs with the speed of a single program.
func (b *bench) writers(t *testing.T) {
	b.withSaved(t, "Writers", 4<<10, func(t *testing.T, dirs [ways]string, _ func() [ways]time.Duration) {
		var figures [ways]string
		var last float64
		for i, dir := range dirs {
			timed(t, b.saveTogether, dir) // after this run every note has a document
			one := timed(t, b.saveInTurn, dir)
			last = ratio(one, timed(t, b.saveTogether, dir))
			figures[i] = times(last)
		}
		printRow(fmt.Sprintf("speed of %d writers relative to one", several), figures, "", "", "> 4x", last < 4)
	})
}

func (b *bench) saveShare(dir string, writer int) error {
	each := *saves / several
	for n := range each {
		name := filepath.Join(dir, noteName(writer*each+n))
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := renameOver(name, append(text, "more\n"...)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) saveInTurn(dir string) error {
	for w := range several {
		if err := b.saveShare(dir, w); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) saveTogether(dir string) error {
	var done sync.WaitGroup
	errs := make([]error, several)
	for w := range several {
		done.Go(func() { errs[w] = b.saveShare(dir, w) })
	}
	done.Wait()
	return errors.Join(errs...)
}
