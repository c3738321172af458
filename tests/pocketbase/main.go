// Command pocketbase is a control plane for tests. It is a real PocketBase with the collections, the redirection and
// the HTTP calls of Relay's hosted service that relayfs uses. It is a separate module, so that PocketBase is not a
// dependency of relayfs.
//
// It prints its address, and runs until its standard input ends. Each line of the input is a command: see
// service.obey.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v5"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/models"
	"github.com/pocketbase/pocketbase/models/schema"
	"github.com/pocketbase/pocketbase/tools/types"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

type service struct {
	*pocketbase.PocketBase
	server string // address of the document server
	key    *token.Key
	relay  string
	life   atomic.Int64 // lifetime of document tokens, in seconds
	tokens atomic.Int64 // number of document tokens issued
}

func main() {
	dir := flag.String("dir", "", "folder of the database")
	listen := flag.String("listen", "127.0.0.1:0", "address")
	provider := flag.String("provider", "", "address of the OpenID Connect provider")
	server := flag.String("server", "", "address of the document server, http://host:port")
	keyFile := flag.String("key-file", "", "file with the key of that server")
	relay := flag.String("relay", "", "id of the relay")
	folder := flag.String("folder", "", "the shared folder, as NAME=ID")
	flag.Parse()
	text, err := os.ReadFile(*keyFile)
	check(err)
	key, err := token.ParsePrivateKey("", strings.TrimSpace(string(text)))
	check(err)
	s := &service{PocketBase: pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: *dir, HideStartBanner: true}), server: *server, key: key, relay: *relay}
	s.life.Store(3600)
	check(s.Bootstrap())
	s.OnBeforeServe().Add(func(e *core.ServeEvent) error {
		name, id, _ := strings.Cut(*folder, "=")
		if err := s.fill(*provider, name, id); err != nil {
			return err
		}
		s.route(e.Router)
		l, err := net.Listen("tcp", *listen)
		if err != nil {
			return err
		}
		fmt.Println(l.Addr())
		go s.obey()
		return e.Server.Serve(l)
	})
	_, err = apis.Serve(s, apis.ServeConfig{})
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// obey executes the commands on stdin, one per line, and answers each with a line.
//
//	life SECONDS    sets the lifetime of document tokens
//	login SECONDS   sets the lifetime of logins
//	revoke          ends all logins
//	tokens          returns the number of document tokens issued
func (s *service) obey() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		command, arg, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.ParseInt(arg, 10, 64)
		switch command {
		case "life":
			s.life.Store(n)
		case "login":
			s.Settings().RecordAuthToken.Duration = n
			check(s.Dao().SaveSettings(s.Settings()))
		case "revoke":
			records, err := s.Dao().FindRecordsByExpr("users")
			check(err)
			for _, r := range records {
				check(r.RefreshTokenKey())
				check(s.Dao().SaveRecord(r))
			}
		case "tokens":
			n = s.tokens.Load()
		}
		fmt.Println(n)
	}
	os.Exit(0)
}

// fill creates the collections of the service if they are missing, and one shared folder.
func (s *service) fill(provider, name, id string) error {
	settings := s.Settings()
	settings.OIDCAuth.Enabled = true
	settings.OIDCAuth.ClientId, settings.OIDCAuth.ClientSecret = "relayfs-tests", "client-secret"
	settings.OIDCAuth.AuthUrl, settings.OIDCAuth.TokenUrl, settings.OIDCAuth.UserApiUrl = provider+"/authorize", provider+"/token", provider+"/userinfo"
	if err := s.Dao().SaveSettings(settings); err != nil {
		return err
	}
	if _, err := s.Dao().FindCollectionByNameOrId("shared_folders"); err == nil {
		return nil
	}
	const member = `@request.auth.id != ""`
	relays, err := s.collection("relays", member, field("guid"), field("name"))
	if err != nil {
		return err
	}
	users, err := s.Dao().FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	folders, err := s.collection("shared_folders", member, field("guid"), field("name"),
		&schema.SchemaField{Name: "private", Type: schema.FieldTypeBool}, relation("relay", relays), relation("creator", users))
	if err != nil {
		return err
	}
	if _, err := s.collection("code_exchange", "", field("code")); err != nil {
		return err
	}
	r := models.NewRecord(relays)
	r.Set("guid", s.relay)
	r.Set("name", "Acme")
	if err := s.Dao().SaveRecord(r); err != nil {
		return err
	}
	f := models.NewRecord(folders)
	f.Set("guid", id)
	f.Set("name", name)
	f.Set("relay", r.Id)
	return s.Dao().SaveRecord(f)
}

