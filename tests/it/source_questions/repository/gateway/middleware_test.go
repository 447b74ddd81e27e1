package gateway

import "testing"

func TestAuthMiddleware(t *testing.T) {
	if AuthMiddleware(nil) == nil {
		t.Fatal("no handler")
	}
}
