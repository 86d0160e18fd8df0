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
