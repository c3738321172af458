// Package secret keeps tokens and keys in files that only their user may read. It does not know what they
// open.
package secret

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// Read reads a file that only its user may read. Other permissions are an error.
func Read(file string) (string, error) {
	st, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return "", cli.WithHint(fmt.Errorf("file %q can be read by others", file), fmt.Sprintf("chmod 600 %q", file))
	}
	data, err := os.ReadFile(file)
	return string(data), err
}

// Make creates such a file. If another process has just created it, Make returns its content.
func Make(file, text string) (string, error) {
	err := Create(file, text+"\n")
	if errors.Is(err, fs.ErrExist) {
		return Read(file)
	}
	return text, err
}

// Create creates such a file. An existing file is an error.
func Create(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Creatable says why Create would not make a missing file.
func Creatable(file string) error {
	dir := filepath.Dir(file)
	for {
		st, err := os.Stat(dir)
		switch {
		case err == nil && !st.IsDir(), errors.Is(err, syscall.ENOTDIR):
			return cli.WithHint(fmt.Errorf("file %q cannot be made: %q is not a folder", file, dir), "name another file")
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// Replace creates such a file, or replaces it whole.
func Replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// MinToken is the least length of a token, in characters.
const MinToken = 16

// EnsureToken returns the token of a file. It creates the file if that is missing.
func EnsureToken(file string) (string, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if _, err := Make(file, rand.Text()); err != nil {
			return "", err
		}
	}
	return ReadToken(file)
}

// ReadToken returns the token of a file.
func ReadToken(file string) (string, error) {
	text, err := Read(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(text)
	if len(token) < MinToken || strings.ContainsAny(token, " \t\r\n") {
		return "", cli.WithHint(fmt.Errorf("token file %q does not hold one word of at least %d characters", file, MinToken),
			"remove it, and relayfs makes a new one")
	}
	return token, nil
}
