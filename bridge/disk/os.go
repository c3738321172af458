package disk

import "os"

type file struct{ *os.File }

// OS is the Disk of the machine. Its methods take only Dirs that it opened.
type OS struct{}

func (o OS) MakeRoot(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return o.OpenRoot(path)
}
