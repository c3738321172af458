package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
)

// onEachWithCanvases is onEach for the servers that keep canvases as documents.
func onEachWithCanvases(t *testing.T, start func(testing.TB, string) *server, test func(*testing.T, *server)) {
	for _, kind := range []string{"y-websocket", "hocuspocus"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, start(t, kind))
		})
	}
}

func textNode(id, text string, x int) args {
	return args{"id": id, "type": "text", "text": text, "x": x, "y": 0, "width": 1, "height": 1}
}

func nodeLine(n args) string {
	text, _ := json.Marshal(n["text"])
	return fmt.Sprintf(`{"height":1,"id":"%s","type":"text","width":1,"x":%d,"y":0,"text":%s}`, n["id"], n["x"], text)
}

// canvasOf is the file of a canvas with these nodes.
func canvasOf(nodes ...args) string {
	var lines []string
	for _, n := range nodes {
		lines = append(lines, "\n\t\t"+nodeLine(n))
	}
	end := ""
	if len(lines) > 0 {
		end = "\n\t"
	}
	return "{\n\t\"nodes\":[" + strings.Join(lines, ",") + end + "],\n\t\"edges\":[]\n}"
}

func (c *client) bytes(p model.Path) (string, error) {
	f, err := c.OpenFile(c.t.Context(), p, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	return string(data), errors.Join(err, f.Close())
}

// patch changes a file as the content tools do: what it was computed from has to be there still.
func (c *client) patch(p model.Path, fn func(string) string) {
	c.t.Helper()
	for {
		have, err := c.bytes(p)
		noError(c.t, err)
		_, err = c.WriteFile(c.t.Context(), p, []byte(fn(have)), bridge.ChangeRequest{Base: model.SumOf(have)})
		if !errors.Is(err, model.ErrConflict) {
			noError(c.t, err)
			return
		}
	}
}

// A canvas is a file that follows what people do in it, and what is written to the file they see.
func TestCanvas(t *testing.T) {
	t.Parallel()
	onEachWithCanvases(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		a, b := textNode("a", "first 🦊", 0), textNode("b", "second", 10)
		p.do("createCanvas", args{"path": "Board.canvas", "nodes": []args{a, b}})
		c := mustOpen(t, s, direct)
		c.awaitBytes("Team/Board.canvas", []byte(canvasOf(a, b)))

		p.do("insertInNode", args{"path": "Board.canvas", "id": "a", "at": 0, "text": "the "})
		p.do("setNode", args{"path": "Board.canvas", "node": textNode("c", "third", 20)})
		p.do("removeNode", args{"path": "Board.canvas", "id": "b"})
		now := canvasOf(textNode("a", "the first 🦊", 0), textNode("c", "third", 20))
		c.awaitBytes("Team/Board.canvas", []byte(now))

		wrote := canvasOf(textNode("a", "the first 🐸", 5), textNode("c", "third", 20), textNode("d", "fourth", 0))
		c.patch("Team/Board.canvas", func(string) string { return wrote })
		c.awaitBytes("Team/Board.canvas", []byte(wrote))
		p.do("awaitCanvas", args{"path": "Board.canvas", "file": wrote})
		if !c.Acknowledged(t.Context(), "Team/Board.canvas") {
			t.Error("the write is not acknowledged")
		}
		for _, stale := range []string{canvasOf(), "{}"} {
			_, err := c.WriteFile(t.Context(), "Team/Board.canvas", []byte(stale), bridge.ChangeRequest{Base: model.SumOf(now)})
			if !errors.Is(err, model.ErrConflict) {
				t.Errorf("a write on an old reading: %v, want ErrConflict", err)
			}
		}
		_, err := c.WriteFile(t.Context(), "Team/Board.canvas", []byte(`{"nodes":[],"metadata":{}}`), bridge.ChangeRequest{})
		if !errors.Is(err, model.ErrContent) || !strings.Contains(err.Error(), `"metadata"`) {
			t.Errorf("a write of something else: %v", err)
		}
		if _, err := c.OpenFile(t.Context(), "Team/Board.canvas", os.O_RDWR); !errors.Is(err, model.ErrReadOnly) {
			t.Errorf("open for writing: %v, want ErrReadOnly", err)
		}
		c.awaitBytes("Team/Board.canvas", []byte(wrote))

		c.rename("Team/Board.canvas", "Team/Goal.canvas")
		p.do("awaitCanvas", args{"path": "Goal.canvas", "file": wrote})
		p.do("rename", args{"from": "Goal.canvas", "to": "Plan.canvas"})
		c.awaitBytes("Team/Plan.canvas", []byte(wrote))
		c.remove("Team/Plan.canvas")
		p.do("gone", args{"path": "Plan.canvas"})
		p.clean()
	})
}

