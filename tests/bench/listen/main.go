// Listen measures the embedded server against y-websocket's own server in Node,
// with the same clients on loopback in the same run, and prints one row per
// figure: Node's, relayfs's and their ratio.
//
//	go run ./tests/bench/listen -relayfs ./relayfs -node tests/servers
//
// "fan-out" is how many updates a second reach clients, when one client types a
// character at a time into a note that all of them have open. "keystroke" is from
// its being sent to its arrival at one other client, while nothing else happens.
// "memory" is what the server grows by for each idle connection to one note.
// relayfs keeps every update on disk before anybody else sees it; Node's server
// keeps nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	relayfs, dir, node               string
	clients, updates, taps, connects int
}

func main() {
	var o options
	flag.StringVar(&o.relayfs, "relayfs", "./relayfs", "the program")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "a directory for the vault and its state")
	flag.StringVar(&o.node, "node", "tests/servers", "the directory of server.mjs, with its packages installed")
	flag.IntVar(&o.clients, "clients", 200, "clients of the note that is typed into")
	flag.IntVar(&o.updates, "updates", 1000, "characters that are typed")
	flag.IntVar(&o.taps, "taps", 300, "keystrokes that are timed")
	flag.IntVar(&o.connects, "connections", 2000, "idle connections")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "listen:", err)
		os.Exit(1)
	}
}

// figures are what was measured of one server.
type figures struct {
	fanOut    float64       // updates a second
	keystroke time.Duration // median
	memory    float64       // KB a connection
}

func run(ctx context.Context, o options) error {
	theirs, err := measure(ctx, o, startNode)
	if err != nil {
		return fmt.Errorf("server in Node: %w", err)
	}
	ours, err := measure(ctx, o, startRelayfs)
	if err != nil {
		return fmt.Errorf("relayfs: %w", err)
	}
	row := func(name string, theirs, ours float64, unit string) {
		fmt.Printf("%-34s %10.1f %10.1f %-9s %6.2fx\n", name, theirs, ours, unit, ours/theirs)
	}
	fmt.Printf("%-34s %10s %10s\n", "", "Node", "relayfs")
	row(fmt.Sprintf("fan-out to %d clients", o.clients), theirs.fanOut, ours.fanOut, "updates/s")
	row("keystroke, median", ms(theirs.keystroke), ms(ours.keystroke), "ms")
	row(fmt.Sprintf("memory, of %d connections", o.connects), theirs.memory, ours.memory, "KB each")
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure starts a server and measures it.
func measure(ctx context.Context, o options, start func(context.Context, options) (*server, error)) (f figures, err error) {
	s, err := start(ctx, o)
	if err != nil {
		return f, err
	}
	defer s.stop()
	if f.memory, err = s.memory(ctx, o.connects); err != nil {
		return f, err
	}
	if f.keystroke, err = s.keystroke(ctx, o.taps); err != nil {
		return f, err
	}
	f.fanOut, err = s.fanOut(ctx, o.clients, o.updates)
	return f, err
}
