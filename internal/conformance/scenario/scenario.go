// Package scenario holds what a client does when the conformance suite starts it: which tools it calls, what it reads,
// and how it answers.
//
// It is independent of the client: the driver for the hub and the control with the Go SDK each have their own. What
// must not live here: anything that a client should do by itself, such as setting headers, retrying with a token, or
// resuming a broken stream.
package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// The environment in which the suite starts a client.
const (
	envName    = "MCP_CONFORMANCE_SCENARIO"
	envContext = "MCP_CONFORMANCE_CONTEXT" // set only if a scenario has a context
)

// Scenario is a scenario that the suite runs.
type Scenario struct {
	Name    string
	URL     string // of the suite's server
	Context Context
}

// Context holds what a scenario tells the client in advance.
type Context struct {
	// A client that was registered by hand.
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	PrivateKeyPEM    string `json:"private_key_pem"`
	SigningAlgorithm string `json:"signing_algorithm"`
	// The identity provider of enterprise-managed authorization.
	IDPClientID      string `json:"idp_client_id"`
	IDPIDToken       string `json:"idp_id_token"`
	IDPIssuer        string `json:"idp_issuer"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`
	// The JWT of a workload. (The suite also provides two invalid ones; nothing says which of the three to send.)
	WorkloadToken string `json:"valid_jwt"`
	// Calls to make.
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// ClientMetadataURL is the client id for which the suite's authorization server has a metadata document.
const ClientMetadataURL = "https://conformance-test.local/client-metadata.json"

// Parse reads the arguments, without the program, and the environment with which the suite starts a client.
func Parse(args []string, getenv func(string) string) (Scenario, error) {
	s := Scenario{Name: getenv(envName)}
	if len(args) != 1 || s.Name == "" {
		return s, errors.New("the suite starts this: one argument, the URL of its server, and " + envName +
			" in the environment")
	}
	s.URL = args[0]
	if text := getenv(envContext); text != "" {
		if err := json.Unmarshal([]byte(text), &s.Context); err != nil {
			return s, fmt.Errorf("%s: %w", envContext, err) // json's errors quote no values
		}
	}
	return s, nil
}

// Grant returns how the client has to get its token in the scenario: "" (a person signs in), "client_credentials",
// "enterprise" or "workload_identity".
func (s Scenario) Grant() string {
	switch s.Name {
	case "auth/client-credentials-jwt", "auth/client-credentials-basic":
		return "client_credentials"
	case "auth/enterprise-managed-authorization", "auth/cross-app-access-complete-flow":
		return "enterprise"
	case "auth/wif-jwt-bearer":
		return "workload_identity"
	}
	return ""
}

// Client is a client that is connected to the suite's server, or connects on first use.
type Client interface {
	// ListTools returns the tools of all pages.
	ListTools(ctx context.Context) ([]Tool, error)
	// CallTool calls a tool with the JSON text of an object. An error that the server answers is an error here, too.
	CallTool(ctx context.Context, name string, arguments json.RawMessage) error
	// ListResources returns the URIs of the resources.
	ListResources(ctx context.Context) ([]string, error)
	ReadResource(ctx context.Context, uri string) error
	// ListPrompts returns the names of the prompts.
	ListPrompts(ctx context.Context) ([]string, error)
	GetPrompt(ctx context.Context, name string) error
}

// Tool is a tool as the server lists it.
type Tool struct {
	Name        string
	InputSchema json.RawMessage
}

// empty holds the arguments of a call that needs none.
var empty = json.RawMessage(`{}`)

// Run does what the scenario asks for. An error means that the client could not do it; the suite judges whether that is
// right.
func Run(ctx context.Context, s Scenario, c Client) error {
	if strings.HasPrefix(s.Name, "auth/") {
		return callNamed(ctx, c, "test-tool", empty)
	}
	switch s.Name {
	case "initialize", "request-metadata", "json-schema-ref-no-deref":
		_, err := c.ListTools(ctx)
		return err
	case "tools_call":
		return callNamed(ctx, c, "add_numbers", json.RawMessage(`{"a":5,"b":3}`))
	case "elicitation-sep1034-client-defaults":
		return callNamed(ctx, c, "test_client_elicitation_defaults", empty)
	case "sse-retry":
		return callNamed(ctx, c, "test_reconnection", empty)
	case "sep-2322-client-request-state":
		return callEach(ctx, c, "test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state",
			"test_mrtr_no_result_type")
	case "json-schema-2020-12-preservation":
		return echoSchema(ctx, c)
	case "http-standard-headers":
		return everyVerb(ctx, c)
	case "http-custom-headers":
		return callsOfContext(ctx, c, s.Context)
	case "http-invalid-tool-headers":
		return callAll(ctx, c)
	}
	if strings.HasPrefix(s.Name, "sep-2640-") {
		return readAll(ctx, c)
	}
	return fmt.Errorf("the scenario %q is not known: look what it wants, and add it", s.Name)
}

// callNamed lists the tools first, since a client may learn from the list how a tool has to be called.
func callNamed(ctx context.Context, c Client, name string, arguments json.RawMessage) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	if !slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == name }) {
		return fmt.Errorf("the tool %q is not listed", name)
	}
	return c.CallTool(ctx, name, arguments)
}

