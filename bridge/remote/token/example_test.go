package token_test

import (
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

func Example() {
	key, err := token.GenerateKey("main", token.HMAC)
	if err != nil {
		panic(err)
	}
	text, err := key.Mint(token.Claims{
		Scope:   token.Scope{Kind: token.Doc, ID: "note-1", Permission: token.ReadOnly},
		User:    "ann",
		Expires: time.Now().Add(time.Hour),
	})
	if err != nil {
		panic(err)
	}
	claims, err := token.Inspect(text)
	permission, ok := claims.OnDoc("note-1")
	fmt.Println(claims.User, permission, ok, err)
	// Output: ann read-only true <nil>
}
