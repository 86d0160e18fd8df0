package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/hub/registry"
)

// envRegistry names the variable with the registry for commands without --registry.
const envRegistry = "MCPHUB_REGISTRY"

const (
	defaultFound = 30
	maxFound     = 500

	// barePages is how many pages with fewer servers than requested a registry may send. It may leave entries out, but not
	// for ever.
	barePages = 20
)

// registryOptions are the flags of mcphub registry.
type registryOptions struct {
	address string
	version string
	limit   int
	json    bool
}

func (o *registryOptions) registerAddress(set *pflag.FlagSet) {
	set.StringVar(&o.address, "registry", os.Getenv(envRegistry),
		"URL\taddress of the registry, before /v0.1; default: the environment variable "+envRegistry)
	set.Lookup("registry").DefValue = ""
}

const registryHelp = `A registry is a list of servers that others have published, by the API v0.1 of the official one.
None is asked by default: https://registry.modelcontextprotocol.io is the official one, whose makers mean it for other
registries rather than for people's programs; a company's own, or one that copies it, speaks the same. It shows who
has published a server, not what the server does.

Exit status: 0 found, 1 not found or no answer, 2 usage.
`

// addRegistry adds the commands that search a registry.
func (l *commandLine) addRegistry() {
	c := l.add(l.root, spec{
		group: groupLook, use: "registry COMMAND [FLAGS]", short: "search a registry for servers",
		page: "Asks a registry of MCP servers. mcphub config add --from-registry adds one.\n",
		run: func([]string) int {
			return usageError(l.env, "registry", errors.New("what of it? registry search or show"))
		},
	})
	search := new(registryOptions)
	set := newFlags("registry search")
	search.registerAddress(set)
	set.IntVar(&search.limit, "limit", defaultFound, fmt.Sprintf("N\tmost servers to show, at most %d", maxFound))
	set.BoolVar(&search.json, "json", false, "print one JSON object on one line")
	l.add(c, spec{
		use: "search WORDS... [FLAGS]", short: "servers whose name has a text in it",
		page: `Lists the latest versions of the servers whose name, or with many registries description, has the words
in it.

` + registryHelp,
		example: "  mcphub registry search weather --registry https://registry.example.com",
		most:    manyFiles, flags: set, words: func([]string) []string { return nil },
		run: func(words []string) int { return l.searchRegistry(search, strings.Join(words, " ")) },
	})
	show := new(registryOptions)
	set = newFlags("registry show")
	show.registerAddress(set)
	set.StringVar(&show.version, "version", "", "V\tversion; default: the latest")
	set.BoolVar(&show.json, "json", false, "print one JSON object on one line")
	l.add(c, spec{
		use: "show NAME [FLAGS]", short: "one server, and the ways to have it",
		page: "Shows one server, what it would run or connect to, and what it needs.\n\n" + registryHelp,
		most: 1, flags: set, words: func([]string) []string { return nil },
		run: func(words []string) int { return l.showRegistry(show, words) },
	})
}

// newCatalog returns a catalog that keeps its state with that of the command line.
func newCatalog() *catalog.Catalog {
	return catalog.New(catalog.Options{StateDir: stateDir("command-line")})
}

// trouble prints an error that has ended a command, and returns the exit status.
func (l *commandLine) trouble(command string, err error) int {
	if wrong, ok := errors.AsType[errUsage](err); ok {
		return usageError(l.env, command, wrong.error)
	}
	e := event.AsError(err)
	if e.Reason == event.ReasonRegistryNotSet {
		return usageError(l.env, command, errors.New("no registry is chosen: say --registry URL or set "+envRegistry))
	}
	l.env.tell("mcphub %s: %s", command, escape(e.Message))
	return exitBroken
}

