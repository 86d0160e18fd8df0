package hostile

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Swallow returns addresses of sign-in pages that would hide parameters which the hub adds: with a fragment, or with
// the hub's own parameters.
func Swallow() map[string]string {
	return map[string]string{
		"fragment":  "/authorize#",
		"state":     "/authorize?state=known",
		"client":    "/authorize?client_id=another",
		"redirect":  "/authorize?redirect_ur%69=https://evil.example/",
		"challenge": "/authorize?Code_Challenge=x",
		"request":   "/authorize?request_uri=urn:x",
		"semicolon": "/authorize?a=b;state=known",
	}
}

// Authority returns a server that requires a sign-in, together with its authorization server, whose sign-in page is at
// page.
func Authority(page string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "http://" + r.Host
		reply := func(v any) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
		const resource, authority = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/as"
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, resource):
			reply(map[string]any{
				"resource": base + strings.TrimPrefix(path, resource), "authorization_servers": []string{base + "/as"},
			})
		case path == authority:
			reply(map[string]any{
				"issuer": base + "/as", "authorization_endpoint": base + page, "token_endpoint": base + "/token",
				"registration_endpoint": base + "/register", "response_types_supported": []string{"code"},
				"code_challenge_methods_supported":      []string{"S256"},
				"token_endpoint_auth_methods_supported": []string{"none"},
			})
		case path == "/register":
			w.WriteHeader(http.StatusCreated)
			reply(map[string]any{"client_id": "client", "token_endpoint_auth_method": "none"})
		case path == "/mcp":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+resource+path+`"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.NotFound(w, r)
		}
	})
}
