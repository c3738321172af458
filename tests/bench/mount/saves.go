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

// save is one way in which programs save a note.
type save struct {
	name string
	size int // of the note, in bytes
	run  func(name string, text []byte) error
	goal float64       // the most it may take, in times of the same on the disk; 0 is none
	most time.Duration // the most it may take; 0 is no limit
}

var ways = []save{
	{"write, fsync, rename of 4 KB, p50", 4 << 10, renameOver, 1.3, 0},
	{"save in place of 4 KB, p50", 4 << 10, inPlace, 0, 500 * time.Microsecond},
	{"save in place of 100 KB, p50", 100 << 10, inPlace, 1.0, 0},
}

// saving compares saves through the mount with the same ones on the vault's own disk, one
// after the other, so that both meet the same disk. Each saves a note that was read before
// and never saved, and then notes that were saved.
func (b *bench) saving() error {
	for _, way := range ways {
		vault, plain := filepath.Join(b.work, fmt.Sprint("Saves", way.size)), filepath.Join(b.work, fmt.Sprint("plain", way.size))
		if err := errors.Join(b.makeSaved(vault, way.size), b.makeSaved(plain, way.size)); err != nil {
			return err
		}
		m, err := b.mount(vault, "")
		if err != nil {
			return err
		}
		for round, name := range []string{way.name, "  again"} {
			onDisk, onMount, err := b.saveEach(way, plain, m.notes, round)
			if err != nil {
				m.end()
				return err
			}
			row(name, onDisk, onMount, way.goal)
			if way.most > 0 {
				limit("  at most", way.most.String(), onMount.Round(10*time.Microsecond).String(), onMount > way.most)
			}
		}
		m.end()
		if err := errors.Join(os.RemoveAll(vault), os.RemoveAll(plain)); err != nil {
			return err
		}
	}
	return nil
}

// makeSaved makes the notes that are saved, all of one size.
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

// saveEach saves every note on the disk and on the mount, and returns the median times.
func (b *bench) saveEach(way save, plain, mount string, round int) (onDisk, onMount time.Duration, err error) {
	var plains, mounts []time.Duration
	for i := range b.saves {
		for _, dir := range []string{plain, mount} {
			name := filepath.Join(dir, noteName(i))
			text, err := os.ReadFile(name) // as a program does that is going to write it
			if err != nil {
				return 0, 0, err
			}
			text = fmt.Appendf(slices.Clip(text), "saved %d\n", round)
			took, err := timed(func(name string) error { return way.run(name, text) }, name)
			if err != nil {
				return 0, 0, err
			}
			if dir == plain {
				plains = append(plains, took)
			} else {
				mounts = append(mounts, took)
			}
		}
	}
	return middle(plains), middle(mounts), nil
}

// inPlace is what the shell's > and most scripts do.
func inPlace(name string, text []byte) error { return os.WriteFile(name, text, 0o644) }

// renameOver is what programs do that care: vim, Claude Code.
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

// editingAll has sed edit every note in one go.
func (b *bench) editingAll() error {
	plain, vault := filepath.Join(b.work, "plainsed"), filepath.Join(b.work, "Sed")
	if err := errors.Join(b.makeSaved(vault, 4<<10), b.makeSaved(plain, 4<<10)); err != nil {
		return err
	}
	m, err := b.mount(vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	for _, edit := range []struct{ name, script string }{
		{fmt.Sprintf("sed -i over %d notes", b.saves), "s/lantern/lamp/"}, {"  again", "s/willow/birch/"},
	} {
		var took [2]time.Duration
		for i, dir := range []string{plain, m.notes} {
			args := []string{"-i", edit.script}
			for n := range b.saves {
				args = append(args, filepath.Join(dir, noteName(n)))
			}
			if took[i], err = timed(program("sed", args...), dir); err != nil {
				return err
			}
		}
		row(edit.name, took[0], took[1], 1.5)
	}
	return nil
}

// writers compares eight programs that save at once with one.
func (b *bench) writers() error {
	const several = 8
	vault := filepath.Join(b.work, "Writers")
	if err := b.makeSaved(vault, 4<<10); err != nil {
		return err
	}
	m, err := b.mount(vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	each := b.saves / several
	write := func(writer int) error {
		for i := range each {
			name := filepath.Join(m.notes, noteName(writer*each+i))
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
	all := func() error {
		var done sync.WaitGroup
		errs := make([]error, several)
		for w := range several {
			done.Go(func() { errs[w] = write(w) })
		}
		done.Wait()
		return errors.Join(errs...)
	}
	if err := all(); err != nil { // from here on every note has a document
		return err
	}
	one, err := timed(func(string) error {
		for w := range several {
			if err := write(w); err != nil {
				return err
			}
		}
		return nil
	}, "")
	if err != nil {
		return err
	}
	together, err := timed(func(string) error { return all() }, "")
	if err != nil {
		return err
	}
	ratio := float64(one) / float64(together)
	limit(fmt.Sprintf("%d writers, in times of one", several), "4.0x", fmt.Sprintf("%.1fx", ratio), ratio < 4)
	return nil
}
