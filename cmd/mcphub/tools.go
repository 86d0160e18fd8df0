package main

import (
	"context"
	"fmt"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func runTools(env environment, o *listOptions, positional []string) int {
	names := o.take(positional)
	server := o.single()
	if server == "" && len(names) > 0 {
		server, names = names[0], names[1:]
	}
	if len(names) > 1 {
		return usageError(env, "tools", fmt.Errorf("%q is one argument too many", names[1]))
	}
	return o.withHub(env, "tools", server, func(ctx context.Context, client *hubClient) int {
		r, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server})
		if err != nil {
			return o.fail(env, "tools", ctx, err)
		}
		if len(names) == 1 {
			return o.tellTool(ctx, env, r, server, names[0])
		}
		if o.json {
			printJSON(env.stdout, r)
		} else {
			rows := make([][]string, len(r.GetTools()))
			for i, t := range r.GetTools() {
				rows[i] = []string{t.GetServer(), t.GetName(), word(t.GetPolicy(), "APPROVAL_POLICY_"),
					about(t.GetTitle(), t.GetDescription())}
			}
			table{header: []string{"SERVER", "TOOL", "POLICY", "ABOUT"}, rows: rows,
				colour: colourOfPolicy}.write(env.stdout)
			for _, trouble := range r.GetTroubles() {
				env.tell("%s: %s", escape(trouble.GetServer()), escape(withoutTerminal(trouble.GetError().GetMessage(), nil)))
			}
		}
		// If one server fails, the others are listed nevertheless, but the list is not complete.
		if len(r.GetTroubles()) > 0 {
			return exitServer
		}
		return exitOK
	})
}

// colourOfPolicy returns the colour for the third column of the list of tools: green for a tool that runs without a
// question, red for one that never runs.
func colourOfPolicy(column int, cell string) string {
	if column != 2 {
		return ""
	}
	return map[string]string{"allow": green, "ask": yellow, "deny": red}[cell]
}

// tellTool describes one of the listed tools.
func (o *listOptions) tellTool(ctx context.Context, env environment, r *mcphubv1.ListToolsResponse,
	server, name string) int {
	tool, err := findTool(r.GetTools(), server, name)
	if err != nil {
		return o.fail(env, "tools", ctx, err)
	}
	if o.json {
		printJSON(env.stdout, tool)
		return exitOK
	}
	writeTool(env.stdout, tool, o.words(server))
	return exitOK
}

// about returns the title and the first line of the description.
func about(title, description string) string {
	about := firstLine(description)
	switch {
	case title == "":
		return orDash(about)
	case about == "":
		return title
	default:
		return title + ": " + about
	}
}
