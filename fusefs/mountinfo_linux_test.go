package fusefs

import "testing"

func TestFindMount(t *testing.T) {
	t.Parallel()
	const table = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
40 22 0:35 / /home/ann/My\040notes rw,nosuid,nodev,relatime - fuse.relayfs relayfs rw,user_id=0
41 22 0:36 / /mnt rw,relatime shared:7 master:2 - tmpfs tmpfs rw
42 41 0:37 / /mnt rw,nosuid - fuse.relayfs relayfs rw
short line
`
	tests := []struct{ dir, want string }{
		{"/", "ext4"},
		{"/home/ann/My notes", "fuse.relayfs"},
		{"/mnt", "fuse.relayfs"},
		{"/home/ann", ""},
		{"/mnt/deeper", ""},
	}
	mounts := readMounts(table)
	for _, tt := range tests {
		if got := topmost(mounts, tt.dir); got.fstype != tt.want {
			t.Errorf("topmost(%q) = %+v, want %q", tt.dir, got, tt.want)
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`/plain`: "/plain", `/a\040b\011c`: "/a b\tc", `/back\134slash`: `/back\slash`, `/end\04`: `/end\04`, `/\999`: `/\999`,
	} {
		if got := unescape.Replace(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
