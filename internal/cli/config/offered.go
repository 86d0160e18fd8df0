package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/hub/sources"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/proposals"
)

// proposalOptions are the flags of config add for servers of registries and bundles.
type proposalOptions struct {
	registry string // address
	server   string // name of a server in a registry
	bundle   string
	kind     string
	yes      bool
	inputs   []string
}

const proposalHelp = `With --from-registry it is a server of a registry (mcphub registry search), with --bundle one of
a bundle file (.mcpb), which is unpacked into mcphub's state directory. What it would run is shown, all of it, and
asked about before anything is written; --yes is the answer where there is no terminal. NAME may be left out. What it
needs is given by --input or asked for on a terminal. --input KEY=@NAME has the file refer to the environment variable
NAME; a secret that is not given is asked for when the server starts, where the file's dialect can say so.
`

func (o *proposalOptions) register(set *pflag.FlagSet) {
	set.StringVar(&o.server, "from-registry", "", "SERVER[@VERSION]\tserver of a registry")
	proposals.RegisterRegistry(set, &o.registry)
	set.StringVar(&o.kind, "package", "", "KIND\twith --from-registry: npm, pypi, oci, nuget, mcpb or remote; "+
		"default: the first that can be added")
	set.StringVar(&o.bundle, "bundle", "", "FILE\tbundle (.mcpb)")
	set.StringArrayVar(&o.inputs, "input", nil,
		"KEY=VALUE\twhat a server of a registry or bundle needs; may be repeated")
	set.BoolVar(&o.yes, "yes", false, "add it without a question")
}

// offered reports whether the server to add is from a registry or a bundle.
func (o *proposalOptions) offered() bool { return o.server != "" || o.bundle != "" }

// addOffered adds a server of a registry or of a bundle.
func (o *addOptions) addOffered(f *sources.Files, to sources.Target, command []string) (sources.Written, error) {
	p := &o.proposed
	if len(command) > 0 {
		return sources.Written{}, exit.Wrongf("what is offered says its command itself")
	}
	if p.server != "" && p.bundle != "" || o.url+o.entry+o.dir+o.transport != "" || len(o.env)+len(o.headers) > 0 {
		return sources.Written{}, exit.Wrongf("--from-registry or --bundle says all of it; leave out the other flags but --input")
	}
	ctx, stop := o.Interruptible()
	defer stop()
	c := proposals.NewCatalog()
	defer c.Close()
	offer, err := p.find(ctx, c)
	if err != nil {
		return sources.Written{}, err
	}
	values, err := p.values(offer.Proposal)
	if err != nil {
		return sources.Written{}, exit.Wrong(err)
	}
	if err := o.askFor(offer.Proposal, values); err != nil {
		return sources.Written{}, err
	}
	entry, err := c.Fill(offer.ID, values)
	if err != nil {
		return sources.Written{}, err
	}
	if len(entry.Missing) > 0 {
		in, _ := offer.Proposal.Input(entry.Missing[0])
		return sources.Written{}, exit.Wrongf("--input %s=VALUE is needed: %s", proposals.InputName(in), in.Description)
	}
	if err := o.agree(offer, values); err != nil {
		return sources.Written{}, err
	}
	if to.Server == "" {
		to.Server = entry.Server
	}
	undo, err := c.Unpack(ctx, offer.ID)
	if err != nil {
		return sources.Written{}, err
	}
	form := edit.Form{JSON: entry.JSON(), Dialect: config.DialectVSCode}
	for _, in := range entry.Asked {
		asked := config.Input{ID: in.ID, Description: in.Title, Secret: in.Secret}
		for _, choice := range in.Choices {
			asked.Options = append(asked.Options, config.InputOption{Value: choice})
		}
		form.Inputs = append(form.Inputs, asked)
	}
	written, err := f.Add(ctx, to, form, edit.Settings{})
	if err != nil {
		undo()
	}
	return written, err
}

