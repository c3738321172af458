package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

// Account keeps the user's login to a control plane, such as Relay's hosted service, with the last list of shared
// folders. The login's secret is in the system's keyring or, if that does not work, in a file that only the user can
// read.
type Account struct {
	dir    owner.Folder
	Client *control.Client
}

var _ control.Logins = (*Account)(nil)

// AccountOf returns the account of a state folder. It does not read any file.
func AccountOf(base string) *Account {
	a := &Account{dir: owner.Folder(base).Sub("login")}
	a.Client = control.New(control.Options{Logins: a})
	return a
}

const (
	loginFile      = "login.json"
	foldersFile    = "folders.json"
	keyringService = "relayfs" // this program's name in the keyring
)

type stored struct {
	control.Login      // without its token if Keyring is set
	Keyring       bool `json:"keyring"` // the token is in the keyring
}

func (a *Account) Load() (control.Login, error) {
	var s stored
	if err := a.read(loginFile, &s); err != nil {
		return control.Login{}, err
	}
	if s.Keyring {
		err := withKeyring(func() (err error) {
			s.Token, err = keyring.Get(keyringService, string(a.dir))
			return err
		})
		if err != nil {
			return control.Login{}, fmt.Errorf("cannot read the login from the system's keyring: %v", err)
		}
	}
	return s.Login, nil
}

// Store stores a login and removes the stored list of folders of an earlier login.
func (a *Account) Store(l control.Login) error {
	if err := a.dir.Make(); err != nil {
		return err
	}
	err := a.dir.Remove(foldersFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, a.save(l))
}

func (a *Account) Replace(old, l control.Login) error {
	if current, err := a.Load(); err != nil || current.Token != old.Token {
		return err
	}
	return a.save(l)
}

func (a *Account) save(l control.Login) error {
	token := l.Token
	s := stored{Login: l, Keyring: withKeyring(func() error { return keyring.Set(keyringService, string(a.dir), token) }) == nil}
	if s.Keyring {
		s.Token = ""
	}
	return a.write(loginFile, s)
}

// Remove deletes the login and the folders, and returns the login without its token. Without a login the error wraps
// fs.ErrNotExist.
func (a *Account) Remove() (control.Login, error) {
	var s stored
	err := a.read(loginFile, &s)
	if err == nil && s.Keyring {
		err = withKeyring(func() error { return keyring.Delete(keyringService, string(a.dir)) })
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		if err != nil {
			err = cli.WithHint(fmt.Errorf("cannot remove the login from the system's keyring: %w", err), "remove the entry "+keyringService+" there")
		}
	}
	s.Token = ""
	return s.Login, errors.Join(err, a.dir.RemoveAll())
}

type FolderList struct {
	API     string           `json:"api"`
	Folders []control.Folder `json:"folders"`
}

func (a *Account) Folders() (FolderList, error) {
	var l FolderList
	err := a.read(foldersFile, &l)
	if errors.Is(err, fs.ErrNotExist) {
		err = cli.WithHint(errors.New("there is no list of shared folders yet"), "run 'relayfs login', then 'relayfs folders'")
	}
	return l, err
}

func (a *Account) Refresh(ctx context.Context) (FolderList, error) {
	login, err := a.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return FolderList{}, transport.ErrLogin
	}
	if err != nil {
		return FolderList{}, err
	}
	l := FolderList{API: login.API}
	if l.Folders, err = a.Client.Folders(ctx); err != nil {
		return FolderList{}, err
	}
	return l, a.write(foldersFile, l)
}

func (a *Account) read(name string, v any) error {
	text, err := secret.Read(a.dir.Path(name))
	if err != nil {
		return err
	}
	if json.Unmarshal([]byte(text), v) != nil {
		return cli.WithHint(fmt.Errorf("file %q is damaged", a.dir.Path(name)), "run 'relayfs login' again")
	}
	return nil
}

func (a *Account) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.dir.Replace(name, append(data, '\n'))
}

// keyringTimeout is the maximum time of a call of the keyring. The keyring may wait until the user unlocks it.
const keyringTimeout = 20 * time.Second

// withKeyring limits the time of a call of the keyring. The call cannot be cancelled: after the timeout it continues in
// its goroutine.
func withKeyring(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(keyringTimeout):
		return fmt.Errorf("no answer within %v", keyringTimeout)
	}
}
