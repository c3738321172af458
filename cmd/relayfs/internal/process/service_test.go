package process

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

// strange has every character that a unit or a property list reads as something else.
const strange = `/home/a b/100% $HOME "q" 'q' \ <&> é;`

func TestLaunchd(t *testing.T) {
	text, err := Launchd(strange, 501).Text(Unit{Program: strange, Config: strange})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"io.github.relayfs", strange, "mount", "--config", strange, strange + "/Library/Logs/relayfs.log"}
	if got := stringsIn(t, text); !slices.Equal(got, want) {
		t.Errorf("the agent has the strings %q, want %q:\n%s", got, want, text)
	}
}

// stringsIn returns the <string> elements of a property list.
func stringsIn(t *testing.T, list []byte) (found []string) {
	t.Helper()
	for dec, in := xml.NewDecoder(bytes.NewReader(list)), ""; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "string" {
				found = append(found, string(token))
			}
		}
	}
}

func TestSystemd(t *testing.T) {
	text, err := Systemd("/").Text(Unit{Program: strange, Config: strange})
	if err != nil {
		t.Fatal(err)
	}
	want := `ExecStart="/home/a b/100%% $HOME \"q\" 'q' \\ <&> é;" mount --config "/home/a b/100%% $$HOME \"q\" 'q' \\ <&> é;"`
	if !slices.Contains(strings.Split(string(text), "\n"), want) {
		t.Errorf("the unit has no line %s:\n%s", want, text)
	}
}

// systemd itself reads the unit, and finds a program with a strange name. It takes none with quotes.
func TestSystemdReadsTheUnit(t *testing.T) {
	need.Full(t, "it needs systemd-analyze")
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "a b 100% $HOME é;")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := Systemd(dir).Text(Unit{Program: program, Config: strange})
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(dir, "relayfs.service")
	if err := os.WriteFile(unit, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("systemd-analyze", "verify", "--user", "--man=no", unit)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte(unit)) {
		t.Errorf("%v: %s\n%s", err, out, text)
	}
}
