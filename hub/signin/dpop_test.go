package signin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
)

// wantsProofs makes the servers of the world ask for bound tokens.
func wantsProofs(w *world) {
	w.as.dpop.algorithms, w.as.dpop.scheme = []string{"ES384", "ES256"}, "DPoP"
}

// proofs returns the proofs that were valid.
func (w *world) proofs() []claims {
	w.as.mu.Lock()
	defer w.as.mu.Unlock()
	return slices.Clone(w.as.dpop.proven)
}

// calls counts the requests to the MCP server.
func (w *world) calls() int { return w.as.count("POST mcp.example/mcp") }

// A server that asks for bound tokens gets them, with a fresh proof for each request; the authority checks each part of
// it. The code is bound to the key, too, and the key is kept with the token.
func TestDPoPBindsTokens(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		wantsProofs(w)
		for range 3 {
			w.works(t)
		}
		key := w.s.current().ProofKey
		if got := w.proofs(); len(got) != 4 || got[0].of != key.thumbprint || got[3].of != key.thumbprint ||
			got[0].HTU != issuerAS+"/token" {
			t.Errorf("proofs %+v", got)
		}
		consent, _ := w.asked()
		if u, err := url.Parse(consent[0].URL); err != nil || u.Query().Get("dpop_jkt") != key.thumbprint {
			t.Errorf("%v: the code is not bound", err)
		}
		w.s.Close()
		w.open(Options{Store: store}) // the next run
		w.works(t)
		w.askedTimes(t, 1)
		if got := w.proofs(); len(got) != 5 || got[4].of != key.thumbprint {
			t.Errorf("proofs %+v", got)
		}
	})
}

// A proof is for the method and the address of its request, whatever they are; the query is no part of it.
func TestDPoPProofsFitTheRequest(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.works(t)
		for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPost} {
			req, err := http.NewRequest(method, "https://MCP.example:443/a%2Fb?key=1", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.URL.Host = "mcp.example"
			if err := w.s.Sign(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			c, err := w.as.dpop.verify(req, "https://mcp.example/a%2Fb", w.s.current().AccessToken)
			if err != nil || c.Nonce != "" {
				t.Errorf("%s: %v, %+v", method, err, c)
			}
		}
	})
}

// Both servers want a nonce of their own: each request is sent once more with it, the next ones have it from the start,
// and a new one is taken from any answer.
func TestDPoPNonces(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.as.dpop.asNonce, w.as.dpop.rsNonce = "as-1", "rs-1"
		w.works(t)
		if tokens, calls := w.as.count(tokenLine), w.calls(); tokens != 2 || calls != 3 {
			t.Errorf("%d token requests, %d calls", tokens, calls)
		}
		w.as.set(func() { w.as.dpop.nextNonce = "rs-2" })
		w.works(t) // with rs-1; its answer brings rs-2
		w.works(t)
		if calls := w.calls(); calls != 5 {
			t.Errorf("%d calls", calls)
		}
		w.as.set(func() { w.as.dpop.rsNonce = "rs-3" })
		w.works(t) // refused, and sent again
		if calls := w.calls(); calls != 7 {
			t.Errorf("%d calls", calls)
		}
		time.Sleep(2 * time.Hour)
		w.works(t) // the refresh has the nonce of the token endpoint
		if tokens := w.as.count(tokenLine); tokens != 3 {
			t.Errorf("%d token requests", tokens)
		}
		w.askedTimes(t, 1)
	})
}

// Many calls at once need a new nonce; each is sent once more, and no call asks for a sign-in.
func TestDPoPNonceForManyCalls(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.as.dpop.rsNonce = "one"
		w.works(t)
		for _, nonce := range []string{"two", "three"} {
			w.as.set(func() { w.as.dpop.rsNonce = nonce })
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() {
					if status, err := w.call(t.Context()); status != http.StatusOK || err != nil {
						t.Errorf("status %d, %v", status, err)
					}
				})
			}
			calls.Wait()
		}
		w.askedTimes(t, 1)
		if n := w.as.count(tokenLine); n != 1 {
			t.Errorf("%d token requests", n)
		}
	})
}

// If a server accepts no nonce, the call fails after the second try; nobody is asked to sign in: that would not help.
func TestDPoPNonceWithoutEnd(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		live(t, Options{}, func(t *testing.T, w *world) {
			wantsProofs(w)
			w.works(t)
			before := w.calls()
			w.as.set(func() { w.as.dpop.endless = true })
			if e := fails[*RefusedError](t, w); !strings.Contains(e.Text, "nonce") {
				t.Error(e)
			}
			if n := w.calls() - before; n != 2 {
				t.Errorf("%d calls", n)
			}
			w.askedTimes(t, 1)
			if n := w.as.count(tokenLine); n != 1 {
				t.Errorf("%d token requests", n)
			}
		})
	})
	t.Run("token endpoint", func(t *testing.T) {
		live(t, Options{}, func(t *testing.T, w *world) {
			wantsProofs(w)
			w.as.dpop.endless = true
			if e := fails[*Error](t, w); e.Code != errorUseNonce {
				t.Error(e)
			}
			if n := w.as.count(tokenLine); n != 2 {
				t.Errorf("%d token requests", n)
			}
		})
	})
}

