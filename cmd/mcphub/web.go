package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// webFlags are the flags for serving the page.
type webFlags struct {
	port int
	open bool

	configWrites bool   // the page may change the config files
	registry     string // the registry that the page searches
}

func (o *webFlags) register(set *pflag.FlagSet) {
	set.IntVar(&o.port, "port", 0, "PORT\tserve the page at this port of this machine; default: a free one")
	set.BoolVar(&o.open, "open", false, "open the page in the browser")
}

func (o *webFlags) check() error {
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port %d: a port is a number from 1 to 65535, or 0 for a free one", o.port)
	}
	return nil
}

// webOptions are the flags of mcphub web.
type webOptions struct {
	sourceFlags
	webFlags
}

func (o *webOptions) flags() *pflag.FlagSet {
	set := newFlags("web")
	o.sourceFlags.register(set)
	o.webFlags.register(set)
	set.StringVar(&o.registry, "registry", os.Getenv(envRegistry),
		"URL\taddress of the registry that Add a server searches; default: the environment variable "+envRegistry)
	set.Lookup("registry").DefValue = ""
	return set
}

// manyFiles is more config files than anybody would name.
const manyFiles = 1000

// runWeb shows the servers of the config files on the page.
func runWeb(env environment, o webOptions, files []string) int {
	o.configs = append(o.configs, files...)
	o.configWrites = true // the user who opens the page has named the files, or owns them
	wrong := o.sourceFlags.check()
	none := errors.Is(wrong, errNoServer)
	if wrong != nil && !none {
		return usageError(env, "web", wrong)
	}
	if err := o.webFlags.check(); err != nil {
		return usageError(env, "web", err)
	}
	if err := o.checkAllServers(); err != nil {
		return usageError(env, "web", err)
	}
	sources, err := o.sources("")
	if err != nil {
		return usageError(env, "web", err)
	}
	if none { // the page helps to add the first server
		first := firstConfig(o.origins.workspace())
		sources = []*mcphubv1.ConfigSource{first}
		env.say("No application of yours keeps servers where mcphub config places looks. What you add on the page is written "+
			"to %s.", escape(first.GetPath()))
	}
	ctx, stop := env.interruptible()
	defer stop()
	defer leaveAtOnce(ctx)()
	err = func() error {
		client, err := openHubWith(ctx, env, stateDir("browser"))
		if err != nil {
			return err
		}
		if _, err := loadConfig(ctx, env, client.Servers, sources, ""); err != nil {
			closeHub(env, client, closeTime)
			return err
		}
		return browse(ctx, env, client, o.webFlags, typedLines(env))
	}()
	if err == nil || errors.Is(context.Cause(ctx), errInterrupted) {
		return exitOK
	}
	f := asFailure(err)
	env.tell("mcphub web: %s", escape(f.Message))
	return exitOf(f)
}

// firstConfig returns the file for the first server of a user who has none: the file of the folder that many
// applications read, and that mcphub finds the next time.
func firstConfig(folder string) *mcphubv1.ConfigSource {
	return &mcphubv1.ConfigSource{Path: filepath.Join(folder, ".mcp.json"), Scope: "workspace", Dialect: "portable",
		Folder: folder, MayBeMissing: true}
}

// leaveAtOnce makes a second interrupt end the process at once, since closing may take long.
func leaveAtOnce(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { signal.Reset(syscall.SIGINT, syscall.SIGTERM) })
}

// typedLines returns the lines that a person types, nil if there is nobody.
func typedLines(env environment) <-chan string {
	if !env.interactive() {
		return nil
	}
	return readLines(env.stdin)
}