// find returns the proposal that the flags mean.
func (p *proposalOptions) find(ctx context.Context, c *catalog.Catalog) (catalog.Offer, error) {
	if p.bundle != "" {
		file, err := filepath.Abs(p.bundle)
		if err != nil {
			return catalog.Offer{}, err
		}
		o, err := c.ReadBundle(ctx, file)
		if err == nil && !o.Proposal.Usable() {
			err = cannotAdd(o.Proposal.Unusable)
		}
		return o, err
	}
	name, version := p.server, ""
	if at := strings.LastIndexByte(name, '@'); at > strings.IndexByte(name, '/') {
		name, version = name[:at], name[at+1:]
	}
	_, offers, err := c.Server(ctx, p.registry, name, version)
	if err != nil {
		return catalog.Offer{}, err
	}
	why := "its publisher names no way to have it"
	var kinds []string
	for _, o := range offers {
		kinds = append(kinds, o.Proposal.Kind)
		switch {
		case p.kind != "" && o.Proposal.Kind != p.kind:
		case o.Proposal.Unusable != "":
			why = o.Proposal.Unusable
		case o.Proposal.Download != nil:
			return c.FetchBundle(ctx, o.ID)
		default:
			return o, nil
		}
	}
	if p.kind != "" && !slices.Contains(kinds, p.kind) {
		return catalog.Offer{}, exit.Wrongf("--package %q: this server has %s", p.kind, strings.Join(kinds, ", "))
	}
	return catalog.Offer{}, cannotAdd(why)
}

func cannotAdd(why string) error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonConfigInvalid, nil, "it cannot be added: %s", why)
}

var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// values returns the values of --input, by the ids of inputs. No error quotes a value, since it may be secret.
func (p *proposalOptions) values(of *proposal.Proposal) (map[string][]string, error) {
	given := map[string][]string{}
	for _, text := range p.inputs {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, errors.New("--input: it is KEY=VALUE or KEY=@NAME, and one of them is not")
		}
		i := slices.IndexFunc(of.Inputs, func(in proposal.Input) bool {
			return strings.EqualFold(proposals.InputName(in), key) || in.Title == key
		})
		if i < 0 {
			var names []string
			for _, in := range of.Inputs {
				names = append(names, proposals.InputName(in))
			}
			return nil, fmt.Errorf("--input %s: it is one of %s", key, strings.Join(append(names, "none"), ", "))
		}
		if rest, at := strings.CutPrefix(value, "@"); at && strings.HasPrefix(rest, "@") {
			value = rest
		} else if at {
			if !environmentName.MatchString(rest) {
				return nil, fmt.Errorf("--input %s: there is no environment variable of this name", key)
			}
			value = "${env:" + rest + "}"
		}
		id := of.Inputs[i].ID
		given[id] = append(given[id], value)
	}
	return given, nil
}

// askFor asks a person at a terminal for required values that were not given.
func (o *addOptions) askFor(p *proposal.Proposal, given map[string][]string) error {
	if !o.Interactive() {
		return nil
	}
	for _, in := range p.Inputs {
		if _, said := given[in.ID]; said || !in.Required || len(in.Defaults) > 0 {
			continue
		}
		about := proposals.InputName(in)
		if in.Description != "" {
			about += ": " + in.Description
		}
		if len(in.Choices) > 0 {
			about += " (one of " + strings.Join(in.Choices, ", ") + ")"
		}
		if in.Secret {
			about += " (not shown; nothing: asked for at the start)"
		}
		o.Tell("%s", console.Escape(about))
		line := o.Ask(">", in.Secret)
		if line.Over {
			return cannotAdd("the input has ended")
		}
		if line.Text != "" {
			given[in.ID] = []string{line.Text}
		}
	}
	return nil
}

// agree shows everything that would be run, except secrets, and asks whether the entry may be written.
func (o *addOptions) agree(offer catalog.Offer, given map[string][]string) error {
	shown := map[string][]string{}
	for id, values := range given {
		if in, _ := offer.Proposal.Input(id); !in.Secret {
			shown[id] = values
		} else if len(values) > 0 {
			shown[id] = []string{"${input:" + id + "}"}
		}
	}
	entry, err := offer.Proposal.Fill(shown)
	if err != nil {
		return err
	}
	o.Tell("%s: %s", console.Escape(offer.Proposal.Kind), console.Escape(offer.Proposal.Subject))
	proposals.PrintEntry(o.Err, entry)
	if b := offer.Bundle; b != nil {
		o.Tell("  by %s, as it says of itself; SHA-256 %s", console.Escape(b.Author), b.SHA256)
		o.Tell("  unpacked into %s", console.Escape(b.Folder))
	}
	for _, text := range offer.Proposal.Warnings {
		o.Tell("  warning: %s", console.Escape(text))
	}
	if o.proposed.yes {
		return nil
	}
	if !o.Interactive() {
		return exit.Wrongf("nobody could be asked whether that may be added: there is no terminal; --yes agrees")
	}
	if !console.IsYes(o.Ask("Add it? [y/N]", false).Text) {
		return cannotAdd("nobody said yes; nothing was written")
	}
	return nil
}
