package signin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

const registerLine = "POST as.example/register"

// A registration is used again as long as its port is free: the redirect URI is then the same.
func TestRegistrationIsUsedAgain(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		w.s.Close()
		w.open(Options{Store: store})
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.works(t)
		if n := w.as.count(registerLine); n != 1 {
			t.Errorf("%d registrations", n)
		}
	})
}

// If the port of a registration is taken, the client is registered anew for another one.
func TestRegistrationAnewWhenPortIsTaken(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		w.net.taken["127.0.0.1:40001"] = true
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.as.count(registerLine); n != 2 {
			t.Errorf("%d registrations", n)
		}
	})
}

// The authorization server has dropped the client and says so on a page, to the browser alone: the user gives up, and
// the next sign-in does not use the client again.
func TestRegistrationDroppedAfterFailureInBrowser(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		w.as.set(func() { clear(w.as.clients) })
		w.person(func(_ context.Context, p event.SignInQuestion) error {
			if p.Waiting {
				return ErrDeclined
			}
			if status, _ := w.browse(p.URL); status != 400 {
				t.Errorf("the browser sees status %d", status)
			}
			return nil
		})
		if err := w.s.SignIn(t.Context()); err == nil {
			t.Error("signed in with a client that is gone")
		}
		w.person(nil)
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.as.count(registerLine); n != 2 {
			t.Errorf("%d registrations", n)
		}
	})
}

// A registration is kept if the user declines before it was used in a browser.
func TestRegistrationOutlivesDecline(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(says(ErrDeclined))
		fails[*DeclinedError](t, w)
		w.person(nil)
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.as.count(registerLine); n != 1 {
			t.Errorf("%d registrations", n)
		}
	})
}

// A client of the configuration is used before all others, on its own port; its secret is not stored.
func TestPreregisteredClient(t *testing.T) {
	store := NewMemory()
	conf := config.OAuth{ClientID: "mine", ClientSecret: "hand-made-secret", RedirectPort: 3118,
		ClientMetadataURL: "https://hub.example/client.json"}
	live(t, Options{Store: store, Config: conf}, func(t *testing.T, w *world) {
		w.as.clients["mine"] = client{"hand-made-secret", "http://127.0.0.1:3118/callback"}
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.works(t)
		if n := w.as.count(registerLine); n != 0 {
			t.Errorf("%d registrations", n)
		}
		if n := w.as.count(tokenLine + "refresh_token"); n != 1 {
			t.Errorf("%d refreshes", n)
		}
		kept, err := store.Load(t.Context(), w.s.key)
		if err != nil || kept.ClientID != "mine" || kept.ClientSecret != "" {
			t.Errorf("kept %+v, %v", *kept, err)
		}
		// Another client in the configuration: the token is not its own.
		w.s.Close()
		w.as.set(func() { w.as.clients["other"] = client{"other-secret", "http://127.0.0.1:3118/callback"} })
		conf := config.OAuth{ClientID: "other", ClientSecret: "other-secret", RedirectPort: 3118}
		w.open(Options{Store: store, Config: conf})
		w.works(t)
		w.askedTimes(t, 2)
	})
}

// If the fixed port is taken, no other one is used, and the error names it.
func TestFixedPortTaken(t *testing.T) {
	live(t, Options{Config: config.OAuth{ClientID: "mine", RedirectPort: 3118}}, func(t *testing.T, w *world) {
		w.net.taken["127.0.0.1:3118"] = true
		e := fails[*Error](t, w)
		if !strings.Contains(e.Error(), "3118") {
			t.Errorf("%v", e)
		}
	})
}

// A client ID metadata document is used where the server supports them, and registration where it does not.
func TestClientMetadataDocument(t *testing.T) {
	const document = "https://hub.example/client.json"
	live(t, Options{Config: config.OAuth{ClientMetadataURL: document}}, func(t *testing.T, w *world) {
		w.works(t)
		if n := w.as.count(registerLine); n != 1 {
			t.Errorf("%d registrations", n)
		}
		w.as.set(func() {
			w.as.knowsDocuments = true
			w.as.clients[document] = client{"", "http://127.0.0.1:40001/callback"}
		})
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.s.current().ClientID; got != document {
			t.Errorf("client id %s", got)
		}
		time.Sleep(2 * time.Hour)
		w.works(t) // the refresh knows the client too
		w.askedTimes(t, 2)
	})
}

func TestRegistrationFits(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	answer := func(v map[string]any) json.RawMessage { b, _ := json.Marshal(v); return b }
	good := Registration{"https://as/r", "http://127.0.0.1:1/callback",
		answer(map[string]any{"client_id": "x", "client_secret_expires_at": 0})}
	tests := map[string]struct {
		change func(g *Registration)
		want   bool
	}{
		"the same":         {func(*Registration) {}, true},
		"another endpoint": {func(g *Registration) { g.Endpoint = "https://other/r" }, false},
		"another redirect": {func(g *Registration) { g.RedirectURL = "http://127.0.0.1:2/callback" }, false},
		"expired": {func(g *Registration) {
			g.Response = answer(map[string]any{"client_id": "x", "client_secret_expires_at": 999_999})
		}, false},
		"not expired": {func(g *Registration) {
			g.Response = answer(map[string]any{"client_id": "x", "client_secret_expires_at": 2_000_000})
		}, true},
		"no client": {func(g *Registration) { g.Response = answer(map[string]any{}) }, false},
		"no JSON":   {func(g *Registration) { g.Response = nil }, false},
	}
	for name, tt := range tests {
		g := good
		tt.change(&g)
		if got := g.fits("https://as/r", "http://127.0.0.1:1/callback", now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var none *Registration
	if none.fits("", "", now) {
		t.Error("a nil registration fits")
	}
}
