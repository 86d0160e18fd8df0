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
	"github.com/mcphub-go/mcphub/ipc"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
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
	c.Flags().BoolVar(&o.json, "json", false, "print the answer of RegistryService as one line of proto3 JSON")
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
		page := &mcphubv1.SearchRegistryResponse{NextCursor: q.Cursor, LeftOut: int32(unread)}
		for _, s := range found {
			page.Servers = append(page.Servers, ipc.RegistryServer(s))
		}
		console.PrintJSON(o.Out, page)
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
		r := &mcphubv1.GetRegistryServerResponse{Server: ipc.RegistryServer(s)}
		for _, offer := range offers {
			r.Proposals = append(r.Proposals, ipc.ServerProposal(offer))
		}
		console.PrintJSON(o.Out, r)
		return nil
	}
	published := ""
	if !s.Published.IsZero() {
		published = s.Published.UTC().Format(time.RFC3339)
	}
	out := o.Out
	field := func(name, value string) {
		if value != "" {
			fmt.Fprint(out, console.ForReading(out, fmt.Sprintf("%-10s  %s", name, console.Escape(value))))
		}
	}
	for _, row := range [][2]string{{"name", s.Name}, {"title", s.Title}, {"about", s.Description}, {"version", s.Version},
		{"published", strings.TrimSpace(published + " by " + s.Publisher())}, {"source", s.Repository}, {"page", s.Website}} {
		field(row[0], row[1])
	}
	if s.Status != catalog.Active && s.Status != "" {
		field("status", string(s.Status)+" "+s.StatusMessage)
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
