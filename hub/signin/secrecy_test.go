package signin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Each test's world looks for secrets in logs and errors when it ends. This one goes where they would most likely
// appear: an authorization server that echoes what it was sent, at every step, with every way of printing an error.
func TestTokensNeverLogged(t *testing.T) {
	conf := config.OAuth{ClientID: "mine", ClientSecret: "hand-made-secret"}
	live(t, Options{Config: conf}, func(t *testing.T, w *world) {
		w.as.clients["mine"] = client{"hand-made-secret", "http://127.0.0.1:40001/callback"}
		var texts []string
		failing := func() {
			_, err := w.call(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				texts = append(texts, fmt.Sprintf("%v %+v %#v", e, e, e))
			}
		}
		w.as.set(func() { w.as.tokenError = "temporarily_unavailable" })
		failing()
		w.as.set(func() {
			w.as.tokenError = ""
			w.as.clients["mine"] = client{"hand-made-secret", "http://127.0.0.1:40002/callback"}
		})
		w.works(t)
		w.as.set(func() { w.as.refreshError = "temporarily_unavailable" })
		time.Sleep(2 * time.Hour)
		failing()
		w.as.set(func() { w.as.refreshError = "invalid_grant"; w.as.tokenError = "" })
		w.person(says(ErrDeclined))
		failing()
		text := strings.Join(texts, "\n") + fmt.Sprintf("%+v", w.s.State())
		if !strings.Contains(text, "[secret]") {
			t.Errorf("nothing was taken out, so nothing was tried: %s", text)
		}
		for _, secret := range append(w.as.issued(), "hand-made-secret") {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in an error:\n%s", secret, text)
			}
		}
	})
}

// A key in the query of the server's URL, which is also in the URLs of its metadata, is not shown in errors.
func TestQueryOfServerIsNotShown(t *testing.T) {
	s, err := New(Options{Server: "files", ServerURL: mcpURL + "?key=tell-tale"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := s.failure(t.Context(), fmt.Errorf("Get %q: refused", mcpURL+"?key=tell-tale"))
	if strings.Contains(got.Error(), "tell-tale") {
		t.Error(got)
	}
}
