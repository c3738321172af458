package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// stat is what /proc/PID/stat says of a process, see proc_pid_stat(5).
type stat struct {
	Identity
	name    string
	parent  int
	session int
	tty     int // its controlling terminal, 0 for none
	uid     uint32
}

// readStat reads the stat of a process.
func readStat(pid int) (s stat, ok bool) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(name)
	if err != nil {
		return s, false
	}
	if s, ok = parseStat(text); !ok {
		return s, false
	}
	if info, err := os.Stat(name); err == nil {
		s.uid = userOf(info)
	}
	return s, true
}

// parseStat reads "PID (name) state ppid pgrp session tty_nr ... starttime ...". The name may hold anything.
func parseStat(text []byte) (s stat, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return s, false
	}
	const first, start = 3, 22 // the numbers of the first field behind the name, and of starttime
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= start-first {
		return s, false
	}
	numbers := make([]int, 0, 4)
	for _, f := range append([]string{strings.TrimSpace(string(text[:open]))}, fields[1], fields[3], fields[4]) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return s, false
		}
		numbers = append(numbers, n)
	}
	began, err := strconv.ParseUint(fields[start-first], 10, 64)
	if err != nil {
		return s, false
	}
	return stat{
		Identity: Identity{numbers[0], began}, name: string(text[open+1 : end]),
		parent: numbers[1], session: numbers[2], tty: numbers[3],
	}, true
}

// processOf returns the process of a thread, which is what FUSE names.
func processOf(thread int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("Tgid:")); ok {
			if n, err := strconv.Atoi(string(bytes.TrimSpace(value))); err == nil {
				return n
			}
		}
	}
	return thread
}

// fromEnvironment returns the value of the variable by which an agent names its run in the environment with which a
// process was started, and the agent's name.
func fromEnvironment(pid int) (value, agent string) {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // not readable for a program of another user
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		name, v, _ := strings.Cut(string(entry), "=")
		if agent := sessionEnv[name]; agent != "" && v != "" {
			return name + "=" + v, agent
		}
	}
	return "", ""
}

func hashOf(s string) uint64 {
	sum := sha256.Sum256([]byte(s))
	return binary.BigEndian.Uint64(sum[:])
}
