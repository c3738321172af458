package review

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What Relay's plugin shares of a vault is named by the mount and by doctor, and decided with --force only. The other
// notes of the vault are decided as ever.
func TestVaultUnderRelaysPlugin(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	for name, c := range map[string]struct {
		settings string // of the plugin
		source   string // the vault, or a folder in it
		guarded  string // the beginning of what is guarded, "" for nothing
		path     string // of that in the workspace
	}{
		"a folder":      {`{"sharedFolders": [{"guid": "0f1e2d3c-0000-4000-8000-000000000001", "path": "Team"}]}`, "", "Team", "Vault/Team"},
		"the folder":    {`{"sharedFolders": [{"guid": "0f1e2d3c-0000-4000-8000-000000000001", "path": "Team"}]}`, "Team", ".", "Team"},
		"other folders": {`{"sharedFolders": [{"path": "Elsewhere"}]}`, "Team", "", ""},
		"unreadable":    {`{"sharedFolders": `, "", ".", "Vault"},
		"none":          {`{"sharedFolders": []}`, "", "", ""},
		"no settings":   {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			files := map[string]string{"Team/Note.md": "some words\n", ".obsidian/plugins/system3-relay/manifest.json": "{}"}
			if c.settings != "" {
				files[".obsidian/plugins/system3-relay/data.json"] = c.settings
			}
			if c.source == "" {
				files["Mine.md"] = "some words\n"
			}
			vault := filepath.Join(s.Vault(t, "Vault", files), c.source)
			const says = "Relay's plugin shares "
			doctor := s.Run(t, "doctor", vault)
			if told := strings.Contains(doctor.Stdout, says+`"`+c.path+`"`); told != (c.guarded != "") {
				t.Errorf("doctor says %s", doctor.Stdout)
			}
			m := s.Mount(t, vault)
			if told := strings.Contains(m.Log.String(), says) && strings.Contains(m.Log.String(), "relay:FOLDER"); told != (c.guarded != "") {
				t.Errorf("the mount says %s", m.Log.String())
			}
			root := filepath.Join(m.Dir, filepath.Base(vault))
			notes := []string{"Note.md"}
			if c.source == "" {
				notes = []string{"Team/Note.md", "Mine.md"}
			}
			for _, note := range notes {
				guarded := c.guarded == "." || c.guarded != "" && strings.HasPrefix(note, c.guarded+"/")
				for _, verdict := range []string{"reject", "accept"} {
					if err := harness.WriteAll(filepath.Join(root, note), []byte(verdict+" words\n")); err != nil {
						t.Fatal(err)
					}
					marked := "{--some--}{++" + verdict + "++} words\n"
					harness.FileBecomes(t, filepath.Join(vault, note), marked)
					decide := []string{"suggestions", verdict, "--path", filepath.Base(vault) + "/" + note, "--yes"}
					if guarded {
						out := s.Run(t, decide...)
						if out.Code == 0 || !strings.Contains(out.Stderr, says) || !strings.Contains(out.Stderr, "--force") {
							t.Errorf("%s of %s: %d %s", verdict, note, out.Code, out.Stderr)
						}
						harness.CheckText(t, note, harness.ReadFile(t, filepath.Join(vault, note)), marked)
						decide = append(decide, "--force")
					}
					if out := s.Run(t, decide...); out.Code != 0 {
						t.Errorf("%s of %s: %d %s", verdict, note, out.Code, out.Stderr)
					}
					harness.FileBecomes(t, filepath.Join(vault, note), map[string]string{"reject": "some words\n", "accept": "accept words\n"}[verdict])
				}
			}
			m.Stop(t)
		})
	}
}
