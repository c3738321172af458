//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

type save struct {
	name string
	size int // size of the note in bytes
	run  func(name string, text []byte) error
	goal float64       // maximum ratio to the same save on the disk; 0 for none
	most time.Duration // maximum time; 0 for none
}

var ways = []save{
	{"write, fsync, rename of 4 KB, p50", 4 << 10, renameOver, 1.3, 0},
	{"save in place of 4 KB, p50", 4 << 10, inPlace, 0, 500 * time.Microsecond},
	{"save in place of 100 KB, p50", 100 << 10, inPlace, 1.0, 0},
}

// saving compares saves through the mount with the same saves on the vault's own disk and through a loopback mount of
// it, alternating, so that all see the same disk. It saves notes that were read but never saved before, and then saved
// notes again.
func (b *bench) saving() error {
	for _, way := range ways {
		err := b.withSaved(fmt.Sprint("Saves", way.size), way.size, func(dirs [3]string, cpu func() ([3]time.Duration, error)) error {
			for round, name := range []string{way.name, "  again"} {
				took, err := b.saveEach(way, dirs, round)
				if err != nil {
					return err
				}
				row(name, took, way.goal)
				if way.most > 0 {
					limit("  at most", way.most.String(), took[relayfs].Round(10*time.Microsecond).String(), took[relayfs] > way.most)
				}
				used, err := cpu()
				if err != nil {
					return err
				}
				b.rowCPU(used)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withSaved calls use with three directories of notes of one size, and a function that returns the CPU time of the
// processes that serve them since its last call.
func (b *bench) withSaved(name string, size int, use func(dirs [3]string, cpu func() ([3]time.Duration, error)) error) error {
	vault, plainDir, looped := filepath.Join(b.work, name), filepath.Join(b.work, "plain "+name), filepath.Join(b.work, "looped "+name)
	dirs := [3]string{plainDir, looped, vault}
	for _, dir := range dirs {
		if err := b.makeSaved(dir, size); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	l, err := b.loopback(looped)
	if err != nil {
		return err
	}
	defer l.end()
	m, err := b.mount(vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	var before [3]time.Duration
	cpu := func() (used [3]time.Duration, err error) {
		for i, served := range map[int]*mounted{loopback: l, relayfs: m} {
			now, err := served.cpu()
			if err != nil {
				return used, err
			}
			used[i], before[i] = now-before[i], now
		}
		return used, nil
	}
	if _, err := cpu(); err != nil {
		return err
	}
	return use([3]string{plainDir, l.notes, m.notes}, cpu)
}

func (b *bench) rowCPU(used [3]time.Duration) {
	for i := range used {
		used[i] /= time.Duration(b.saves)
	}
	figures := rounded(used)
	figures[plain] = ""
	line("  CPU", figures, "", times(ratio(used[relayfs], used[loopback])), "", false)
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

func (b *bench) saveEach(way save, dirs [3]string, round int) ([3]time.Duration, error) {
	var times [3][]time.Duration
	for n := range b.saves {
		for i, dir := range dirs {
			name := filepath.Join(dir, noteName(n))
			text, err := os.ReadFile(name) // like a program that is about to write the file
			if err != nil {
				return [3]time.Duration{}, err
			}
			text = fmt.Appendf(slices.Clip(text), "saved %d\n", round)
			took, err := timed(func(name string) error { return way.run(name, text) }, name)
			if err != nil {
				return [3]time.Duration{}, err
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

func (b *bench) editingAll() error {
	return b.withSaved("Sed", 4<<10, func(dirs [3]string, cpu func() ([3]time.Duration, error)) error {
		for _, edit := range []struct{ name, script string }{
			{fmt.Sprintf("sed -i over %d notes", b.saves), "s/lantern/lamp/"}, {"  again", "s/willow/birch/"},
		} {
			var took [3]time.Duration
			for i, dir := range dirs {
				args := []string{"-i", edit.script}
				for n := range b.saves {
					args = append(args, filepath.Join(dir, noteName(n)))
				}
				var err error
				if took[i], err = timed(program("sed", args...), dir); err != nil {
					return err
				}
			}
			row(edit.name, took, 1.5)
			used, err := cpu()
			if err != nil {
				return err
			}
			b.rowCPU(used)
		}
		return nil
	})
}

const several = 8

// writers compares concurrent programs with a single one.
func (b *bench) writers() error {
	return b.withSaved("Writers", 4<<10, func(dirs [3]string, _ func() ([3]time.Duration, error)) error {
		var figures [3]string
		var last float64
		for i, dir := range dirs {
			if _, err := timed(b.saveTogether, dir); err != nil { // from now on every note has a document
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
		line(fmt.Sprintf("speed of %d writers relative to one", several), figures, "", "", "4.0x at least", last < 4)
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
