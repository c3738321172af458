package mcpserver

import (
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// maxNewPath is how long the path of a new document may be: the least that some
// system sets for all of a path, with the vault's own before it, is 1,024 bytes.
const maxNewPath = 800

// checkNew refuses names for new documents that people would not see, or could
// not tell from others, or not open.
func checkNew(p bridge.Path) error {
	_, rel := p.Split()
	if len(p) > maxNewPath {
		return answer.WrongArgument("The path %q is too long: a new one has at most %d bytes. Choose another.", strings.ToValidUTF8(string(p[:64]), "")+"...", maxNewPath)
	}
	for elem := range strings.SplitSeq(rel, "/") {
		switch {
		case strings.HasPrefix(elem, "."):
			return answer.WrongArgument("The path %q is not allowed: people are not shown names that begin with a dot. Choose another name.", string(p))
		case strings.IndexFunc(elem, answer.Unprintable) >= 0:
			return answer.WrongArgument("The path %q is not allowed: it has a control character in it. Choose another name.", string(p))
		}
	}
	return nil
}
