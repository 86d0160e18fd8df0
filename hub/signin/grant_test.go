package signin

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
)

func pemOf(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func ecKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func decoded(t *testing.T, part string) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	var v map[string]any
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Client credentials with a secret: no user is asked, scopes and resource are right, and nothing is stored.
func TestClientCredentials(t *testing.T) {
	for method, basic := range map[string]bool{"client_secret_basic": true, "client_secret_post": false} {
		t.Run(method, func(t *testing.T) {
			store := NewMemory()
			live(t, Options{Store: store, Config: config.OAuth{Grant: GrantClientCredentials,
				ClientID: "service", ClientSecret: "service-secret"}}, func(t *testing.T, w *world) {
				w.as.clients["service"] = client{secret: "service-secret"}
				w.as.methods, w.as.challenge = []string{method}, "read"
				w.works(t)
				form := w.as.forms[0]
				if form.Get("resource") != mcpURL || form.Get("scope") != "read" || (form.Get("client_secret") == "") != basic {
					t.Errorf("form %v", form)
				}
				time.Sleep(2 * time.Hour)
				w.works(t) // the grant again, not a refresh
				if n := w.as.count(tokenLine + "client_credentials"); n != 2 {
					t.Errorf("%d token requests", n)
				}
				w.askedTimes(t, 0)
				if kept, _ := store.Load(t.Context(), w.s.key); kept != nil {
					t.Errorf("kept %v", kept)
				}
			})
		})
	}
}

// Client credentials with a private key: the assertion is for this issuer, short-lived, and its signature is right.
func TestClientCredentialsPrivateKey(t *testing.T) {
	key := ecKey(t)
	live(t, Options{Config: config.OAuth{Grant: GrantClientCredentials, ClientID: "service", PrivateKeyPEM: pemOf(t, key),
		SigningAlgorithm: "ES256"}}, func(t *testing.T, w *world) {
		w.as.clients["service"] = client{}
		w.works(t)
		form := w.as.forms[0]
		if form.Get("client_assertion_type") != assertionBearer || form.Get("client_id") != "service" ||
			form.Has("client_secret") {
			t.Errorf("form %v", form)
		}
		parts := strings.Split(form.Get("client_assertion"), ".")
		if len(parts) != 3 {
			t.Fatalf("%d parts", len(parts))
		}
		if diff := cmp.Diff(map[string]any{"alg": "ES256", "typ": "JWT"}, decoded(t, parts[0])); diff != "" {
			t.Error(diff)
		}
		claims := decoded(t, parts[1])
		now := float64(time.Now().Unix())
		if claims["iss"] != "service" || claims["sub"] != "service" || claims["aud"] != issuerAS || claims["jti"] == "" ||
			claims["iat"] != now || claims["exp"] != now+assertionLife.Seconds() {
			t.Errorf("claims %v", claims)
		}
		sig, err := base64.RawURLEncoding.DecodeString(parts[2])
		if err != nil || len(sig) != 64 {
			t.Fatalf("signature of %d bytes, %v", len(sig), err)
		}
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if !ecdsa.Verify(&key.PublicKey, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
			t.Error("the signature is wrong")
		}
	})
}

func TestSignerKeys(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ec := ecKey(t)
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, algorithm, want string }{
		"EC":          {pemOf(t, ec), "", "ES256"},
		"EC in SEC 1": {string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})), "ES256", "ES256"},
		"EC 384":      {pemOf(t, p384), "", "ES384"}, "RSA": {pemOf(t, rs), "RS256", "RS256"},
		"Ed25519":         {pemOf(t, ed), "", "EdDSA"},
		"wrong algorithm": {pemOf(t, ec), "RS256", ""}, "none": {pemOf(t, ec), "none", ""},
		"EC 521": {pemOf(t, p521), "", ""},
		"no PEM": {"key", "", ""}, "no key": {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "", ""},
	} {
		s, err := newSigner(tt.text, tt.algorithm)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s: accepted as %s", name, s.algorithm)
			}
			continue
		}
		if err != nil || s.algorithm != tt.want {
			t.Errorf("%s: %v, %v", name, s, err)
			continue
		}
		if text, err := s.assertion("c", "a", time.Now()); err != nil || strings.Count(text, ".") != 2 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// provider is an identity provider at https://idp.example, which changes ID tokens into assertions for as.example, and
