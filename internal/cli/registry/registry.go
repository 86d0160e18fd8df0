// Package registry has mcphub registry, which searches a registry for servers.
//
// What must not live here: adding a server (package config).
package registry

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/proposals"
)

const (
	defaultFound = 30
	maxFound     = 500

	// barePages is how many pages with fewer servers than requested a registry may send. It may leave entries out, but not
	// for ever.
	barePages = 20
)

// options are the flags of mcphub registry.
type options struct {
	*door.Factory
	address string
	version string
	limit   int
	json    bool
}

func (o *options) register(c *cobra.Command) {
	proposals.RegisterRegistry(c.Flags(), &o.address)
	if c.Name() == "search" {
		c.Flags().IntVar(&o.limit, "limit", defaultFound, fmt.Sprintf("N\tmost servers to show, at most %d", maxFound))
	} else {
		c.Flags().StringVar(&o.version, "version", "", "V\tversion; default: the latest")
	}
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object on one line")
}

const registryHelp = `A registry is a list of servers that others have published, by the API v0.1 of the official one.
None is asked by default: https://registry.modelcontextprotocol.io is the official one, whose makers mean it for other
registries rather than for people's programs; a company's own, or one that copies it, speaks the same. It shows who
has published a server, not what the server does.

Exit status: 0 found, 1 not found or no answer, 2 usage.
`

// NewRegistryCmd returns mcphub registry and its subcommands.
func NewRegistryCmd(f *door.Factory) *cobra.Command {
	c := &cobra.Command{
		Use: "registry COMMAND [FLAGS]", Short: "search a registry for servers", GroupID: cmd.GroupLook,
		Long: "Asks a registry of MCP servers. mcphub config add --from-registry adds one.\n",
		RunE: func(*cobra.Command, []string) error { return exit.Wrongf("what of it? registry search or show") },
	}
	search, show := &options{Factory: f}, &options{Factory: f}
	searchCmd := &cobra.Command{
		Use: "search WORDS... [FLAGS]", Short: "servers whose name has a text in it",
		Long: `Lists the latest versions of the servers whose name, or with many registries description, has the words
in it.

` + registryHelp,
		Example: "  mcphub registry search weather --registry https://registry.example.com",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(_ *cobra.Command, words []string) error { return search.search(strings.Join(words, " ")) },
	}
	search.register(searchCmd)
	showCmd := &cobra.Command{
		Use: "show NAME [FLAGS]", Short: "one server, and the ways to have it", Args: cmd.AtMost(1),
		Long: "Shows one server, what it would run or connect to, and what it needs.\n\n" + registryHelp,
		RunE: func(_ *cobra.Command, words []string) error { return show.show(words) },
	}
	show.register(showCmd)
	c.AddCommand(searchCmd, showCmd)
	return c
}

func (o *options) search(words string) error {
	if o.limit < 1 || o.limit > maxFound {
		return exit.Wrongf("--limit %d: it is 1 to %d", o.limit, maxFound)
	}
	if len(words) > 200 {
		return exit.Wrongf("the words are too long: at most 200 bytes")
	}
	ctx, stop := o.Interruptible()
	defer stop()
	c := proposals.NewCatalog()
	defer c.Close()
	var found []catalog.Server
	unread := 0
	q := catalog.Query{Text: words}
	for range maxFound/catalog.MaxPage + barePages {
		q.Size = min(o.limit-len(found), catalog.MaxPage)
		page, err := c.Search(ctx, o.address, q)
		if err != nil {
			return proposals.ErrorOf(err)
		}
		found = append(found, page.Servers...)
		unread += page.LeftOut
		if page.Next == q.Cursor { // the registry would begin again
			page.Next = ""
		}
		if q.Cursor = page.Next; q.Cursor == "" || len(found) >= o.limit {
			break
		}
	}
	if o.json {
		list := make([]foundServer, len(found))
		for i, s := range found {
			list[i] = foundOf(s)
		}
		console.PrintValue(o.Out, map[string]any{"servers": list, "more": q.Cursor != "",
			"leftOut": unread})
		return nil
	}
	if unread > 0 {
		o.Tell("Entries of the registry that are no servers, and left out: %d.", unread)
	}
	if len(found) == 0 {
		fmt.Fprintln(o.Out, "no server was found")
		return exit.Broken
	}
	rows := make([][]string, len(found))
	for i, s := range found {
		about := s.Description
		if s.Status == catalog.Deprecated {
			about = "deprecated. " + about
		}
		rows[i] = []string{s.Name, console.OrDash(s.Version), console.OrDash(strings.Join(s.Kinds, ",")), about}
	}
	console.Table{Header: []string{"NAME", "VERSION", "AS", "DESCRIPTION"}, Rows: rows}.Write(o.Out)
	if q.Cursor != "" {
		o.Tell("There are more; --limit %d shows them.", min(2*o.limit, maxFound))
	}
	return nil
}

