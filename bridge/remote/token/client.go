package token

import (
	"net/url"
	"strings"
)

// ClientToken is a server's answer to a request for access to one document.
type ClientToken struct {
	URL           string     `json:"url"`     // of the websocket, without the document's id
	BaseURL       string     `json:"baseUrl"` // of the document's HTTP API
	DocID         string     `json:"docId"`
	Token         string     `json:"token,omitempty"` // "" for an open server
	Authorization Permission `json:"authorization"`
}

// NewClientToken returns the answer for a document with the given HTTP API.
func NewClientToken(base, id, text string, p Permission) ClientToken {
	socket := "ws" + strings.TrimPrefix(base, "http") + "/ws" // wss for https
	return ClientToken{URL: socket, BaseURL: base, DocID: id, Token: text, Authorization: p}
}

// WebsocketURL returns the address that a client connects to, token included.
func (t ClientToken) WebsocketURL() string {
	u := t.URL + "/" + url.PathEscape(t.DocID)
	if t.Token != "" {
		u += "?token=" + url.QueryEscape(t.Token)
	}
	return u
}
