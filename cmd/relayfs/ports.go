package main

import (
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
)

// registerHTTP has flags say whether and how MCP is served over HTTP.
func registerHTTP(cmd *cobra.Command, f *ports.HTTP) {
	cmd.Flags().StringVar(&f.Addr, "http", "", "serve MCP over Streamable HTTP on this address, for example 127.0.0.1:7777")
	cmd.Flags().StringVar(&f.TokenFile, "token-file", "", "file with the bearer token of --http (default http-token in the state folder); made if it is missing")
}

// registerYjs has flags say whether and how Yjs clients are let in.
func registerYjs(cmd *cobra.Command, f *ports.Yjs) {
	fl := cmd.Flags()
	fl.StringVar(&f.Addr, "listen", "", "let Yjs clients in on this address, for example 127.0.0.1:8080")
	fl.StringVar(&f.KeyFile, "key-file", "", "file with the key of the tokens for --listen (default relay-key in the state folder); made if it is missing")
	fl.StringVar(&f.URL, "url", "", "where clients reach --listen from outside, if that differs, for example https://notes.example")
	fl.StringVar(&f.Relay, "relay", "", "id of the relay: documents of --listen can then be opened as RELAY-ID, too, as Relay's plugin calls them")
	fl.BoolVar(&f.NoToken, "no-token", false, "let every program of this machine in without a token; --listen must be a loopback address")
}
