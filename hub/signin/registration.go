package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

var errNoRegistration = errors.New(
	"no configured client registration methods are supported by the authorization server")

// Registration is a client that was registered at the authorization server by the hub (RFC 7591).
type Registration struct {
	// Endpoint is the address at which the client was registered, RedirectURL the redirect URI that it was registered
	// with.
	Endpoint    string `json:"endpoint"`
	RedirectURL string `json:"redirectUrl"`
	// Response is the server's answer. It may have a client secret.
	Response json.RawMessage `json:"response"`
}

// newRegistration registers a client. public says that the authorization server accepts clients without a secret.
func newRegistration(ctx context.Context, client *http.Client, endpoint, redirectURL string,
	public bool) (*Registration, error) {
	meta := &oauthex.ClientRegistrationMetadata{
		ClientName: "McpHub", ApplicationType: "native", RedirectURIs: []string{redirectURL},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}
	if public {
		meta.TokenEndpointAuthMethod = "none" // a program on a user's computer cannot keep a secret (RFC 8252 section 8.5)
	}
	made, err := oauthex.RegisterClient(ctx, endpoint, meta, client)
	if err != nil {
		return nil, fmt.Errorf("failed to register client: %w", err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	return &Registration{Endpoint: endpoint, RedirectURL: redirectURL, Response: text}, nil
}

// client returns the registered client; the zero value if it cannot be read.
func (g *Registration) client() (c oauthex.ClientRegistrationResponse) {
	if g == nil || json.Unmarshal(g.Response, &c) != nil {
		return oauthex.ClientRegistrationResponse{}
	}
	return c
}

// fits reports whether g can be used instead of a new registration at endpoint for redirectURL.
func (g *Registration) fits(endpoint, redirectURL string, now time.Time) bool {
	if g == nil || g.Endpoint != endpoint || g.RedirectURL != redirectURL {
		return false
	}
	c := g.client()
	return c.ClientID != "" && (c.ClientSecretExpiresAt.IsZero() || now.Add(time.Minute).Before(c.ClientSecretExpiresAt))
}
