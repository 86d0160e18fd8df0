// Command driver is the host that the conformance suite starts for each scenario, as `driver URL`. Like an editor, it
// opens the mcphub named by MCPHUB_BINARY by its gRPC contract. It configures one server with that URL, attaches a
// window that answers prompts like a cooperative user, and does what the scenario asks for.
//
// What must not live here: anything that compensates for the hub. The hub negotiates, retries, signs in and resumes by
// itself.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// envBinary is the variable that names the hub's binary.
	envBinary = "MCPHUB_BINARY"
	// peer is the name of the suite's server in the hub's config.
	peer = "peer"
	// limit is shorter than that of the suite, so that the error says what did not end.
	limit = 50 * time.Second
	// closeLimit bounds the end of the hub.
	closeLimit = 5 * time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	s, err := scenario.Parse(os.Args[1:], os.Getenv)
	if err != nil {
		return err
	}
	binary := os.Getenv(envBinary)
	if binary == "" {
		return errors.New(envBinary + " must name the hub to test")
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the scenario took longer than "+
		limit.String()))
	defer cancel()
	// No state is kept: each scenario starts like a first use.
	hub, err := host.Open(ctx, host.Options{Command: binary, Env: []string{handshake.EnvStateDir + "="},
		Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeoutCause(context.Background(), closeLimit,
			errors.New("the hub took too long to end"))
		defer cancel()
		err = errors.Join(err, hub.Close(closing))
	}()
	if err := configure(ctx, hub, s); err != nil {
		return err
	}
	// The window comes first: the hub does not offer a server capabilities for which no window can be asked.
	u, err := attach(ctx, door.NewClient(hub.Conn(), hub))
	if err != nil {
		return fmt.Errorf("attaching a window: %w", err)
	}
	err = scenario.Run(ctx, s, hubClient{hub})
	return errors.Join(err, u.close())
}

func configure(ctx context.Context, hub *host.Client, s scenario.Scenario) error {
	text, err := config(s)
	if err != nil {
		return err
	}
	r, err := hub.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "conformance.json", Json: text}},
	})
	if err != nil {
		return fmt.Errorf("configuring: %w", err)
	}
	var problems []error
	for _, p := range r.GetProblems() {
		problems = append(problems, fmt.Errorf("config: key %q: %s", p.GetKey(), p.GetMessage()))
	}
	return errors.Join(problems...)
}

// config returns the config for the hub, with what a user of the server would know: its address, and for sign-in the
// values that the scenario provides.
func config(s scenario.Scenario) (string, error) {
	type object = map[string]any
	entry := object{"type": "http", "url": s.URL, "approvals": object{"*": "allow"}}
	if strings.HasPrefix(s.Name, "auth/") {
		c := s.Context
		oauth := object{"clientId": c.ClientID, "clientSecret": c.ClientSecret, "grant": s.Grant(),
			"privateKeyPem": c.PrivateKeyPEM, "signingAlgorithm": c.SigningAlgorithm, "workloadToken": c.WorkloadToken}
		maps.DeleteFunc(oauth, func(_ string, value any) bool { return value == "" })
		if c.ClientID == "" {
			oauth["clientMetadataUrl"] = scenario.ClientMetadataURL
		}
		if c.IDPIssuer != "" {
			oauth["idp"] = object{"issuer": c.IDPIssuer, "tokenEndpoint": c.IDPTokenEndpoint, "clientId": c.IDPClientID,
				"idToken": c.IDPIDToken}
		}
		entry["oauth"] = oauth
	}
	text, err := json.Marshal(object{"mcpServers": object{peer: entry}})
	return string(text), err
}

// hubClient makes the hub the client of a scenario. The hub connects on first use.
type hubClient struct{ hub *host.Client }

func (c hubClient) ListTools(ctx context.Context) ([]scenario.Tool, error) {
	r, err := c.hub.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	var tools []scenario.Tool
	for _, t := range r.GetTools() {
		var definition struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal([]byte(t.GetDefinitionJson()), &definition); err != nil {
			return nil, fmt.Errorf("the definition of %q: %w", t.GetName(), err)
		}
		tools = append(tools, scenario.Tool{Name: t.GetName(), InputSchema: definition.InputSchema})
	}
	return tools, nil
}

func (c hubClient) CallTool(ctx context.Context, name string, arguments json.RawMessage) error {
	r, err := c.hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: peer, Tool: name,
		ArgumentsJson: string(arguments)})
	if err != nil {
		return fmt.Errorf("calling %q: %w", name, err)
	}
	return answered("calling", name, r.GetError())
}

func (c hubClient) ListResources(ctx context.Context) (uris []string, err error) {
	r, err := c.hub.Servers.ListResources(ctx, &mcphubv1.ListResourcesRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	for _, resource := range r.GetResources() {
		uris = append(uris, resource.GetUri())
	}
	return uris, nil
}

func (c hubClient) ReadResource(ctx context.Context, uri string) error {
	r, err := c.hub.Servers.ReadResource(ctx, &mcphubv1.ReadResourceRequest{Server: peer, Uri: uri})
	if err != nil {
		return fmt.Errorf("reading %q: %w", uri, err)
	}
	return answered("reading", uri, r.GetError())
}

func (c hubClient) ListPrompts(ctx context.Context) (names []string, err error) {
	r, err := c.hub.Servers.ListMcpPrompts(ctx, &mcphubv1.ListMcpPromptsRequest{Server: peer})
	if err != nil {
		return nil, err
	}
	for _, p := range r.GetPrompts() {
		names = append(names, p.GetName())
	}
	return names, nil
}

func (c hubClient) GetPrompt(ctx context.Context, name string) error {
	r, err := c.hub.Servers.GetMcpPrompt(ctx, &mcphubv1.GetMcpPromptRequest{Server: peer, Name: name})
	if err != nil {
		return fmt.Errorf("getting %q: %w", name, err)
	}
	return answered("getting", name, r.GetError())
}

// answered returns an error of the server as a Go error.
func answered(doing, what string, e *mcphubv1.McpError) error {
	if e == nil {
		return nil
	}
	return fmt.Errorf("%s %q: the server answered %d: %s", doing, what, e.GetCode(), e.GetMessage())
}