// foundServer is a server in the form that --json prints.
type foundServer struct {
	catalog.Server
	Publisher string `json:"publisher"`
}

func foundOf(s catalog.Server) foundServer {
	s.Kinds = append([]string{}, s.Kinds...) // never null
	s.Published = s.Published.UTC().Truncate(time.Second)
	return foundServer{s, s.Publisher()}
}

// offeredWay is a proposal in the form that --json prints.
type offeredWay struct {
	Kind     string         `json:"kind"`
	Subject  string         `json:"subject"`
	Unusable string         `json:"unusable,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	Inputs   []offeredInput `json:"inputs"`
	Command  []string       `json:"command,omitempty"`
	URL      string         `json:"url,omitempty"`
}

type offeredInput struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required"`
	Secret      bool     `json:"secret"`
	Choices     []string `json:"choices,omitempty"`
	Defaults    []string `json:"defaults,omitempty"`
}

func offeredOf(p *proposal.Proposal) offeredWay {
	w := offeredWay{Kind: p.Kind, Subject: p.Subject, Unusable: p.Unusable, Warnings: p.Warnings,
		Inputs: []offeredInput{}}
	for _, in := range p.Inputs {
		w.Inputs = append(w.Inputs, offeredInput{proposals.InputName(in), in.Description, in.Required, in.Secret, in.Choices,
			in.Defaults})
	}
	if e := p.Outline(); e.Command != "" {
		w.Command = append([]string{e.Command}, e.Args...)
	} else {
		w.URL = e.URL
	}
	return w
}

func (o *options) show(words []string) error {
	if len(words) == 0 {
		return exit.Wrongf("NAME is missing")
	}
	ctx, stop := o.Interruptible()
	defer stop()
	c := proposals.NewCatalog()
	defer c.Close()
	s, offers, err := c.Server(ctx, o.address, words[0], o.version)
	if err != nil {
		return proposals.ErrorOf(err)
	}
	if o.json {
		ways := make([]offeredWay, len(offers))
		for i, offer := range offers {
			ways[i] = offeredOf(offer.Proposal)
		}
		console.PrintValue(o.Out, map[string]any{"server": foundOf(s), "proposals": ways})
		return nil
	}
	f, published := foundOf(s), ""
	if !f.Published.IsZero() {
		published = f.Published.Format(time.RFC3339)
	}
	out := o.Out
	field := func(name, value string) {
		if value != "" {
			fmt.Fprint(out, console.ForReading(out, fmt.Sprintf("%-10s  %s", name, console.Escape(value))))
		}
	}
	for _, row := range [][2]string{{"name", f.Name}, {"title", f.Title}, {"about", f.Description}, {"version", f.Version},
		{"published", strings.TrimSpace(published + " by " + f.Publisher)}, {"source", f.Repository}, {"page", f.Website}} {
		field(row[0], row[1])
	}
	if s.Status != catalog.Active && s.Status != "" {
		field("status", string(f.Status)+" "+f.StatusMessage)
	}
	for _, offer := range offers {
		fmt.Fprintln(out)
		printOffer(out, offer.Proposal)
	}
	return nil
}

// printOffer prints what a proposal would run or connect to, and what it needs. Nothing of it is cut.
func printOffer(w io.Writer, p *proposal.Proposal) {
	line := func(format string, args ...any) { fmt.Fprint(w, console.ForReading(w, fmt.Sprintf(format, args...))) }
	line("%s: %s", console.Escape(p.Kind), console.Escape(p.Subject))
	proposals.PrintEntry(w, p.Outline())
	for _, in := range p.Inputs {
		how := "may be given"
		if in.Required {
			how = "needed"
		}
		if in.Secret {
			how += ", secret"
		}
		if len(in.Defaults) > 0 {
			how += ", default " + strings.Join(in.Defaults, " ")
		}
		if len(in.Choices) > 0 {
			how += ", one of " + strings.Join(in.Choices, ", ")
		}
		line("  --input %s", console.Escape(fmt.Sprintf("%s (%s) %s", proposals.InputName(in), how, in.Description)))
	}
	if p.Download != nil {
		line("  downloads: %s", console.Escape(p.Download.URL))
	}
	for _, text := range p.Warnings {
		line("  warning: %s", console.Escape(text))
	}
	if p.Unusable != "" {
		line("  cannot be added: %s", console.Escape(p.Unusable))
	}
}