func (s *service) collection(name, rule string, fields ...*schema.SchemaField) (*models.Collection, error) {
	c := &models.Collection{Name: name, Type: models.CollectionTypeBase, Schema: schema.NewSchema(fields...), ViewRule: types.Pointer(rule)}
	if rule != "" {
		c.ListRule = c.ViewRule
	}
	return c, s.Dao().SaveCollection(c)
}

func field(name string) *schema.SchemaField {
	return &schema.SchemaField{Name: name, Type: schema.FieldTypeText, Options: &schema.TextOptions{}}
}

func relation(name string, to *models.Collection) *schema.SchemaField {
	return &schema.SchemaField{Name: name, Type: schema.FieldTypeRelation, Options: &schema.RelationOptions{CollectionId: to.Id, MaxSelect: types.Pointer(1)}}
}

func (s *service) route(e *echo.Echo) {
	// Store the code from the browser in a record. The program that logs in reads the code from that record.
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if state := c.QueryParam("state"); c.Request().URL.Path == "/api/oauth2-redirect" && len(state) >= 15 {
				if err := s.leave(state[:15], c.QueryParam("code")); err != nil {
					return err
				}
			}
			return next(c)
		}
	})
	e.POST("/token", s.documentToken, apis.RequireRecordAuth("users"))
	e.POST("/file-token", s.fileToken, apis.RequireRecordAuth("users"))
}

func (s *service) leave(id, code string) error {
	c, err := s.Dao().FindCollectionByNameOrId("code_exchange")
	if err != nil {
		return err
	}
	r := models.NewRecord(c)
	r.SetId(id)
	r.Set("code", code)
	return s.Dao().SaveRecord(r)
}

type request struct {
	DocID       string `json:"docId"`
	Relay       string `json:"relay"`
	Folder      string `json:"folder"`
	Hash        string `json:"hash"`
	ContentType string `json:"contentType"`
}

type answer struct {
	token.ClientToken
	Folder     string `json:"folder"`
	ExpiryTime int64  `json:"expiryTime"`
}

func (s *service) documentToken(c echo.Context) error {
	return s.give(c, "d", func(r request, name string) (token.Scope, error) {
		return token.Scope{Kind: token.Doc, ID: name, Permission: token.Full}, nil
	})
}

func (s *service) fileToken(c echo.Context) error {
	return s.give(c, "f", func(r request, name string) (token.Scope, error) {
		if r.Hash == "" || r.ContentType == "" {
			return token.Scope{}, errors.New("a file has a hash and a type")
		}
		return token.Scope{Kind: token.File, ID: name, Hash: r.Hash, Permission: token.Full}, nil
	})
}

func (s *service) give(c echo.Context, path string, scope func(r request, name string) (token.Scope, error)) error {
	var r request
	if err := c.Bind(&r); err != nil {
		return err
	}
	if _, err := s.Dao().FindFirstRecordByData("shared_folders", "guid", r.Folder); err != nil || r.Relay != s.relay || r.DocID == "" {
		return apis.NewForbiddenError("", nil)
	}
	name := r.Relay + "-" + r.DocID
	what, err := scope(r, name)
	if err != nil {
		return apis.NewBadRequestError("", nil)
	}
	ends := time.Now().Add(time.Duration(s.life.Load()) * time.Second)
	user, _ := c.Get(apis.ContextAuthRecordKey).(*models.Record)
	text, err := s.key.Mint(token.Claims{Scope: what, User: user.Id, Channel: r.Relay + "-" + r.Folder, Audience: s.server, Issued: time.Now(), Expires: ends})
	if err != nil {
		return err
	}
	s.tokens.Add(1)
	return c.JSON(http.StatusOK, answer{
		token.NewClientToken(s.server+"/"+path+"/"+name, name, text, token.Full), r.Folder, ends.UnixMilli(),
	})
}
