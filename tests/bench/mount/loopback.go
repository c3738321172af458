//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// served mounts dir with the given peer: loopback, which measures the cost of FUSE alone, or floor. As with a mount of
// relayfs, another process serves the mount.
func (b *bench) served(peer, dir string) (*mounted, error) {
	mnt, err := os.MkdirTemp(b.work, peer+"-")
	if err != nil {
		return nil, err
	}
	return b.start(exec.Command(b.self, "-serve", peer, dir, mnt), mnt)
}

// serve serves dir at mnt until it is unmounted. The kernel may cache names and attributes for as long as with relayfs.
// The kernel must not read and write the files of dir directly, because relayfs has to see each read and write.
func serve(peer, dir, mnt string) error {
	var root fs.InodeEmbedder
	var err error
	if peer == "floor" {
		d := &floorDir{path: dir}
		d.saver, err = newSaver(dir)
		root = d
	} else {
		root, err = fs.NewLoopbackRoot(dir)
	}
	if err != nil {
		return err
	}
	timeout := time.Hour
	server, err := fs.Mount(mnt, root, &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout, NegativeTimeout: &timeout, NullPermissions: true,
		MountOptions: fuse.MountOptions{
			FsName: peer, DisableXAttrs: true, DirectMount: os.Geteuid() == 0, Options: []string{"default_permissions"},
			DisableSplice: peer == "floor", ExtraCapabilities: fuse.CAP_ATOMIC_O_TRUNC, DisabledCapabilities: fuse.CAP_PASSTHROUGH,
		},
	})
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	go func() {
		<-stop
		if err := server.Unmount(); err != nil {
			fmt.Fprintln(os.Stderr, peer+":", err)
		}
	}()
	fmt.Fprintln(os.Stderr, ready+mnt)
	server.Wait()
	return nil
}
