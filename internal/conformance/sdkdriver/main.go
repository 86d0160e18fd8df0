// Command sdkdriver is the control of the conformance tests: the client of the official Go SDK in the scenarios that
// the suite requires. It is known to pass them, so if it fails a scenario, the harness, the machine or the suite is at
// fault.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
)

// limit is shorter than that of the suite, so that the error says what did not end.
const limit = 50 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sdkdriver:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	s, err := scenario.Parse(os.Args[1:], os.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the scenario took longer than "+
		limit.String()))
	defer cancel()
	handler, err := authorization(s)
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "mcphub-control", Version: "1.0.0"},
		&mcp.ClientOptions{ElicitationHandler: elicit})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.URL, OAuthHandler: handler}, nil)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	err = scenario.Run(ctx, s, sdkClient{session})
	return errors.Join(err, session.Close())
}

func elicit(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	schema, err := json.Marshal(r.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	answer, err := scenario.FormAnswer(schema)
	if err != nil {
		return nil, err
	}
	result := &mcp.ElicitResult{Action: "accept"}
	return result, json.Unmarshal(answer, &result.Content)
}

type sdkClient struct{ session *mcp.ClientSession }

func (c sdkClient) ListTools(ctx context.Context) ([]scenario.Tool, error) {
	var tools []scenario.Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		tools = append(tools, scenario.Tool{Name: t.Name, InputSchema: schema})
	}
	return tools, nil
}

func (c sdkClient) CallTool(ctx context.Context, name string, arguments json.RawMessage) error {
	_, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	return err
}

func (c sdkClient) ListResources(ctx context.Context) (uris []string, err error) {
	for r, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, r.URI)
	}
	return uris, nil
}

func (c sdkClient) ReadResource(ctx context.Context, uri string) error {
	_, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	return err
}

func (c sdkClient) ListPrompts(ctx context.Context) (names []string, err error) {
	for p, err := range c.session.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, p.Name)
	}
	return names, nil
}

func (c sdkClient) GetPrompt(ctx context.Context, name string) error {
	_, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name})
	return err
}

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
