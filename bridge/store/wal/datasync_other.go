//go:build !linux

package wal

func (f osFile) Datasync() error { return f.Sync() }
