package claude

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/refusal"
)

// Words are the sentences that name tools of this toolset.
var Words = refusal.Words{
	Folder:    "%q is a folder, not a document. Call glob with it as the path to list what it holds.",
	NotFolder: "%q is not a folder. Call glob to find the folder.",
	Exists:    "%q exists already. Read it and use edit, or choose another path.",
	Missing:   "There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.",
}

func failure(err error) answer.Result { return refusal.Of(err, Words) }

var reader = change.Reader{NotesOnly: true, Call: func(p model.Path, from passage.Position) string {
	return change.ReadCall("read", fmt.Sprintf("file_path: %q", string(p)), "offset", from)
}}
