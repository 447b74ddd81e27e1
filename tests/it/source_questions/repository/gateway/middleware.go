package gateway

import "net/http"

// AuthMiddleware is the authentication middleware: it refuses a request without a valid token.
func AuthMiddleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hasValidToken(r) {
			http.Error(w, "unauthenticated", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hasValidToken(r *http.Request) bool {
	return r.Header.Get("Authorization") != ""
}