// A refresh is proved with the key of the sign-in: for a public client the refresh token is bound to it.
func TestDPoPRefresh(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.works(t)
		key := w.s.current().ProofKey.thumbprint
		for range 2 {
			time.Sleep(2 * time.Hour)
			w.works(t)
			w.s.Close()
			w.open(Options{Store: store})
		}
		w.as.revoke()
		w.works(t) // refused before its time
		for _, c := range w.proofs() {
			if c.of != key {
				t.Errorf("a proof of another key: %+v", c)
			}
		}
		w.askedTimes(t, 1)
		if n := w.as.count(tokenLine + "refresh_token"); n != 3 {
			t.Errorf("%d refreshes", n)
		}
	})
}

// When tokens are bound: as the servers say, or as the user says.
func TestDPoPChoice(t *testing.T) {
	es := []string{"ES256"}
	rs := []string{"RS256"}
	for name, tt := range map[string]struct {
		choice string
		d      demands
		want   string // "Bearer", "DPoP", or a part of an error
	}{
		"nobody":                     {"", demands{}, "Bearer"},
		"authorization server alone": {"", demands{algorithms: es}, "Bearer"},
		"challenge":                  {"", demands{algorithms: es, scheme: "DPoP"}, "DPoP"},
		"challenge with algorithms":  {"", demands{algorithms: es, scheme: `DPoP algs="ES256 RS256",`}, "DPoP"},
		"challenge with others":      {"", demands{algorithms: es, scheme: `DPoP algs="RS256",`}, "Bearer"},
		"both challenges": {"", demands{algorithms: es, scheme: `Bearer error="invalid_token", DPoP`},
			"DPoP"},
		"server lists algorithms":         {"", demands{algorithms: es, rsAlgorithms: es}, "DPoP"},
		"server lists others":             {"", demands{algorithms: es, rsAlgorithms: rs}, "Bearer"},
		"authorization server can not":    {"", demands{rsAlgorithms: es}, "Bearer"},
		"authorization server has others": {"", demands{algorithms: rs, rsAlgorithms: es}, "Bearer"},
		"server requires":                 {"", demands{algorithms: es, rsRequired: true}, "DPoP"},
		"server requires, none listed":    {"", demands{rsRequired: true}, "DPoP"},
		"server requires others": {"", demands{algorithms: es, rsRequired: true, rsAlgorithms: rs},
			"none of the algorithms"},
		"server requires, others listed":      {"", demands{algorithms: rs, rsRequired: true}, "none of the algorithms"},
		"server requires, binds nothing":      {"", demands{rsRequired: true, ignore: true}, "does not bind tokens"},
		"wanted, and ignored":                 {"", demands{algorithms: es, scheme: "DPoP", ignore: true}, "Bearer"},
		"user requires":                       {DPoPRequire, demands{}, "DPoP"},
		"user requires, others listed":        {DPoPRequire, demands{algorithms: rs}, "none of the algorithms"},
		"user requires, server binds nothing": {DPoPRequire, demands{ignore: true}, "does not bind tokens"},
		"user wants none":                     {DPoPOff, demands{algorithms: es, scheme: "DPoP", rsAlgorithms: es}, "Bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, Options{Config: config.OAuth{DPoP: tt.choice}}, func(t *testing.T, w *world) {
				tt.d.bound = w.as.dpop.bound
				w.as.dpop = tt.d
				_, err := w.call(t.Context())
				if tt.want != "Bearer" && tt.want != "DPoP" {
					if err == nil || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("%v, want %q", err, tt.want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				req, err := http.NewRequest(http.MethodPost, mcpURL, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.s.Sign(t.Context(), req); err != nil {
					t.Fatal(err)
				}
				scheme, _, _ := strings.Cut(req.Header.Get("Authorization"), " ")
				if scheme != tt.want || (req.Header.Get("DPoP") != "") != (tt.want == "DPoP") {
					t.Errorf("%v", req.Header)
				}
			})
		})
	}
}

