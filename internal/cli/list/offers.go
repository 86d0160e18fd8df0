package list

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/session"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// NewToolsCmd returns mcphub tools.
func NewToolsCmd(f *door.Factory) *cobra.Command {
	o := &session.Options{Factory: f}
	c := &cobra.Command{
		Use: "tools [FILE...] [SERVER [TOOL]] [FLAGS]", Short: "list their tools, or the arguments of one",
		GroupID: cmd.GroupLook,
		Long: `Starts the servers, or the one named, and lists their tools; of the tool that is named it tells the
arguments, and a line that calls it. Exit status 6: a server could not be asked, or a config file not be read.

` + source.Help,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, words []string) error { return runTools(o, o.Take(words)) },
	}
	o.Register(c)
	o.Complete(c, nil)
	c.ValidArgsFunction = cmd.CompleteWords(func(words []string) []string {
		s := o.Flags
		switch names := s.Take(words); {
		case o.Single() != "":
			return source.ToolNames(o.Single())
		case len(names) == 1:
			return source.ToolNames(names[0])
		case len(names) == 0:
			return s.ServerNames()
		}
		return nil
	})
	return c
}

func runTools(o *session.Options, names []string) error {
	server := o.Single()
	if server == "" && len(names) > 0 {
		server, names = names[0], names[1:]
	}
	if len(names) > 1 {
		return exit.Wrong(o.TooMany(names[1], ""))
	}
	return o.With("mcphub tools", server, func(ctx context.Context, client *door.Client) error {
		r, err := client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server})
		if err != nil {
			return err
		}
		if len(names) == 1 {
			tool, err := toolargs.FindTool(r.GetTools(), server, names[0])
			switch {
			case err != nil:
				return err
			case o.JSON:
				console.PrintJSON(o.Out, tool)
			default:
				writeTool(o.Out, tool, &o.Flags, server)
			}
			return nil
		}
		if o.JSON {
			console.PrintJSON(o.Out, r)
		} else {
			rows := make([][]string, len(r.GetTools()))
			for i, t := range r.GetTools() {
				rows[i] = []string{t.GetServer(), t.GetName(), console.Word(t.GetPolicy(), "APPROVAL_POLICY_"),
					console.About(t.GetTitle(), t.GetDescription())}
			}
			console.Table{Header: []string{"SERVER", "TOOL", "POLICY", "ABOUT"}, Rows: rows, Colour: colourOfPolicy}.Write(o.Out)
			for _, trouble := range r.GetTroubles() {
				why := exit.Advised(trouble.GetError().GetMessage(), nil)
				o.Tell("%s: %s", console.Escape(trouble.GetServer()), console.Escape(why))
			}
		}
		// If one server fails, the others are listed nevertheless, but the list is not complete.
		if len(r.GetTroubles()) > 0 {
			return exit.Server
		}
		return nil
	})
}

// colourOfPolicy returns the colour for the third column of the list of tools: green for a tool that runs without a
// question, red for one that never runs.
func colourOfPolicy(column int, cell string) string {
	if column != 2 {
		return ""
	}
	return map[string]string{"allow": console.Green, "ask": console.Yellow, "deny": console.Red}[cell]
}

// maxNested bounds how deep the arguments of a tool are described.
const maxNested = 4

// writeTool describes one tool: what it does, its arguments, and a command line that calls it.
func writeTool(w io.Writer, t *mcphubv1.Tool, source *source.Flags, server string) {
	width := console.PageWidth(w)
	title := console.ShortName(t.GetName())
	if t.GetTitle() != "" && t.GetTitle() != t.GetName() {
		title += ": " + t.GetTitle()
	}
	fmt.Fprint(w, console.Hang(console.Escape(title)+" ("+console.Word(t.GetPolicy(), "APPROVAL_POLICY_")+")", 2, width))
	for line := range strings.Lines(strings.TrimSpace(t.GetDescription())) {
		fmt.Fprint(w, console.Hang("  "+console.Escape(strings.TrimRight(line, "\r\n")), 2, width))
	}
	schema := toolargs.Read(t.GetDefinitionJson())
	if len(schema.Properties) == 0 {
		fmt.Fprintln(w, "\nNo arguments are named.")
	} else {
		fmt.Fprintln(w, "\nArguments:")
		writeArguments(w, &schema, "", width, maxNested)
	}
	var pairs []string
	for _, a := range schema.Properties {
		if a.Required {
			pairs = append(pairs, a.Name+"="+a.Example())
		}
	}
	fmt.Fprintf(w, "\nFor example:\n  %s\n", source.CallLine(server, t.GetName(), pairs))
}

func writeArguments(w io.Writer, of *toolargs.Argument, prefix string, width, depth int) {
	for _, a := range of.Properties {
		var entry strings.Builder
		name := console.Escape(console.ShortName(prefix + a.Name))
		console.WriteEntry(&entry, name, console.Escape(a.About()), console.EntryColumn, width)
		fmt.Fprint(w, entry.String())
		if depth > 1 && len(a.Properties) > 0 {
			writeArguments(w, &a, prefix+a.Name+".", width, depth-1)
		}
	}
}

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
