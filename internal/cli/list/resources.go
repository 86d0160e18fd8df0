package list

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/session"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// NewResourcesCmd returns mcphub resources.
func NewResourcesCmd(f *door.Factory) *cobra.Command {
	return newListOfOne(f, &cobra.Command{
		Use: "resources [FILE...] [SERVER] [FLAGS]", Short: "list the resources of a server",
		Long: `Starts the server and lists its resources, and the templates for URIs of further ones. With --json each is a
line of its own.
`,
	}, listResources)
}

// NewPromptsCmd returns mcphub prompts.
func NewPromptsCmd(f *door.Factory) *cobra.Command {
	return newListOfOne(f, &cobra.Command{
		Use: "prompts [FILE...] [SERVER] [FLAGS]", Short: "list the prompt templates of a server",
		Long: `Starts the server and lists its prompt templates: texts with arguments for a model. Arguments in brackets may
be left out.
`,
	}, listPrompts)
}

// newListOfOne completes c to a command that lists something of one server.
func newListOfOne(f *door.Factory, c *cobra.Command,
	list func(context.Context, *session.Options, *door.Client, string) error) *cobra.Command {
	o := &session.Options{Factory: f}
	c.GroupID, c.Args = cmd.GroupLook, cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, words []string) error {
		server, err := o.ServerOf(o.Take(words))
		if err != nil {
			return exit.Wrong(err)
		}
		return o.With(c.CommandPath(), server, func(ctx context.Context, client *door.Client) error {
			return list(ctx, o, client, server)
		})
	}
	o.Register(c)
	o.Complete(c, nil)
	c.ValidArgsFunction = cmd.CompleteWords(func(words []string) []string {
		s := o.Flags
		if len(s.Take(words)) > 0 {
			return nil
		}
		return s.ServerNames()
	})
	return c
}

func listResources(ctx context.Context, o *session.Options, client *door.Client, server string) error {
	resources, err := client.Servers.ListResources(ctx, &mcphubv1.ListResourcesRequest{Server: server})
	if err != nil {
		return err
	}
	templates, err := client.Servers.ListResourceTemplates(ctx, &mcphubv1.ListResourceTemplatesRequest{Server: server})
	if err != nil {
		return err
	}
	if o.JSON {
		console.PrintJSON(o.Out, resources)
		console.PrintJSON(o.Out, templates)
		return nil
	}
	console.Table{Header: []string{"URI", "NAME", "TYPE", "ABOUT"},
		Rows: resourceRows(resources.GetResources(), templates.GetResourceTemplates())}.Write(o.Out)
	return nil
}

// resourceRows returns rows for the resources, and below them for the templates, which are recognizable by their
// braces.
func resourceRows(resources []*mcphubv1.Resource, templates []*mcphubv1.ResourceTemplate) [][]string {
	var rows [][]string
	for _, r := range resources {
		rows = append(rows, []string{r.GetUri(), console.OrDash(r.GetName()), console.OrDash(r.GetMimeType()),
			console.About(r.GetTitle(), r.GetDescription())})
	}
	for _, t := range templates {
		rows = append(rows, []string{t.GetUriTemplate(), console.OrDash(t.GetName()), console.OrDash(t.GetMimeType()),
			console.About(t.GetTitle(), t.GetDescription())})
	}
	return rows
}

func listPrompts(ctx context.Context, o *session.Options, client *door.Client, server string) error {
	r, err := client.Servers.ListMcpPrompts(ctx, &mcphubv1.ListMcpPromptsRequest{Server: server})
	if err != nil {
		return err
	}
	if o.JSON {
		console.PrintJSON(o.Out, r)
		return nil
	}
	rows := make([][]string, len(r.GetPrompts()))
	for i, p := range r.GetPrompts() {
		rows[i] = []string{p.GetName(), console.OrDash(templateArguments(p)), console.About(p.GetTitle(), p.GetDescription())}
	}
	console.Table{Header: []string{"PROMPT", "ARGUMENTS", "ABOUT"}, Rows: rows}.Write(o.Out)
	return nil
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