// A refresh token may be bound where the access token is not (RFC 9449 section 5): the key stays, and the refresh is
// proved.
func TestDPoPBoundRefreshOfBearerToken(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.works(t)
		e := *w.s.current()
		w.as.set(func() { delete(w.as.dpop.bound, e.AccessToken) })
		e.TokenType = ""
		w.s.mu.Lock()
		w.s.entry = &e
		w.s.mu.Unlock()
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// A server begins to require bound tokens: a token cannot be bound later, so the user is asked at once.
func TestDPoPServerTurnsToIt(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		w.as.set(func() { wantsProofs(w); w.as.dpop.rsRequired = true })
		w.works(t)
		w.askedTimes(t, 2)
		if n := w.as.count(tokenLine + "refresh_token"); n != 0 {
			t.Errorf("%d refreshes of what was no use", n)
		}
		if e := w.s.current(); e.TokenType != typeDPoP {
			t.Errorf("the token is %q", e.TokenType)
		}
	})
}

// A server that no longer takes bound tokens gets a bearer token after a refresh has not helped.
func TestDPoPServerTurnsFromIt(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.works(t)
		time.Sleep(tooSoon)
		w.as.set(func() { w.as.dpop.scheme, w.as.dpop.algorithms = "", nil; clear(w.as.access); clear(w.as.refreshes) })
		w.works(t)
		if e := w.s.current(); e.TokenType != "" || e.ProofKey != nil {
			t.Errorf("the token is %q", e.TokenType)
		}
		w.askedTimes(t, 2)
	})
}

// The error says that a proof was refused: neither a refresh nor a sign-in could help.
func TestDPoPProofRefused(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.works(t)
		w.as.set(func() { w.as.dpop.refuse = errorProof })
		if e := fails[*RefusedError](t, w); !strings.Contains(e.Text, "clock") {
			t.Error(e)
		}
		w.as.set(func() { w.as.dpop.refuse = "" })
		w.works(t)
		w.askedTimes(t, 1)
		if n := w.as.count(tokenLine); n != 1 {
			t.Errorf("%d token requests", n)
		}
	})
}

// A step-up works with DPoP challenges, too.
func TestDPoPStepUp(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.as.challenge, w.as.required = "read", []string{"read"}
		w.works(t)
		w.as.set(func() { w.as.challenge, w.as.required = "write", []string{"write"} })
		w.works(t)
		if consent, _ := w.asked(); len(consent) != 2 ||
			!slices.Equal(consent[1].Scopes, []string{"read", "write"}) {
			t.Errorf("%+v", consent)
		}
		if e := w.s.current(); e.TokenType != typeDPoP {
			t.Errorf("the token is %q", e.TokenType)
		}
	})
}

// The grants without a user bind their tokens, too, with nonces.
func TestDPoPGrants(t *testing.T) {
	for name, c := range map[string]config.OAuth{
		"client credentials": {Grant: GrantClientCredentials, ClientID: "service", ClientSecret: "service-secret"},
		"workload":           {Grant: GrantWorkload, WorkloadToken: "the-workload-jwt"},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, Options{Config: c}, func(t *testing.T, w *world) {
				wantsProofs(w)
				w.as.dpop.asNonce, w.as.dpop.rsNonce = "as-1", "rs-1"
				w.as.clients["service"] = client{secret: "service-secret"}
				w.s.guard.Base = inProcess{&provider{authority: w.as}}
				w.works(t)
				time.Sleep(2 * time.Hour)
				w.works(t)
				if n := len(w.proofs()); n != 6 { // the second token request has the nonce, and so has the last call
					t.Errorf("%d proofs", n)
				}
				w.askedTimes(t, 0)
			})
		})
	}
}

// Where bound tokens are required no other token is used, at whatever step it comes.
func TestDPoPRequiredAtEachStep(t *testing.T) {
	t.Run("grant", func(t *testing.T) {
		c := config.OAuth{Grant: GrantClientCredentials, ClientID: "service", ClientSecret: "service-secret",
			DPoP: DPoPRequire}
		live(t, Options{Config: c}, func(t *testing.T, w *world) {
			w.as.clients["service"] = client{secret: "service-secret"}
			w.as.dpop.ignore = true
			if e := fails[*Error](t, w); !strings.Contains(e.Text, "does not bind tokens") {
				t.Error(e)
			}
			w.as.set(func() { w.as.dpop.ignore = false })
			w.works(t)
		})
	})
	t.Run("refresh", func(t *testing.T) {
		live(t, Options{Config: config.OAuth{DPoP: DPoPRequire}}, func(t *testing.T, w *world) {
			w.works(t)
			time.Sleep(2 * time.Hour)
			w.as.set(func() { w.as.dpop.ignore = true })
			if e := fails[*Error](t, w); !strings.Contains(e.Text, "does not bind tokens") {
				t.Error(e)
			}
			if e := w.s.current(); e.AccessToken != "" {
				t.Errorf("a token of the type %q is taken", e.TokenType)
			}
		})
	})
}

