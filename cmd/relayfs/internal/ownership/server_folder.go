package ownership

import (
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func (s *Session) openServer(src source.Source, state string, o *Options) (bridge.FolderSource, error) {
	key, err := source.ServerKey()
	if err != nil {
		return bridge.FolderSource{}, err
	}
	st, err := store.Open(filepath.Join(state, "store.db"), store.Options{Logger: s.Log})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, st.Close)
	r := remote.Options{Address: src.Server.Address, Folder: src.Server.Folder, Store: st, Key: key, Logger: s.Log, Attachments: filepath.Join(state, "attachments"), Author: o.Presence}
	if output.Stderr.TakesLines() {
		r.Progress = progressLine(src.Name)
	}
	folder, err := remote.Open(r)
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, folder.Close)
	return bridge.FolderSource{Name: src.Name, Source: folder, Store: st}, nil
}

// progressLine shows on the terminal how many notes are fetched.
func progressLine(name string) func(remote.Progress) {
	var mu sync.Mutex // protects the following
	var start, shown time.Time
	first, done := 0, false
	return func(p remote.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if start.IsZero() {
			start, first, done = now, p.Fetched, p.Fetched == p.Notes
		}
		finished := p.Fetched == p.Notes
		if done || !finished && now.Sub(shown) < time.Second/4 {
			return
		}
		shown, done = now, finished
		output.Stderr.Show(output.OneLine(progressText(name, p, p.Fetched-first, now.Sub(start))), finished)
	}
}

// progressText says how many notes are present, and, from the number fetched in a time, how fast they
// come and how long the rest takes.
func progressText(name string, p remote.Progress, fetched int, in time.Duration) string {
	line := fmt.Sprintf("%s: %d of %d notes", name, p.Fetched, p.Notes)
	if fetched <= 0 || in <= 0 {
		return line
	}
	rate := float64(fetched) / in.Seconds()
	line += fmt.Sprintf(", %.0f a second", rate)
	if left := p.Notes - p.Fetched; left > 0 {
		line += fmt.Sprintf(", %s left", time.Duration(math.Ceil(float64(left)/rate))*time.Second)
	}
	return line
}
