package wal

import "golang.org/x/sys/unix"

func (f osFile) Datasync() error { return unix.Fdatasync(int(f.Fd())) }
