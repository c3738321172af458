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

// loopback mounts dir as it is: what FUSE alone costs. It is served by a process of its own, as
// a mount of relayfs is.
func (b *bench) loopback(dir string) (*mounted, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	mnt, err := os.MkdirTemp(b.work, "loopback-")
	if err != nil {
		return nil, err
	}
	return b.start(exec.Command(self, "-loopback", dir, mnt), mnt)
}

// serveLoopback serves dir at mnt until somebody unmounts it. The kernel may keep names and
// attributes for as long as it may those of relayfs. It must not reach past the server to the
// bytes of dir: relayfs has to see them.
func serveLoopback(dir, mnt string) error {
	root, err := fs.NewLoopbackRoot(dir)
	if err != nil {
		return err
	}
	timeout := time.Hour
	server, err := fs.Mount(mnt, root, &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout, NegativeTimeout: &timeout, NullPermissions: true,
		MountOptions: fuse.MountOptions{
			FsName: "loopback", DisableXAttrs: true, DirectMount: os.Geteuid() == 0, Options: []string{"default_permissions"},
			ExtraCapabilities: fuse.CAP_ATOMIC_O_TRUNC, DisabledCapabilities: fuse.CAP_PASSTHROUGH,
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
			fmt.Fprintln(os.Stderr, "loopback:", err)
		}
	}()
	fmt.Fprintln(os.Stderr, ready+mnt)
	server.Wait()
	return nil
}