// an authorization server that takes those: with the client's secret in the header, as its metadata asks.
type provider struct {
	*authority
	noMetadata bool
	exchanges  []url.Values
	bearer     []url.Values
	basic      []string
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	switch {
	case r.URL.Host == "idp.example" && r.URL.Path == "/.well-known/openid-configuration" && !p.noMetadata:
		reply(w, http.StatusOK, map[string]any{"issuer": "https://idp.example",
			"authorization_endpoint": "https://idp.example/a",
			"token_endpoint":         "https://idp.example/t", "code_challenge_methods_supported": []string{"S256"}})
	case r.URL.Host == "idp.example" && r.URL.Path == "/t":
		p.exchanges = append(p.exchanges, r.PostForm)
		reply(w, http.StatusOK, map[string]any{"access_token": "id-jag", "token_type": "N_A",
			"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "expires_in": 60})
	case r.URL.Path == "/token" && r.PostForm.Get("grant_type") == grantJWTBearer:
		p.bearer = append(p.bearer, r.PostForm)
		id, secret, _ := r.BasicAuth()
		p.basic = append(p.basic, id+":"+secret)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.tokenError != "" {
			reply(w, http.StatusBadRequest, map[string]string{"error": p.tokenError,
				"error_description": r.PostForm.Get("assertion")})
			return
		}
		if thumbprint, ok := p.provenRequest(w, r); ok {
			p.give(w, r.PostForm.Get("scope"), thumbprint)
		}
	default:
		p.authority.ServeHTTP(w, r)
	}
}

// Enterprise-managed authorization: ID token -> assertion at the identity provider -> token; no user is asked.
func TestEnterpriseGrant(t *testing.T) {
	for name, endpoint := range map[string]string{"endpoint configured": "https://idp.example/t",
		"endpoint discovered": ""} {
		t.Run(name, func(t *testing.T) {
			conf := config.OAuth{Grant: GrantEnterprise, ClientID: "hub", ClientSecret: "hub-secret",
				IDP: config.IdentityProvider{Issuer: "https://idp.example", TokenEndpoint: endpoint, ClientID: "hub-at-idp",
					IDToken: "the-id-token"}}
			live(t, Options{Config: conf}, func(t *testing.T, w *world) {
				p := &provider{authority: w.as, noMetadata: endpoint != ""}
				w.as.methods = []string{"client_secret_basic"}
				w.s.guard.Base = inProcess{p}
				w.works(t)
				want := url.Values{"audience": {issuerAS}, "resource": {mcpURL}, "subject_token": {"the-id-token"},
					"client_id": {"hub-at-idp"}}
				for k := range want {
					if p.exchanges[0].Get(k) != want.Get(k) {
						t.Errorf("%s: %q", k, p.exchanges[0].Get(k))
					}
				}
				if p.bearer[0].Get("assertion") != "id-jag" || p.basic[0] != "hub:hub-secret" {
					t.Errorf("%v, %s", p.bearer[0], p.basic[0])
				}
				w.askedTimes(t, 0)
			})
		})
	}
}

// Workload identity: the JWT is the grant. A refusal is returned, without a second try.
func TestWorkloadGrant(t *testing.T) {
	live(t, Options{Config: config.OAuth{Grant: GrantWorkload, WorkloadToken: "the-workload-jwt"}},
		func(t *testing.T, w *world) {
			p := &provider{authority: w.as}
			w.as.methods = []string{"none"}
			w.s.guard.Base = inProcess{p}
			w.as.tokenError = "unauthorized_client"
			if e := fails[*Error](t, w); e.Code != "unauthorized_client" || len(p.bearer) != 1 {
				t.Errorf("%v after %d requests", e, len(p.bearer))
			}
			w.as.set(func() { w.as.tokenError = "" })
			w.works(t)
			if p.bearer[1].Get("assertion") != "the-workload-jwt" {
				t.Errorf("%v", p.bearer[1])
			}
		})
}

func TestConfigChecks(t *testing.T) {
	key := pemOf(t, ecKey(t))
	enterprise := config.OAuth{Grant: GrantEnterprise, ClientID: "c",
		IDP: config.IdentityProvider{Issuer: "https://i", ClientID: "d", IDToken: "t"}}
	for name, tt := range map[string]struct {
		c  config.OAuth
		ok bool
	}{
		"zero":               {config.OAuth{}, true},
		"document":           {config.OAuth{ClientMetadataURL: "https://hub.example/client.json"}, true},
		"document by http":   {config.OAuth{ClientMetadataURL: "http://hub.example/client.json"}, false},
		"document at root":   {config.OAuth{ClientMetadataURL: "https://hub.example/"}, false},
		"credentials":        {config.OAuth{Grant: GrantClientCredentials, ClientID: "c", ClientSecret: "s"}, true},
		"credentials by key": {config.OAuth{Grant: GrantClientCredentials, ClientID: "c", PrivateKeyPEM: key}, true},
		"both": {config.OAuth{Grant: GrantClientCredentials, ClientID: "c", ClientSecret: "s", PrivateKeyPEM: key},
			false},
		"no secret":  {config.OAuth{Grant: GrantClientCredentials, ClientID: "c"}, false},
		"no client":  {config.OAuth{Grant: GrantClientCredentials, ClientSecret: "s"}, false},
		"bad key":    {config.OAuth{Grant: GrantClientCredentials, ClientID: "c", PrivateKeyPEM: "k"}, false},
		"enterprise": {enterprise, true},
		"enterprise, no IDP": {config.OAuth{Grant: GrantEnterprise, ClientID: "c",
			IDP: config.IdentityProvider{ClientID: "d", IDToken: "t"}}, false},
		"workload":            {config.OAuth{Grant: GrantWorkload, WorkloadToken: "t"}, true},
		"workload, no token":  {config.OAuth{Grant: GrantWorkload}, false},
		"workload file":       {config.OAuth{Grant: GrantWorkload, WorkloadTokenFile: "/f"}, true},
		"workload, both":      {config.OAuth{Grant: GrantWorkload, WorkloadToken: "t", WorkloadTokenFile: "/f"}, false},
		"DPoP":                {config.OAuth{DPoP: DPoPRequire}, true},
		"no DPoP":             {config.OAuth{DPoP: DPoPOff}, true},
		"enterprise, no more": {config.OAuth{Grant: GrantEnterprise}, false},
	} {
		_, err := New(Options{Server: "files", ServerURL: mcpURL, Config: tt.c})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"", "mcp.example", "ftp://mcp.example", "https://", "://"} {
		if _, err := New(Options{Server: "files", ServerURL: address}); err == nil {
			t.Errorf("%q is taken for a server", address)
		}
	}
}
