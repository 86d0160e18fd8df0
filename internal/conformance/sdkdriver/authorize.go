package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
)

// redirectURL is where the suite's authorization server sends the code. Nothing listens there: the code is read from
// the redirect itself.
const redirectURL = "http://127.0.0.1:33418/callback"

// authorization returns nil if the scenario wants no authorization, since the SDK's handler would start a flow at any
// 401.
func authorization(s scenario.Scenario) (auth.OAuthHandler, error) {
	if !strings.HasPrefix(s.Name, "auth/") {
		return nil, nil
	}
	if grant := s.Grant(); grant != "" {
		return nil, fmt.Errorf("the control does not do the grant %s", grant)
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:                    redirectURL,
		AuthorizationCodeFetcher:       fetchCode,
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: scenario.ClientMetadataURL},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirectURL}},
		},
	}
	if c := s.Context; c.ClientID != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{
			ClientID:         c.ClientID,
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: c.ClientSecret},
		}
	}
	return auth.NewAuthorizationCodeHandler(config)
}

func fetchCode(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	back, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization server answered %s: %w", response.Status, err)
	}
	q := back.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
