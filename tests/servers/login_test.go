package servers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// oidcProvider is where people of the test log in: whoever comes is Ann. It returns its address.
func oidcProvider(t *testing.T) string {
	var mu sync.Mutex
	challenges := make(map[string]string) // by code
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		code := rand.Text()
		mu.Lock()
		challenges[code] = r.FormValue("code_challenge")
		mu.Unlock()
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+url.Values{"code": {code}, "state": {r.FormValue("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		mu.Lock()
		want, ok := challenges[r.FormValue("code")]
		delete(challenges, r.FormValue("code"))
		mu.Unlock()
		if !ok || want != base64.RawURLEncoding.EncodeToString(sum[:]) {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"of-ann","token_type":"Bearer"}`)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"sub":"ann-1","name":"Ann","email":"ann@example.org","email_verified":true}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// shortLife is the life of a token, in seconds, that ends while a test runs.
var shortLife = int(need.Scaled(2 * time.Second).Seconds())

// thePocketBase builds the control plane of the tests once.
var thePocketBase = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	// What is there and up to date is not linked again.
	path := filepath.Join(cache, "relayfs-tests", "bin", "pocketbase")
	if out, err := exec.Command("go", "build", "-C", harness.Repo("tests/pocketbase"), "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the control plane: %w\n%s", err, out)
	}
	return path, nil
})

// plane is a running control plane, a PocketBase, for the folder of a server.
type plane struct {
	url  string
	args []string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startPlane(t *testing.T, f *sharedFolder) *plane {
	t.Helper()
	bin, err := thePocketBase()
	if err != nil {
		need.Missing(t, "no control plane: %v", err)
	}
	server := "http" + strings.TrimPrefix(f.Address(), "ys")
	keyFile := filepath.Join(t.TempDir(), "key")
	harness.WriteFile(t, keyFile, f.key.Secret())
	p := &plane{args: []string{
		bin, "-dir", t.TempDir(), "-provider", oidcProvider(t), "-server", server, "-relay", testRelay,
		"-key-file", keyFile, "-folder", f.name + "=" + strings.TrimPrefix(relayFolder, testRelay+"-"),
	}}
	p.start(t)
	t.Cleanup(p.stop)
	return p
}

// start starts it, at the place where it was before.
func (p *plane) start(t *testing.T) {
	t.Helper()
	args := p.args
	if p.url != "" {
		args = append(args, "-listen", strings.TrimPrefix(p.url, "http://"))
	}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Stderr = os.Stderr
	in, out := harness.StartPiped(t, p.cmd)
	p.in, p.out = in, bufio.NewReader(out)
	address, err := p.out.ReadString('\n')
	if _, _, bad := net.SplitHostPort(strings.TrimSpace(address)); err != nil || bad != nil {
		t.Fatalf("the control plane says %q: %v", address, err)
	}
	p.url = "http://" + strings.TrimSpace(address)
}

func (p *plane) stop() {
	if p.cmd != nil {
		p.in.Close()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// tell changes it, see tests/pocketbase, and returns its answer.
func (p *plane) tell(t *testing.T, format string, args ...any) int {
	t.Helper()
	fmt.Fprintf(p.in, format+"\n", args...)
	line, err := p.out.ReadString('\n')
	n, bad := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || bad != nil {
		t.Fatalf("the control plane answers %q: %v", line, err)
	}
	return n
}

// login runs 'relayfs login', and the browser that it asks for. It returns all that was printed.
func (p *plane) login(t *testing.T, s *harness.Sandbox) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), serverPatience)
	defer cancel()
	cmd := s.Command(ctx, "login", "RELAYFS_API="+p.url, "RELAYFS_AUTH="+p.url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_, out := harness.StartPiped(t, cmd)
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("no address for the browser: %v\n%s", err, stderr.String())
	}
	resp, err := http.Get(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "logged in as ann@example.org") {
		t.Fatalf("login: %v\n%s", err, stderr.String())
	}
	return address + string(rest) + stderr.String()
}

// withoutKeyring returns a sandbox whose user has no keyring.
func withoutKeyring(t *testing.T) *harness.Sandbox {
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+s.Path("none"))
	return s
}

// loginFile is a file of the login.
func loginFile(s *harness.Sandbox, name string) string {
	return s.Path("xdg", "state_home", "relayfs", "login", name)
}

// userToken is the secret of the login.
func userToken(t *testing.T, s *harness.Sandbox) string {
	t.Helper()
	var login struct{ Token string }
	if err := json.Unmarshal([]byte(harness.ReadFile(t, loginFile(s, "login.json"))), &login); err != nil || login.Token == "" {
		t.Fatalf("no token in the login: %v", err)
	}
	return login.Token
}

// Log in, mount by name, edit: text and an attachment come and go, over tokens that last for seconds. The login is
// revoked while the mount runs: the mount goes on offline, says what to do, and connects again after it was done.
func TestLogin(t *testing.T) {
	t.Parallel()
	server := shareFolder(t, "Team", map[string]string{"Note.md": "note\n", "pic.png": "\x89PNG"})
	p := startPlane(t, server)
	s := withoutKeyring(t)
	printed := p.login(t, s)
	secrets := []string{userToken(t, s)}

	out := s.Run(t, "folders", "--json")
	var folders []struct{ Name, ID, Relay, RelayName string }
	if err := json.Unmarshal([]byte(out.Stdout), &folders); err != nil || len(folders) != 1 || folders[0].Name != "Team" || folders[0].Relay != testRelay || folders[0].RelayName != "Acme" {
		t.Fatalf("folders: %+v, %v\n%s%s", folders, err, out.Stdout, out.Stderr)
	}
	if out := s.Run(t, "folders"); !strings.Contains(out.Stdout, "relay:Team") {
		t.Errorf("folders: %s%s", out.Stdout, out.Stderr)
	}
	p.tell(t, "life %d", shortLife)
	if err := os.Remove(loginFile(s, "folders.json")); err != nil { // as if the folder was shared just now
		t.Fatal(err)
	}
	m := s.MountAt(t, "relay:Team", s.Mkdir(t, "mnt"), "--mode", "direct", "--log-level", "debug")
	note := filepath.Join(m.Dir, "Team", "Note.md")
	harness.FileBecomes(t, note, "note\n")
	harness.FileBecomes(t, filepath.Join(m.Dir, "Team", "pic.png"), "\x89PNG")
	text := "note\n"
	edit := func(line string) {
		t.Helper()
		text += line + "\n"
		if err := harness.WriteAll(note, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for i, before := 0, p.tell(t, "tokens"); p.tell(t, "tokens") < before+4; i++ { // the tokens of two documents, twice
		edit(fmt.Sprintf("over token %d", i))
		server.becomes(t, "Note.md", text)
		server.Restart() // which ends connections; the end of a token does not
	}
	awaitAcknowledged(t, s)
	if out := s.Run(t, "doctor", "relay:Team"); !strings.Contains(out.Stdout, p.url+" answers, with 2 entries") {
		t.Errorf("doctor: %s%s", out.Stdout, out.Stderr)
	}

	p.tell(t, "revoke")
	time.Sleep(time.Duration(shortLife+1) * time.Second)
	server.Restart()
	statusTells(t, s, "not connected", "does not accept the login of ann@example.org", "run 'relayfs login'", "relayfs retries automatically")
	edit("without a login")
	if data := harness.ReadFile(t, note); data != text {
		t.Errorf("the note is %q, want %q", data, text)
	}
	p.tell(t, "life 3600")
	printed += p.login(t, s)
	secrets = append(secrets, userToken(t, s))
	server.becomes(t, "Note.md", text)
	awaitAcknowledged(t, s)
	if err := harness.WriteAll(filepath.Join(m.Dir, "Team", "New.md"), []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	awaitAcknowledged(t, s)

	// Without the service a mount has the notes as they were.
	m.Stop(t)
	p.stop()
	m2 := s.MountAt(t, "relay:Team", m.Dir, "--mode", "direct", "--log-level", "debug")
	harness.FileBecomes(t, note, text)
	edit("without the service")
	if out := s.Run(t, "folders"); out.Code != 0 || !strings.Contains(out.Stdout, "relay:Team") || !strings.Contains(out.Stderr, "last list") {
		t.Errorf("folders without the service: %+v", out)
	}
	m2.Stop(t)

	for _, file := range []string{loginFile(s, "login.json"), loginFile(s, "folders.json")} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", file, info, err)
		}
	}
	for _, secret := range secrets {
		for what, text := range map[string]string{"output of login": printed, "log": m.Log.String(), "second log": m2.Log.String(), "status": s.Run(t, "doctor", "relay:Team").Stdout} {
			if strings.Contains(text, secret) {
				t.Errorf("a token is in the %s", what)
			}
		}
	}
	if out := s.Run(t, "logout"); out.Code != 0 || !strings.Contains(out.Stderr, "logged out ann@example.org") {
		t.Errorf("logout: %+v", out)
	}
	if _, err := os.Stat(loginFile(s, "")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the login is still there: %v", err)
	}
	for _, args := range [][]string{{"folders"}, {"mount", "relay:Team", m.Dir}} {
		if out := s.Run(t, args...); out.Code == 0 || !strings.Contains(out.Stderr, "run 'relayfs login'") {
			t.Errorf("%q after logout: %+v", args, out)
		}
	}
}

// A login that comes to its end while there is no network is told when there is one again, and nothing is lost.
func TestLoginEndsOffline(t *testing.T) {
	t.Parallel()
	server := shareFolder(t, "Team", map[string]string{"Note.md": "note\n"})
	p := startPlane(t, server)
	s := withoutKeyring(t)
	p.tell(t, "life %d", shortLife)
	p.login(t, s)
	m := s.MountAt(t, "relay:Team", s.Mkdir(t, "mnt"), "--mode", "direct")
	note := filepath.Join(m.Dir, "Team", "Note.md")
	harness.FileBecomes(t, note, "note\n")
	awaitAcknowledged(t, s)
	p.tell(t, "login %d", 5*shortLife) // not so short that the list of folders comes too late
	p.login(t, s)
	p.stop()
	time.Sleep(6 * time.Duration(shortLife) * time.Second)
	server.Restart() // which ends connections; the end of a token does not
	statusTells(t, s, "not connected", "the login of ann@example.org has expired", "run 'relayfs login'")
	if err := harness.WriteAll(note, []byte("note\nwritten offline\n")); err != nil {
		t.Fatal(err)
	}
	statusTells(t, s, "not connected", "1 document with unacknowledged changes")
	p.start(t)
	p.tell(t, "login 3600")
	p.login(t, s)
	server.becomes(t, "Note.md", "note\nwritten offline\n")
}

// Where there is a desktop, its browser is sent to the address that is printed. Nobody comes back from there: login ends
// when its time is over, or with Ctrl-C, and leaves nothing.
func TestLoginIsLeft(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/collections/users/auth-methods", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"authProviders":[{"name":"google","state":"abcdefghijklmnopqrstuvwxyz0123","codeVerifier":"v","authUrl":"https://accounts.example.org/?redirect_uri="}]}`)
	})
	service := httptest.NewServer(mux)
	defer service.Close()
	s := withoutKeyring(t)
	bin := s.Mkdir(t, "bin")
	harness.WriteProgram(t, filepath.Join(bin, "xdg-open"), "#!/bin/sh\necho \"$1\" >"+s.Path("opened")+"\n")
	s.Env = append(s.Env, "PATH="+bin+":"+os.Getenv("PATH"), "DISPLAY=:0")
	args := []string{"login", "RELAYFS_API=" + service.URL, "RELAYFS_AUTH=" + service.URL}
	cmd := s.Command(t.Context(), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_, stdout := harness.StartPiped(t, cmd)
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	harness.FileBecomes(t, s.Path("opened"), address)
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("login with Ctrl-C: %v\n%s", err, stderr.String())
	}
	if _, err := os.Stat(loginFile(s, "")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// What a command line cannot mean is said with what there is.
func TestLoginUsage(t *testing.T) {
	t.Parallel()
	s := withoutKeyring(t)
	dir := s.Mkdir(t, "mnt")
	s.Mkdir(t, "xdg", "state_home", "relayfs", "login")
	list := `{"api":"https://api.example.org","folders":[
		{"name":"Team","id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee1","relay":"` + testRelay + `","relayName":"Acme","creator":"ann"},
		{"name":"Team","id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee2","relay":"` + testRelay + `","relayName":"Home","creator":"bob"},
		{"name":"a/b","id":"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee3","relay":"` + testRelay + `"}]}`
	if err := os.WriteFile(loginFile(s, "folders.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"unknown":            {[]string{"status", "relay:Other"}, []string{`no folder "Other"`, `"Team"`, "relay \"Home\"", "by bob"}},
		"two":                {[]string{"status", "relay:Team"}, []string{`2 folders are called "Team"`, "relay:aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee2", "by ann"}},
		"no name for a tree": {[]string{"status", "relay:a/b"}, []string{"name it with NAME=relay:aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee3"}},
		"no TLS":             {[]string{"login", "RELAYFS_API=http://api.example.org"}, []string{"is not the address of a service"}},
		"an argument":        {[]string{"login", "me"}, []string{"the command is"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := s.Run(t, c.args...)
			for _, want := range c.want {
				if out.Code != 2 || !strings.Contains(out.Stderr, want) {
					t.Errorf("exit %d, %q is not in\n%s", out.Code, want, out.Stderr)
				}
			}
		})
	}
	// By the relay's name, by the id, and under another name they are found: it is the login that is missing.
	for _, arg := range []string{"relay:Home/Team", "relay:aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee2", "X=relay:aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeee3"} {
		if out := s.Run(t, "mount", arg, dir); out.Code != 1 || !strings.Contains(out.Stderr, "relay+https://api.example.org: server refuses access: no login") {
			t.Errorf("mount %s: %+v", arg, out)
		}
	}
	if out := s.Run(t, "logout"); out.Code != 0 || !strings.Contains(out.Stderr, "there is no login") {
		t.Errorf("logout: %+v", out)
	}
	if out := s.Run(t, "login", "RELAYFS_API=http://127.0.0.1:1", "RELAYFS_AUTH=http://127.0.0.1:1"); out.Code != 1 || !strings.Contains(out.Stderr, "cannot be reached") {
		t.Errorf("login at nothing: %+v", out)
	}
}
