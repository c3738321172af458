package vault

import (
	"path"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// ReadConfig returns a file of the vault's Obsidian configuration, which the vault does not serve.
func (v *Vault) ReadConfig(name string) ([]byte, error) {
	rel := path.Join(".obsidian", name)
	dir, err := v.folder.OpenDir(model.Parent(rel))
	if err != nil {
		return nil, wrap("read", rel, err)
	}
	defer dir.Close()
	data, _, _, err := disk.ReadFile(dir, path.Base(rel))
	return data, wrap("read", rel, err)
}
