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
		return exit.Wrongf("%q is one argument too many", names[1])
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
