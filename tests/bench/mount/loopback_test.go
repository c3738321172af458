//go:build linux

package mount

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// ready begins the line that a mount prints when it can be used.
const ready = "mounted "

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
