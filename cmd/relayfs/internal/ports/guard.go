package ports

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Guard passes on only requests with the token as a bearer token (RFC 6750), none if it is empty, and not those that a
// page of another server has a browser send. unauthorized is what others are told.
func Guard(token, unauthorized string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	origins := http.NewCrossOriginProtection()
	return RequireLoopbackHost(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asWrite := *r
		asWrite.Method = http.MethodPost // a page of another server may not read either
		if err := origins.Check(&asWrite); err != nil {
			http.Error(w, "Forbidden: another page may not ask", http.StatusForbidden)
			return
		}
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if token == "" || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="relayfs"`)
			http.Error(w, unauthorized, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// RequireLoopbackHost passes on requests to a loopback address only if they name one as their host. A page that DNS has rebound to
// this address names its own.
func RequireLoopbackHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && at.IP.IsLoopback() && !isLoopback(r.Host) {
			http.Error(w, "this is served as "+at.String()+" only", http.StatusMisdirectedRequest)
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
