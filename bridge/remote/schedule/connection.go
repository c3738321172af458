package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Run connects until the context of New ends.
func (y *Scheduler) Run() {
	var wg sync.WaitGroup
	ctx := y.ctx
	for range Workers {
		wg.Go(func() { y.work(ctx) })
	}
	wg.Go(func() { y.unsent.Run(ctx, y.notNoted) })
	wg.Go(func() { y.poll(ctx) })
	var b backoff
	for ctx.Err() == nil {
		start := time.Now()
		err := y.followFolder(ctx)
		lasted := time.Since(start)
		wait := b.next(lasted)
		was := y.disconnected(err)
		if errors.Is(err, transport.ErrExpired) && lasted > backoffBase && was {
			continue // a new token is asked for at once, unless the last one was not taken either
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	y.jobs.Close()
	wg.Wait()
	y.stopLive()
	y.peers.Wait()
}

func (y *Scheduler) notNoted(err error) {
	y.o.Log.Error("cannot note what was sent", model.LogFolder, y.o.Folder, model.LogErr, err)
}

// followFolder keeps the folder's document in step until the connection ends.
func (y *Scheduler) followFolder(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := replica.NewPeer(y.o.Set.Folder())
	r := newReports(y, p)
	p.OnOther(r.take)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		select {
		case <-p.In():
			y.connected()
			r.start()
		case <-ctx.Done():
		}
	})
	err := p.Run(ctx)
	cancel()
	switch {
	case err == nil:
		return fmt.Errorf("%w: the connection has ended", transport.ErrUnreachable)
	case errors.Is(err, transport.ErrNoDocument):
		return fmt.Errorf("%w as %q", transport.ErrNoFolder, y.o.Folder)
	}
	return err
}

// connected says that the folder's document is in step.
func (y *Scheduler) connected() {
	y.mu.Lock()
	y.kept[replica.FolderID] = true
	y.online, y.cause, y.problem, y.synced = true, nil, nil, time.Now()
	closeOnce(y.onlineSet)
	closeOnce(y.tried)
	notes := y.notes
	y.mu.Unlock()
	y.o.Log.Info("connected", model.LogFolder, y.o.Folder)
	if y.mayFollow(len(notes)) {
		y.enqueue(y.unkept(notes))
		time.AfterFunc(y.o.Resync, y.compareAll) // in case that nobody tells of changes
	} else {
		y.enqueue(notes)
	}
	y.jobs.Resume()
	y.folder.Connected()
}

// mayFollow says whether the server may tell what has changed of a folder with
// that many notes, more than are connected one by one.
func (y *Scheduler) mayFollow(notes int) bool {
	return y.o.Server.Reports() && notes > y.o.Server.Links()-Workers
}

// follow takes note that the server tells what has changed.
func (y *Scheduler) follow(x *reports) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.follows = x
}

// disconnected says why there is no connection, and whether there was one.
func (y *Scheduler) disconnected(err error) (was bool) {
	if y.ctx.Err() != nil {
		return false
	}
	y.jobs.Pause()
	y.mu.Lock()
	was = y.online
	y.online, y.cause, y.follows = false, err, nil
	if !errors.Is(err, transport.ErrExpired) { // there is a next attempt, with another token
		closeOnce(y.tried)
	}
	waiters := y.waiters
	y.waiters = make(map[model.DocID][]chan struct{})
	y.mu.Unlock()
	y.unsent.Tell()
	for _, list := range waiters {
		for _, c := range list {
			close(c) // they find that there is no connection
		}
	}
	if was || errors.Is(err, transport.ErrDenied) || errors.Is(err, transport.ErrNoFolder) || errors.Is(err, transport.ErrProtocol) {
		y.o.Log.Warn("not connected", model.LogFolder, y.o.Folder, model.LogErr, y.o.Address.Explain(err))
	}
	return was
}

// closeOnce closes a channel that only holders of the scheduler's lock close.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
