package ports

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Guard admits only requests with the token as a bearer token (RFC 6750), and refuses requests from a web page of
// another origin. If the token is empty, it admits no request. unauthorized is the text of a response with status 401.
func Guard(token, unauthorized string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	origins := http.NewCrossOriginProtection()
	return RequireLoopbackHost(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asWrite := *r
		asWrite.Method = http.MethodPost // so that Check also refuses cross-origin reads
		if err := origins.Check(&asWrite); err != nil {
			http.Error(w, "Forbidden: the request comes from another web page", http.StatusForbidden)
			return
		}
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if token == "" || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("Connection", "close") // a client without the token keeps no connection
			w.Header().Set("WWW-Authenticate", `Bearer realm="relayfs"`)
			http.Error(w, unauthorized, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// RequireLoopbackHost admits requests to a loopback address only if their Host is also a loopback address. This stops
// DNS rebinding: a web page whose name was rebound to this address sends its own name as Host.
func RequireLoopbackHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && at.IP.IsLoopback() && !isLoopback(r.Host) {
			http.Error(w, "unknown Host: use "+at.String(), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