// A new canvas is entered when its document has arrived, in one of the maps.
func TestNewCanvas(t *testing.T) {
	t.Parallel()
	p, c := pair(t)
	file := canvasOf(textNode("a", "new", 1))
	_, err := c.WriteFile(t.Context(), "Team/New.canvas", []byte(file), bridge.ChangeRequest{})
	noError(t, err)
	c.awaitBytes("Team/New.canvas", []byte(file))
	p.do("awaitCanvas", args{"path": "New.canvas", "file": file})
	want(t, "keys in both maps", p.keys("/New.canvas"), nil)
	var header map[string]int
	if p.do("map", args{"path": "New.canvas", "map": "relay"}, &header); len(header) != 1 || header["v"] != 0 {
		t.Errorf("header is %v", header)
	}
	p.do("insertInNode", args{"path": "New.canvas", "id": "a", "at": 3, "text": "er"})
	c.awaitBytes("Team/New.canvas", []byte(canvasOf(textNode("a", "newer", 1))))
	p.clean()
}

// A canvas nobody has written to is not shown, and its name not taken, until it has content.
func TestCanvasWithoutContent(t *testing.T) {
	t.Parallel()
	p, c := pair(t)
	p.do("raw", args{"map": "filemeta_v0", "key": "/Board.canvas", "value": args{"id": "board", "version": 0, "type": "canvas"}})
	p.do("create", args{"path": "Then.md", "text": "then\n"})
	c.awaitText("Team/Then.md", "then\n")
	if _, err := c.Stat(t.Context(), "Team/Board.canvas"); err == nil {
		t.Error("it is shown")
	}
	if _, err := c.WriteFile(t.Context(), "Team/Board.canvas", []byte("{}"), bridge.ChangeRequest{}); err == nil {
		t.Error("its name was taken")
	}
	p.do("setNode", args{"path": "Board.canvas", "node": textNode("a", "one", 0)})
	c.awaitBytes("Team/Board.canvas", []byte(canvasOf(textNode("a", "one", 0))))
}

// Canvases are here without the server. What is written and made then gets there, and two of
// one name become one.
func TestCanvasOffline(t *testing.T) {
	t.Parallel()
	onEachWithCanvases(t, alone, func(t *testing.T, s *server) {
		p := s.person()
		p.do("createCanvas", args{"path": "Board.canvas", "nodes": []args{textNode("a", "one", 0)}})
		dir := t.TempDir()
		c, err := open(t, s.address(), s.folder, dir, direct)
		noError(t, err)
		c.awaitBytes("Team/Board.canvas", []byte(canvasOf(textNode("a", "one", 0))))
		c.stop()
		address, port := s.address(), s.port
		s.stop()
		c, err = open(t, address, s.folder, dir, direct)
		noError(t, err)
		c.awaitBytes("Team/Board.canvas", []byte(canvasOf(textNode("a", "one", 0))))
		c.patch("Team/Board.canvas", func(s string) string { return strings.Replace(s, "one", "one two", 1) })
		_, err = c.WriteFile(t.Context(), "Team/New.canvas", []byte(canvasOf(textNode("mine", "by the agent", 0))), bridge.ChangeRequest{})
		noError(t, err)
		c.stop()

		s.start(port) // another one, empty: everything comes from the clients
		q := s.person()
		q.do("createCanvas", args{"path": "New.canvas", "nodes": []args{textNode("hers", "by a person", 0)}})
		c, err = open(t, address, s.folder, dir, direct)
		noError(t, err)
		q.do("awaitCanvas", args{"path": "Board.canvas", "file": canvasOf(textNode("a", "one two", 0))})
		both := canvasOf(textNode("hers", "by a person", 0), textNode("mine", "by the agent", 0))
		q.do("awaitCanvas", args{"path": "New.canvas", "file": both})
		c.awaitBytes("Team/New.canvas", []byte(both))
		q.clean()
	})
}