// A stored token that does not fit the configuration any more is not used.
func TestDPoPKeptTokenFitsTheConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		kept, now string
		want      int // consents
	}{
		"same": {"", "", 1}, "required now": {DPoPOff, DPoPRequire, 2}, "required, and was": {"", DPoPRequire, 1},
		"off now": {"", DPoPOff, 2},
	} {
		t.Run(name, func(t *testing.T) {
			store := NewMemory()
			live(t, Options{Store: store, Config: config.OAuth{DPoP: tt.kept}}, func(t *testing.T, w *world) {
				wantsProofs(w)
				w.works(t)
				w.s.Close()
				w.open(Options{Store: store, Config: config.OAuth{DPoP: tt.now}})
				w.works(t)
				w.askedTimes(t, tt.want)
			})
		})
	}
}

// A hub takes the bound token that another hub of the user has stored, with its key; a token that is not bound is not
// taken where it must be.
func TestDPoPBorrowed(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.as.dpop.rsRequired = true
		if err := w.s.load(t.Context()); err != nil { // the first hub has looked, and there was nothing
			t.Fatal(err)
		}
		first := w.s
		w.open(Options{Store: store})
		w.works(t)
		second := w.s
		w.s = first
		w.works(t)
		w.askedTimes(t, 1)
		time.Sleep(2 * time.Second)
		bearer := *second.current()
		bearer.ProofKey, bearer.TokenType, bearer.AccessToken, bearer.Saved = nil, "", "stray", time.Now()
		if err := store.Save(t.Context(), &bearer); err != nil {
			t.Fatal(err)
		}
		w.as.revoke()
		time.Sleep(tooSoon)
		w.works(t) // by a refresh of its own
		if got := w.s.current(); got.AccessToken == "stray" || got.TokenType != typeDPoP {
			t.Errorf("%v was borrowed", got)
		}
		w.askedTimes(t, 1)
		second.Close()
	})
}

// The refresh of a bound token goes on when no call waits for it any more, and the token stays bound.
func TestDPoPRefreshGoesOnWithoutWaiters(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		wantsProofs(w)
		w.as.dpop.asNonce = "as-1"
		w.works(t)
		time.Sleep(2 * time.Hour)
		slow := make(chan struct{})
		w.as.set(func() { w.as.slow, w.as.dpop.asNonce = slow, "as-2" })
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { _, err := w.call(ctx); done <- err }()
		synctest.Wait()
		stop(errStop)
		<-done
		close(slow)
		synctest.Wait()
		if e := w.s.current(); !e.usable(time.Now()) || e.TokenType != typeDPoP {
			t.Errorf("%v was lost", e)
		}
		w.works(t)
	})
}

// Observe asks for one more try only if a proof was refused because it had no nonce, and the answer has one.
func TestObserveAsksForOneMoreTry(t *testing.T) {
	for name, tt := range map[string]struct {
		status           int
		proof, challenge string
		nonce            []string
		want             bool
	}{
		"asked": {401, "p", `DPoP error="use_dpop_nonce"`, []string{"n"}, true},
		"asked after another": {401, "p", `Bearer error="invalid_token", DPoP algs="ES256", error="use_dpop_nonce"`,
			[]string{"n"}, true},
		"no nonce":          {401, "p", `DPoP error="use_dpop_nonce"`, nil, false},
		"no proof was sent": {401, "", `DPoP error="use_dpop_nonce"`, []string{"n"}, false},
		"other error":       {401, "p", `DPoP error="invalid_token"`, []string{"n"}, false},
		"other scheme":      {401, "p", `Bearer error="use_dpop_nonce"`, []string{"n"}, false},
		"no challenge":      {401, "p", ``, []string{"n"}, false},
		"forbidden":         {403, "p", `DPoP error="use_dpop_nonce"`, []string{"n"}, false},
		"good":              {200, "p", ``, []string{"n"}, false},
	} {
		s, err := New(Options{Server: "files", ServerURL: mcpURL})
		if err != nil {
			t.Fatal(err)
		}
		req := &http.Request{Header: http.Header{}}
		if tt.proof != "" {
			req.Header.Set("DPoP", tt.proof)
		}
		resp := &http.Response{StatusCode: tt.status, Header: http.Header{"Www-Authenticate": {tt.challenge},
			"Dpop-Nonce": tt.nonce}}
		if got := s.Observe(req, resp); got != tt.want || (s.nonces.of("") == "n") != (tt.nonce != nil) {
			t.Errorf("%s: %v, nonce %q", name, got, s.nonces.of(""))
		}
		s.Close()
	}
}
