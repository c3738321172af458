package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/relayfs/relayfs/bridge/remote/transport"
)

type Folder struct {
	Name      string `json:"name"`
	ID        string `json:"id"`    // UUID
	Relay     string `json:"relay"` // UUID of the relay that hosts it
	RelayName string `json:"relayName,omitempty"`
	Creator   string `json:"creator,omitempty"` // name or e-mail address
	Private   bool   `json:"private"`
}

func (f Folder) Document() string { return f.Relay + "-" + f.ID }

type record struct {
	GUID    string
	Name    string
	Private bool
	Expand  struct {
		Relay   struct{ GUID, Name string }
		Creator struct{ Name, Email string }
	}
}

const (
	perPage = 200
	// maxPages is the maximum number of pages that are requested, even if the service reports another page.
	maxPages = 100
)

func (c *Client) Folders(ctx context.Context) ([]Folder, error) {
	folders := []Folder{}
	for page := 1; page <= maxPages; page++ {
		var answer struct {
			TotalPages int
			Items      []record
		}
		query := url.Values{"expand": {"relay,creator"}, "page": {strconv.Itoa(page)}, "perPage": {strconv.Itoa(perPage)}, "sort": {"name"}}
		err := c.authorized(ctx, "", http.MethodGet, func(s Service) string {
			return s.Auth + "/api/collections/shared_folders/records?" + query.Encode()
		}, nil, &answer)
		if errors.Is(err, transport.ErrNoDocument) {
			return nil, fmt.Errorf("%w: it has no list of folders", transport.ErrProtocol)
		}
		if err != nil {
			return nil, err
		}
		for _, r := range answer.Items {
			f := Folder{Name: r.Name, ID: r.GUID, Relay: r.Expand.Relay.GUID, RelayName: r.Expand.Relay.Name, Private: r.Private}
			if f.Creator = r.Expand.Creator.Name; f.Creator == "" {
				f.Creator = r.Expand.Creator.Email
			}
			if f.Relay == "" {
				continue // the folder is not on a server
			}
			if _, _, ok := transport.SplitRelay(f.Document()); !ok {
				return nil, fmt.Errorf("%w: the folder %q has ids that are not UUIDs", transport.ErrProtocol, transport.Said(f.Name))
			}
			folders = append(folders, f)
		}
		if page >= answer.TotalPages || len(answer.Items) == 0 {
			return folders, nil
		}
	}
	return nil, fmt.Errorf("%w: its list of folders does not end", transport.ErrProtocol)
}
