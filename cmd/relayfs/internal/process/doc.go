// Package process starts and observes processes. Start runs a command line as a daemon, and Ready reports to the parent
// process and to systemd that the daemon is ready. A Manager makes systemd or launchd start the mount at each login.
// The other functions are system calls that differ between operating systems.
package process
