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

// loopback mounts dir with a loopback file system, to measure the cost of FUSE alone. A separate process serves it, as
// with a mount of relayfs.
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

// serveLoopback serves dir at mnt until it is unmounted. The kernel may cache names and attributes for as long as with
// relayfs. It must not bypass the server to the bytes of dir, because relayfs has to see them.
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