func (l *commandLine) searchRegistry(o *registryOptions, words string) int {
	if o.limit < 1 || o.limit > maxFound {
		return usageError(l.env, "registry search", fmt.Errorf("--limit %d: it is 1 to %d", o.limit, maxFound))
	}
	if len(words) > 200 {
		return usageError(l.env, "registry search", errors.New("the words are too long: at most 200 bytes"))
	}
	ctx, stop := l.env.interruptible()
	defer stop()
	c := newCatalog()
	defer c.Close()
	var found []registry.Server
	unread := 0
	q := registry.Query{Text: words}
	for range maxFound/registry.MaxPage + barePages {
		q.Size = min(o.limit-len(found), registry.MaxPage)
		page, err := c.Search(ctx, o.address, q)
		if err != nil {
			return l.trouble("registry search", err)
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
		printValue(l.env.stdout, map[string]any{"servers": list, "more": q.Cursor != "",
			"leftOut": unread})
		return exitOK
	}
	if unread > 0 {
		l.env.tell("Entries of the registry that are no servers, and left out: %d.", unread)
	}
	if len(found) == 0 {
		fmt.Fprintln(l.env.stdout, "no server was found")
		return exitBroken
	}
	rows := make([][]string, len(found))
	for i, s := range found {
		about := s.Description
		if s.Status == registry.Deprecated {
			about = "deprecated. " + about
		}
		rows[i] = []string{s.Name, orDash(s.Version), orDash(strings.Join(s.Kinds, ",")), about}
	}
	table{header: []string{"NAME", "VERSION", "AS", "DESCRIPTION"}, rows: rows}.write(l.env.stdout)
	if q.Cursor != "" {
		l.env.tell("There are more; --limit %d shows them.", min(2*o.limit, maxFound))
	}
	return exitOK
}

// foundServer is a server in the form that --json prints.
type foundServer struct {
	registry.Server
	Publisher string `json:"publisher"`
}

func foundOf(s registry.Server) foundServer {
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
		w.Inputs = append(w.Inputs, offeredInput{nameOfInput(in), in.Description, in.Required, in.Secret, in.Choices,
			in.Defaults})
	}
	if e := p.Outline(); e.Command != "" {
		w.Command = append([]string{e.Command}, e.Args...)
	} else {
		w.URL = e.URL
	}
	return w
}

// nameOfInput returns the name of an input for --input.
func nameOfInput(in proposal.Input) string { return in.ID[strings.IndexByte(in.ID, '.')+1:] }

func (l *commandLine) showRegistry(o *registryOptions, words []string) int {
	if len(words) == 0 {
		return usageError(l.env, "registry show", errors.New("NAME is missing"))
	}
	ctx, stop := l.env.interruptible()
	defer stop()
	c := newCatalog()
	defer c.Close()
	s, offers, err := c.Server(ctx, o.address, words[0], o.version)
	if err != nil {
		return l.trouble("registry show", err)
	}
	if o.json {
		ways := make([]offeredWay, len(offers))
		for i, offer := range offers {
			ways[i] = offeredOf(offer.Proposal)
		}
		printValue(l.env.stdout, map[string]any{"server": foundOf(s), "proposals": ways})
		return exitOK
	}
	f, published := foundOf(s), ""
	if !f.Published.IsZero() {
		published = f.Published.Format(time.RFC3339)
	}
	out := l.env.stdout
	field := func(name, value string) {
		if value != "" {
			fmt.Fprint(out, toRead(out, fmt.Sprintf("%-10s  %s", name, escape(value))))
		}
	}
	for _, row := range [][2]string{{"name", f.Name}, {"title", f.Title}, {"about", f.Description}, {"version", f.Version},
		{"published", strings.TrimSpace(published + " by " + f.Publisher)}, {"source", f.Repository}, {"page", f.Website}} {
		field(row[0], row[1])
	}
	if s.Status != registry.Active && s.Status != "" {
		field("status", string(f.Status)+" "+f.StatusMessage)
	}
	for _, offer := range offers {
		fmt.Fprintln(out)
		printOffer(out, offer.Proposal)
	}
	return exitOK
}

// printOffer prints what a proposal would run or connect to, and what it needs. Nothing of it is cut.
func printOffer(w io.Writer, p *proposal.Proposal) {
	line := func(format string, args ...any) { fmt.Fprint(w, toRead(w, fmt.Sprintf(format, args...))) }
	line("%s: %s", escape(p.Kind), escape(p.Subject))
	printEntry(w, p.Outline())
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
		line("  --input %s (%s) %s", escape(nameOfInput(in)), escape(how), escape(in.Description))
	}
	if p.Download != nil {
		line("  downloads: %s", escape(p.Download.URL))
	}
	for _, text := range p.Warnings {
		line("  warning: %s", escape(text))
	}
	if p.Unusable != "" {
		line("  cannot be added: %s", escape(p.Unusable))
	}
}

// printEntry prints everything that an entry would start or connect to.
func printEntry(w io.Writer, e proposal.Entry) {
	line := func(format string, args ...any) { fmt.Fprint(w, toRead(w, fmt.Sprintf(format, args...))) }
	if e.Command != "" {
		line("  runs: %s", escape(shellLine(append([]string{e.Command}, e.Args...))))
	} else if e.URL != "" {
		line("  connects to: %s", escape(e.URL))
	}
	for what, values := range map[string]map[string]string{"variable": e.Env, "header": e.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line("  %s: %s=%s", what, escape(name), escape(values[name]))
		}
	}
}
