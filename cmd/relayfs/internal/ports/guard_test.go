package ports

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	const token = "a-token-of-the-test"
	web := httptest.NewServer(Guard(token, "no", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	defer web.Close()
	open := httptest.NewServer(Guard("", "no", http.NotFoundHandler()))
	defer open.Close()
	port := web.URL[strings.LastIndexByte(web.URL, ':'):]
	for _, tt := range []struct {
		name    string
		url     string
		headers []string
		want    int
	}{
		{"accepted", web.URL, nil, 200},
		{"same origin", web.URL, []string{"Origin", web.URL}, 200},
		{"a name of this machine", web.URL, []string{"Host", "localhost" + port}, 200},
		{"wrong token", web.URL, []string{"Authorization", "Bearer wrong"}, 401},
		{"no token", web.URL, []string{"Authorization", ""}, 401},
		{"token of another scheme", web.URL, []string{"Authorization", "Basic " + token}, 401},
		{"an empty token for no token", open.URL, []string{"Authorization", "Bearer "}, 401},
		{"foreign origin", web.URL, []string{"Origin", "https://evil.example"}, 403},
		{"opaque origin", web.URL, []string{"Origin", "null"}, 403},
		{"origin of another port", web.URL, []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"origin with our name in it", web.URL, []string{"Origin", web.URL + ".evil.example"}, 403},
		{"another page, as browsers say", web.URL, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"rebound host", web.URL, []string{"Host", "evil.example"}, 421},
		{"rebound host and origin", web.URL, []string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequestWithContext(t.Context(), method, tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			for i := 0; i < len(tt.headers); i += 2 {
				req.Header.Set(tt.headers[i], tt.headers[i+1])
				if tt.headers[i] == "Host" {
					req.Host = tt.headers[i+1]
				}
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("%s, %s: %s, want %d", tt.name, method, resp.Status, tt.want)
			}
		}
	}
}
