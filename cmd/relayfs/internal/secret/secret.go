// Package secret stores tokens and keys in files that only their user can read. It does not use a file that other users
// can read.
package secret

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// Read returns the text in a file. It returns an error if other users can read the file.
func Read(file string) (string, error) {
	st, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return "", cli.WithHint(fmt.Errorf("file %q can be read by other users", file), fmt.Sprintf("chmod 600 %q", file))
	}
	data, err := folderOf(file).Read(filepath.Base(file))
	return string(data), err
}

func folderOf(file string) owner.Folder { return owner.Folder(filepath.Dir(file)) }

// Create creates a file that only its user can read. It creates the folder of the file if needed. The error wraps
// fs.ErrExist if the file exists.
func Create(file, text string) error {
	dir := folderOf(file)
	if err := dir.Make(); err != nil {
		return err
	}
	return dir.Create(filepath.Base(file), []byte(text))
}

// MinToken is the minimum length of a token, in characters.
const MinToken = 16

// EnsureToken does the same as ReadToken. If the file is missing, EnsureToken first creates it with a random token.
func EnsureToken(file string) (string, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := Create(file, rand.Text()+"\n"); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have created it first
			return "", err
		}
	}
	return ReadToken(file)
}

func ReadToken(file string) (string, error) {
	text, err := Read(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(text)
	if len(token) < MinToken || strings.ContainsAny(token, " \t\r\n") {
		return "", cli.WithHint(fmt.Errorf("token file %q does not hold one word of at least %d characters", file, MinToken),
			"remove the file, and relayfs will create a new one")
	}
	return token, nil
}
