//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type save struct {
	name string
	size int // size of the note in bytes
	run  func(name string, text []byte) error
	goal goal
}

var saves = []save{
	{"write, fsync, rename of 4 KB, p50", 4 << 10, renameOver, goal{1.15, loopback}},
	{"save in place of 4 KB, p50", 4 << 10, inPlace, goal{3, loopback}},
	{"save in place of 100 KB, p50", 100 << 10, inPlace, goal{4, loopback}},
}

// saving compares saves through the mount with the same saves on the vault's own disk, and through a loopback mount and
// a floor on that disk. It alternates between them, so that the state of the disk affects all of them equally. It first
// saves notes that were read but never saved before, and then saves the same notes again.
func (b *bench) saving() error {
	for _, way := range saves {
		err := b.withSaved(strings.Fields(way.name)[0]+fmt.Sprint(way.size), way.size, func(dirs [ways]string, cpu func() ([ways]time.Duration, error)) error {
			for round, name := range []string{way.name, "  again"} {
				took, err := b.saveEach(way, dirs, round)
				if err != nil {
					return err
				}
				row(name, took, way.goal)
				used, err := cpu()
				if err != nil {
					return err
				}
				b.rowCPU(used, goal{of: loopback})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withSaved calls a function (use) with one directory for each way, each with notes of the given size. cpu returns the
// CPU time of the processes that serve the directories since the previous call of cpu.
func (b *bench) withSaved(name string, size int, use func(dirs [ways]string, cpu func() ([ways]time.Duration, error)) error) error {
	var dirs [ways]string
	var served [ways]*mounted
	for way, of := range wayNames {
		dir := filepath.Join(b.work, name+" "+of)
		if err := b.makeSaved(dir, size); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		var err error
		switch dirs[way] = dir; way {
		case loopback, floor:
			served[way], err = b.served(of, dir)
		case relayfs:
			served[way], err = b.mount(dir, "")
		}
		if err != nil {
			return err
		}
		if m := served[way]; m != nil {
			defer m.end()
			dirs[way] = m.notes
		}
	}
	var before [ways]time.Duration
	cpu := func() (used [ways]time.Duration, err error) {
		for way, m := range served {
			if m == nil {
				continue
			}
			now, err := m.cpu()
			if err != nil {
				return used, err
			}
			used[way], before[way] = now-before[way], now
		}
		return used, nil
	}
	if _, err := cpu(); err != nil {
		return err
	}
	return use(dirs, cpu)
}

// rowCPU prints the average CPU time of a save.
func (b *bench) rowCPU(used [ways]time.Duration, g goal) {
	for i := range used {
		used[i] /= time.Duration(b.saves)
	}
	row("  CPU", used, g)
}

func (b *bench) makeSaved(dir string, size int) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for i := range b.saves {
		if err := os.WriteFile(filepath.Join(dir, noteName(i)), noteText(i, size), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) saveEach(way save, dirs [ways]string, round int) ([ways]time.Duration, error) {
	var times [ways][]time.Duration
	for n := range b.saves {
		for i, dir := range dirs {
			name := filepath.Join(dir, noteName(n))
			text, err := os.ReadFile(name) // like a program that is about to write the file
			if err != nil {
				return [ways]time.Duration{}, err
			}
			text = fmt.Appendf(slices.Clip(text), "saved %d\n", round)
			took, err := timed(func(name string) error { return way.run(name, text) }, name)
			if err != nil {
				return [ways]time.Duration{}, err
			}
			times[i] = append(times[i], took)
		}
	}
	return middles(times), nil
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
func (b *bench) editingAll() error {
	return b.withSaved("Sed", 4<<10, func(dirs [ways]string, cpu func() ([ways]time.Duration, error)) error {
		edit := func(word string) (took [ways]time.Duration, err error) {
			for i, dir := range dirs {
				args := []string{"-i", "s/" + word + "/other/"}
				for n := range b.saves {
					args = append(args, filepath.Join(dir, noteName(n)))
				}
				if took[i], err = timed(program("sed", args...), dir); err != nil {
					return took, err
				}
			}
			return took, nil
		}
		name := fmt.Sprintf("sed -i over %d notes", b.saves)
		for _, word := range []string{"lantern", "willow"} {
			took, err := edit(word)
			if err != nil {
				return err
			}
			row(name, took, goal{2, loopback})
			used, err := cpu()
			if err != nil {
				return err
			}
			b.rowCPU(used, goal{2.5, loopback})
			name = "  again"
		}
		return nil
	})
}

const several = 8

// writers compares the speed of concurrent programs with the speed of a single program.
func (b *bench) writers() error {
	return b.withSaved("Writers", 4<<10, func(dirs [ways]string, _ func() ([ways]time.Duration, error)) error {
		var figures [ways]string
		var last float64
		for i, dir := range dirs {
			if _, err := timed(b.saveTogether, dir); err != nil { // after this run every note has a document
				return err
			}
			one, err := timed(b.saveInTurn, dir)
			if err != nil {
				return err
			}
			together, err := timed(b.saveTogether, dir)
			if err != nil {
				return err
			}
			last = ratio(one, together)
			figures[i] = times(last)
		}
		printRow(fmt.Sprintf("speed of %d writers relative to one", several), figures, "", "", "> 4x", last < 4)
		return nil
	})
}

func (b *bench) saveShare(dir string, writer int) error {
	each := b.saves / several
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
