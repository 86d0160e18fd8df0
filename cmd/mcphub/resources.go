package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// listOf parses the command line of a list for one server, and calls list with an open hub.
func listOf(env environment, name string, o *listOptions, positional []string, list func(context.Context, *hubClient,
	*listOptions, string) int) int {
	server := o.single()
	positional = o.take(positional)
	switch {
	case len(positional) > 1:
		return usageError(env, name, fmt.Errorf("%q is one argument too many", positional[1]))
	case len(positional) == 1 && server != "":
		return usageError(env, name, errors.New("SERVER names a server of a --config file; the server of --"+server+
			" is the only one"))
	case len(positional) == 1:
		server = positional[0]
	case server == "":
		err := o.check()
		if err == nil {
			server, err = o.choose()
		}
		if err != nil {
			return usageError(env, name, err)
		}
	}
	return o.withHub(env, name, server, func(ctx context.Context, client *hubClient) int {
		return list(ctx, client, o, server)
	})
}

func runResources(env environment, o *listOptions, args []string) int {
	return listOf(env, "resources", o, args, func(ctx context.Context, client *hubClient, o *listOptions,
		server string) int {
		resources, err := client.Servers.ListResources(ctx, &mcphubv1.ListResourcesRequest{Server: server})
		if err != nil {
			return o.fail(env, "resources", ctx, err)
		}
		templates, err := client.Servers.ListResourceTemplates(ctx, &mcphubv1.ListResourceTemplatesRequest{Server: server})
		if err != nil {
			return o.fail(env, "resources", ctx, err)
		}
		if o.json {
			printJSON(env.stdout, resources)
			printJSON(env.stdout, templates)
			return exitOK
		}
		table{header: []string{"URI", "NAME", "TYPE", "ABOUT"},
			rows: resourceRows(resources.GetResources(), templates.GetResourceTemplates())}.write(env.stdout)
		return exitOK
	})
}

// resourceRows returns rows for the resources, and below them for the templates, which are recognizable by their
// braces.
func resourceRows(resources []*mcphubv1.Resource, templates []*mcphubv1.ResourceTemplate) [][]string {
	var rows [][]string
	for _, r := range resources {
		rows = append(rows, []string{r.GetUri(), orDash(r.GetName()), orDash(r.GetMimeType()),
			about(r.GetTitle(), r.GetDescription())})
	}
	for _, t := range templates {
		rows = append(rows, []string{t.GetUriTemplate(), orDash(t.GetName()), orDash(t.GetMimeType()),
			about(t.GetTitle(), t.GetDescription())})
	}
	return rows
}

func runPrompts(env environment, o *listOptions, args []string) int {
	return listOf(env, "prompts", o, args, func(ctx context.Context, client *hubClient, o *listOptions,
		server string) int {
		r, err := client.Servers.ListMcpPrompts(ctx, &mcphubv1.ListMcpPromptsRequest{Server: server})
		if err != nil {
			return o.fail(env, "prompts", ctx, err)
		}
		if o.json {
			printJSON(env.stdout, r)
			return exitOK
		}
		rows := make([][]string, len(r.GetPrompts()))
		for i, p := range r.GetPrompts() {
			rows[i] = []string{p.GetName(), orDash(templateArguments(p)), about(p.GetTitle(), p.GetDescription())}
		}
		table{header: []string{"PROMPT", "ARGUMENTS", "ABOUT"}, rows: rows}.write(env.stdout)
		return exitOK
	})
}

// templateArguments returns the names of the arguments, with brackets around the optional ones.
func templateArguments(p *mcphubv1.McpPrompt) string {
	names := make([]string, len(p.GetArguments()))
	for i, a := range p.GetArguments() {
		if names[i] = a.GetName(); !a.GetRequired() {
			names[i] = "[" + names[i] + "]"
		}
	}
	return strings.Join(names, " ")
}
