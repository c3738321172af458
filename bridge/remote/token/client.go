package token

import (
	"net/url"
	"strings"
)

// ClientToken is a server's answer to a request for access to one document.
type ClientToken struct {
	URL           string     `json:"url"`     // URL of the websocket, without the document's ID
	BaseURL       string     `json:"baseUrl"` // URL of the document's HTTP API
	DocID         string     `json:"docId"`
	Token         string     `json:"token,omitempty"` // "" if the server needs no token
	Authorization Permission `json:"authorization"`
}

// NewClientToken returns the client token for a document whose HTTP API is at base.
func NewClientToken(base, id, text string, p Permission) ClientToken {
	socket := "ws" + strings.TrimPrefix(base, "http") + "/ws" // https becomes wss
	return ClientToken{URL: socket, BaseURL: base, DocID: id, Token: text, Authorization: p}
}

// WebsocketURL returns the address to which a client connects. The address includes the token.
func (t ClientToken) WebsocketURL() string {
	u := t.URL + "/" + url.PathEscape(t.DocID)
	if t.Token != "" {
		u += "?token=" + url.QueryEscape(t.Token)
	}
	return u
}
