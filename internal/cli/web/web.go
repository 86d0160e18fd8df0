// Package web has mcphub web: the editor's page in a browser, over the user's own servers.
//
// What must not live here: how the page is served (package browser).
package web

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/browser"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/proposals"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/web"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// options are the flags of mcphub web.
type options struct {
	*door.Factory
	source.Flags
	page     browser.Flags
	registry string // the registry that the page searches
}

// NewWebCmd returns mcphub web.
func NewWebCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "web [CONFIG...] [FLAGS]", Short: "the editor's page in a browser, over your own servers", GroupID: cmd.GroupTry,
		Long: `Serves the editor's page to a browser of this machine, over a hub with the servers of the config files
(or the one server): see them, call tools, cancel, answer what they ask. The address on stdout opens one browser,
once; on a terminal Enter prints another one. Ctrl-C ends everything, a second one at once. What is allowed on the
page is remembered for this command alone, in the directory browser of mcphub's state directory. Where no application
of yours keeps servers, the page shows how to begin, and writes what you add into .mcp.json of the folder.

--open hands the address to the system's browser; for that moment other users of this machine can see it (in ps).
`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, files []string) error { return o.run(files) },
	}
	o.Register(c)
	o.Complete(c, nil)
	o.page.Register(c.Flags())
	proposals.RegisterRegistry(c.Flags(), &o.registry)
	c.Flags().Lookup("registry").Usage = "URL\taddress of the registry that Add a server searches; default: the environment " +
		"variable " + proposals.EnvRegistry
	return c
}

// run shows the servers of the config files on the page.
func (o *options) run(files []string) error {
	o.Configs = append(o.Configs, files...)
	wrongSource := o.Flags.Check()
	none := errors.Is(wrongSource, source.ErrNoServer)
	if wrongSource != nil && !none {
		return exit.Wrong(wrongSource)
	}
	if err := o.page.Check(); err != nil {
		return exit.Wrong(err)
	}
	if err := o.CheckAllServers(); err != nil {
		return exit.Wrong(err)
	}
	sources, err := o.Sources("")
	if err != nil {
		return exit.Wrong(err)
	}
	if none { // the page helps to add the first server
		first := firstConfig(o.Origins.Workspace())
		sources = []*mcphubv1.ConfigSource{first}
		o.Say("No application of yours keeps servers where mcphub config places looks. What you add on the page is written "+
			"to %s.", console.Escape(first.GetPath()))
	}
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	err = func() error {
		client, err := o.Open(ctx, door.StateDir("browser"))
		if err != nil {
			return err
		}
		if _, err := source.Load(ctx, o.Streams, client.Servers, sources, ""); err != nil {
			o.Close(client, door.CloseTime)
			return err
		}
		// The user who opens the page has named the files, or owns them.
		return browser.Serve(ctx, o.Factory, client, o.page, web.Options{ConfigWrites: true, Registry: o.registry})
	}()
	if errors.Is(context.Cause(ctx), door.ErrInterrupted) {
		return nil
	}
	return err
}

// firstConfig returns the file for the first server of a user who has none: the file of the folder that many
// applications read, and that mcphub finds the next time.
func firstConfig(folder string) *mcphubv1.ConfigSource {
	return &mcphubv1.ConfigSource{Path: filepath.Join(folder, ".mcp.json"), Scope: "workspace", Dialect: "portable",
		Folder: folder, MayBeMissing: true}
}
