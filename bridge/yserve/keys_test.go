package yserve_test

import (
	"testing"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// With another key, connections with tokens of the old one end, and those tokens
// are refused; tokens are made with the new one.
func TestSetKeys(t *testing.T) {
	s := serve(t)
	const name = "Notes/Plan.md"
	id := s.id(name)
	old := s.mint("prefix:"+id+":rw", token.Claims{})
	kept, err := token.GenerateKey("kept", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	room, many := s.join(id, ""), s.multiplexed()
	room.untilText("one\n")
	many.send(tokenFrame(name, old))
	if f := many.frame(ysync.Auth); f.Auth != ysync.Authenticated {
		t.Fatalf("the token is answered with %+v", f)
	}
	s.server.SetKeys(token.Ring{kept, s.key}, kept)
	room.typed(0, "still ")
	s.untilFile(name, "still one\n")
	s.server.SetKeys(token.Ring{kept}, kept)
	for what, p := range map[string]*peer{"document": room, "multiplexed": many} {
		if code := p.closed(); code != websocket.StatusPolicyViolation {
			t.Errorf("%s: the connection ends with %d", what, code)
		}
	}
	if status, _ := s.call("GET", "/d/"+id+"/as-update", old, ""); status != 401 {
		t.Errorf("the old token gets %d", status)
	}
	s.key = kept
	again := s.join(id, "")
	again.untilText("still one\n")

	s.server.SetKeys(nil, nil)
	if status, _ := s.call("GET", "/d/"+id+"/as-update", "", ""); status != 401 {
		t.Errorf("without keys, a request without a token gets %d", status)
	}
}
