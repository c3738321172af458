package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// Text rewrites the errors of libraries, however they are wrapped, and keeps our own.
func TestText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, noFile := os.Open(filepath.Join(dir, "x"))
	mkdir := os.Mkdir(filepath.Join(file, "y"), 0o700)
	link := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	_, number := strconv.Atoi("ten")
	broken := json.Unmarshal([]byte(`{"a":}`), new(any))
	program := exec.Command("no-such-program").Run()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, taken := net.Listen("tcp", l.Addr().String())
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("a sentence of ours"), "a sentence of ours"},
		{noFile, fmt.Sprintf("%q: no such file or directory", filepath.Join(dir, "x"))},
		{fmt.Errorf("state folder: %w", mkdir), fmt.Sprintf("state folder: %q: not a directory", filepath.Join(file, "y"))},
		{errors.Join(noFile, mkdir), fmt.Sprintf("%q: no such file or directory\n%q: not a directory", filepath.Join(dir, "x"), filepath.Join(file, "y"))},
		{link, fmt.Sprintf("%q cannot become %q: no such file or directory", filepath.Join(dir, "a"), filepath.Join(dir, "b"))},
		{fmt.Errorf("port: %w", number), `port: "ten" is not a number`},
		{fmt.Errorf("answer: %w", broken), "answer: not valid JSON at byte 6"},
		{cli.WithHint(program, "install it"), `the program "no-such-program" cannot be started: it is not installed`},
		{fmt.Errorf("--http: %w", taken), fmt.Sprintf("--http: %v: address already in use", l.Addr())},
	} {
		if got := cli.Text(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// If the output cannot be written, the hint is about the output, and not about relayfs's own data.
func TestOutputErrors(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	w := &cli.Result{W: closed}
	cli.Line(w, "text")
	for _, err := range []error{w.Err, cli.Note(closed, "text"), cli.JSON(closed, "text")} {
		if hint := (*cli.HintError)(nil); !errors.As(err, &hint) {
			t.Errorf("%v has no hint", err)
		}
	}
}