// People and agents edit one canvas at the same time. All end with the same nodes, and whatever
// anybody has put in is there.
func TestCanvasConverges(t *testing.T) {
	t.Parallel()
	onEachWithCanvases(t, sharedServer, func(t *testing.T, s *server) {
		persons := []*person{s.person(), s.person()}
		persons[0].do("createCanvas", args{"path": "Board.canvas", "nodes": []args{textNode("all", "start", 0)}})
		clients := []*client{mustOpen(t, s, direct), mustOpen(t, s, direct)}
		for _, c := range clients {
			c.awaitBytes("Team/Board.canvas", []byte(canvasOf(textNode("all", "start", 0))))
		}
		persons[1].do("has", args{"path": "Board.canvas"})
		const rounds = 20
		var wanted []string
		said := func(who string, i int) string { return fmt.Sprintf("%s%d", who, i) }
		var wg sync.WaitGroup
		for n, p := range persons {
			who := fmt.Sprintf("person%dsaid", n)
			wg.Go(func() {
				for i := range rounds {
					p.do("insertInNode", args{"path": "Board.canvas", "id": "all", "at": 0, "text": said(who, i) + " "})
					p.do("setNode", args{"path": "Board.canvas", "node": textNode(said(who, i), "", i)})
				}
			})
		}
		for n, c := range clients {
			who := fmt.Sprintf("agent%dsaid", n)
			wg.Go(func() {
				for i := range rounds {
					c.patch("Team/Board.canvas", func(file string) string {
						file = strings.Replace(file, "start", said(who, i)+" start", 1)
						return strings.Replace(file, "\n\t],", ",\n\t\t"+nodeLine(textNode(said(who, i), "", i))+"\n\t],", 1)
					})
				}
			})
		}
		wg.Wait()
		for _, who := range []string{"person0said", "person1said", "agent0said", "agent1said"} {
			for i := range rounds {
				wanted = append(wanted, said(who, i)+" ", `"id":"`+said(who, i)+`"`)
			}
		}
		clients[0].await("the same canvas everywhere", func() bool {
			files := make([]string, 0, 4)
			for _, p := range persons {
				var file string
				p.do("canvas", args{"path": "Board.canvas"}, &file)
				files = append(files, file)
			}
			for _, c := range clients {
				file, err := c.bytes("Team/Board.canvas")
				noError(t, err)
				files = append(files, file)
			}
			return !slices.ContainsFunc(files, func(f string) bool {
				return sorted(f) != sorted(files[0]) || slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(f, w) })
			})
		})
	})
}

// sorted is a canvas with its lines in order: those of two replicas are not always.
func sorted(file string) string {
	lines := strings.Split(strings.ReplaceAll(file, "},", "}"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// What is proposed for a canvas stays a proposal about it whatever people do in it, and is merged
// with that when it is accepted and when that is undone. A new canvas goes when it is undone.
func TestProposedCanvas(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "y-websocket")
	p, author := s.person(), model.Author{Name: "ann"}
	p.do("createCanvas", args{"path": "Board.canvas", "nodes": []args{textNode("a", "one two", 0), textNode("b", "gone", 0)}})
	c := mustOpen(t, s, func(_ *remote.Options, b *bridge.Options) { b.Structure = bridge.StructurePropose })
	c.awaitBytes("Team/Board.canvas", []byte(canvasOf(textNode("a", "one two", 0), textNode("b", "gone", 0))))
	c.patch("Team/Board.canvas", func(string) string { return canvasOf(textNode("a", "one three", 5), textNode("d", "agent's", 0)) })
	// Written as programs write JSON; the file has its own layout.
	_, err := c.WriteFile(t.Context(), "Team/New.canvas", []byte(`{ "edges": [], "nodes": [ `+nodeLine(textNode("n", "", 0))+` ] }`), bridge.ChangeRequest{})
	noError(t, err)
	_, err = c.WriteFile(t.Context(), "Team/Not.canvas", []byte(`{"x":1}`), bridge.ChangeRequest{})
	if !errors.Is(err, model.ErrContent) {
		t.Errorf("a proposal of what no canvas can hold: %v", err)
	}
	list, err := c.Proposals(t.Context(), "Team")
	noError(t, err)
	var ids []string
	for _, x := range list {
		ids = append(ids, x.ID)
	}

	p.do("setNode", args{"path": "Board.canvas", "node": textNode("hers", "added", 0)})
	p.do("insertInNode", args{"path": "Board.canvas", "id": "a", "at": 0, "text": "zero "})
	c.await("the person's changes", func() bool {
		data, _, err := c.source.Read(t.Context(), "Board.canvas")
		return err == nil && strings.Contains(string(data), "zero ")
	})
	out, err := c.Decide(t.Context(), ids, model.Accepted, author)
	if err != nil || len(out.Failed) > 0 || len(ids) != 2 {
		t.Fatal(out, err)
	}
	p.do("awaitCanvas", args{"path": "Board.canvas", "file": canvasOf(textNode("a", "zero one three", 5), textNode("hers", "added", 0), textNode("d", "agent's", 0))})
	p.do("awaitCanvas", args{"path": "New.canvas", "file": canvasOf(textNode("n", "", 0))})

	p.do("insertInNode", args{"path": "Board.canvas", "id": "a", "at": 0, "text": "minus "})
	c.await("the person's change", func() bool {
		data, _, err := c.source.Read(t.Context(), "Board.canvas")
		return err == nil && strings.Contains(string(data), "minus ")
	})
	undone, err := c.Undo(t.Context(), "", author)
	noError(t, err)
	if len(undone.Failed) > 0 {
		t.Error(undone)
	}
	p.do("gone", args{"path": "New.canvas"})
	file := canvasOf(textNode("a", "minus zero one two", 0), textNode("b", "gone", 0), textNode("hers", "added", 0))
	c.await("the canvas without the agent's change", func() bool {
		var got string
		p.do("canvas", args{"path": "Board.canvas"}, &got)
		return sorted(got) == sorted(file)
	})
	p.clean()
}