func callEach(ctx context.Context, c Client, names ...string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, callNamed(ctx, c, name, empty))
	}
	return errors.Join(errs...)
}

func echoSchema(ctx context.Context, c Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == "json_schema_2020_12_tool" })
	if i < 0 {
		return errors.New("the tool with the schema is not listed")
	}
	arguments, err := json.Marshal(map[string]json.RawMessage{"schema": tools[i].InputSchema})
	if err != nil {
		return err
	}
	return c.CallTool(ctx, "json_schema_echo", arguments)
}

// everyVerb makes one request of each kind that has a name or URI.
func everyVerb(ctx context.Context, c Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	uris, err := c.ListResources(ctx)
	if err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	prompts, err := c.ListPrompts(ctx)
	if err != nil {
		return fmt.Errorf("listing prompts: %w", err)
	}
	if len(tools) == 0 || len(uris) == 0 || len(prompts) == 0 {
		return fmt.Errorf("%d tools, %d resources and %d prompts are listed: one of each is needed", len(tools), len(uris),
			len(prompts))
	}
	return errors.Join(
		c.CallTool(ctx, tools[0].Name, empty),
		c.ReadResource(ctx, uris[0]),
		c.GetPrompt(ctx, prompts[0]),
	)
}

func callsOfContext(ctx context.Context, c Client, given Context) error {
	if len(given.ToolCalls) == 0 {
		return errors.New("the suite gave no calls to make")
	}
	if _, err := c.ListTools(ctx); err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	var errs []error
	for _, call := range given.ToolCalls {
		errs = append(errs, c.CallTool(ctx, call.Name, call.Arguments))
	}
	return errors.Join(errs...)
}

// callAll calls every tool that is left in the list. Here, the suite allows the client to fail.
func callAll(ctx context.Context, c Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	var errs []error
	for _, t := range tools {
		errs = append(errs, c.CallTool(ctx, t.Name, json.RawMessage(`{"region":"us-west1"}`)))
	}
	return errors.Join(errs...)
}

// readAll does what a client without support for skills does with a server that has some.
func readAll(ctx context.Context, c Client) error {
	uris, err := c.ListResources(ctx)
	if err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	slog.Info("read all resources", "count", len(uris))
	var errs []error
	for _, uri := range uris {
		errs = append(errs, c.ReadResource(ctx, uri))
	}
	return errors.Join(errs...)
}

// FormAnswer returns the answer of a user who presses OK at once: the form shows the defaults of the schema (2025-11-25
// client/elicitation, "Clients that support defaults SHOULD pre-populate", SEP-1034), and a required boolean is
// answered with true. It fails if a person would have to type something.
func FormAnswer(schema json.RawMessage) (json.RawMessage, error) {
	var form struct {
		Properties map[string]struct {
			Type    string
			Default json.RawMessage
		}
		Required []string
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, fmt.Errorf("the form's schema: %w", err)
	}
	answer := map[string]json.RawMessage{}
	for name, field := range form.Properties {
		switch {
		case field.Default != nil:
			answer[name] = field.Default
		case !slices.Contains(form.Required, name):
		case field.Type == "boolean":
			answer[name] = json.RawMessage("true")
		default:
			return nil, fmt.Errorf("the form requires %q of type %q and has no default for it", name, field.Type)
		}
	}
	return json.Marshal(answer)
}
