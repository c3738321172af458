package disk

import "os"

// OS is the Disk of the machine. A Dir that it is given must be one that it opened.
type OS struct{}

// MakeRoot opens a folder, and makes it and its parents if they are missing.
func (o OS) MakeRoot(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return o.OpenRoot(path)
}
