package change

import (
	"context"
	"crypto/sha256"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// File is a change of a whole file that is not a note.
type File struct {
	Kind      entity.Type
	Path      model.Path
	Text      string             // the new content
	Base      model.ContentSum   // of the content to replace; zero for a new file
	Seen      passage.Set        // what the session knows of Text afterwards
	Operation approval.Operation // to be approved
	What      string             // the change as a verb phrase
}

// WriteFile writes a file whose content is valid for its type. notice says whether the
// change waits for a person.
func (c Changes) WriteFile(ctx context.Context, f File) (notice string, err error) {
	if err := f.Kind.Check(f.Text); err != nil {
		return "", answer.WrongArgument("%s was left as it is: %v.", f.Path, err)
	}
	if err := c.Workspace.MayWriteFile(f.Path); err != nil {
		return "", err
	}
	if err := c.approve(ctx, f.Operation, f.What, nil); err != nil {
		return "", err
	}
	done, err := c.Workspace.WriteFile(ctx, f.Path, []byte(f.Text), bridge.Restructure{By: c.Session.Author(), Origin: c.Session, Base: f.Base})
	if err != nil {
		return "", err
	}
	if _, read := c.Session.Known(f.Path); read || f.Operation == approval.Create {
		c.Session.Remember(f.Path, session.Knowledge{Text: f.Text, Seen: f.Seen})
	}
	if done.Proposal != "" {
		return "The change is proposed as a whole, and waits for a person.", nil
	}
	return "", nil
}

// SumOf returns the checksum that identifies the content of a file.
func SumOf(text string) model.ContentSum { return sha256.Sum256([]byte(text)) }
