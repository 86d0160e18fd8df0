package signin

import (
	"strings"
	"testing"
)

// Metadata that leads to a private address makes the flow fail with that reason; nobody is asked.
func TestMetadataAtPrivateAddressRefused(t *testing.T) {
	for name, change := range map[string]func(a *authority){
		"named": func(a *authority) { a.metadataURL, a.metadataAt = "https://10.0.0.1/prm", "-" },
		"redirected": func(a *authority) {
			a.redirects = map[string]string{"mcp.example" + a.metadataAt: "https://10.0.0.1/prm"}
		},
		"metadata of the authorization server": func(a *authority) {
			a.redirects = map[string]string{"as.example/.well-known/oauth-authorization-server": "https://192.168.0.1/meta"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				change(w.as)
				e := fails[*Error](t, w)
				if !strings.Contains(e.Error(), "private address") && !strings.Contains(e.Error(), "non-public") {
					t.Errorf("%v", e)
				}
				w.askedTimes(t, 0)
				if n := w.as.count("GET 1"); n != 0 {
					t.Errorf("%d requests to private addresses", n)
				}
			})
		})
	}
}
