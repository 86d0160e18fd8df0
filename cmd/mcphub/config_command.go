package main

import (
	"cmp"
	"errors"

	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/spf13/pflag"
)

// dialects are the names that --dialect accepts.
var dialects = []string{
	config.DialectVSCode, config.DialectPortable, config.DialectRoo, config.DialectCline, config.DialectDesktop,
	config.DialectCursor,
	config.DialectGemini, config.DialectCodex, config.DialectOpencode, config.DialectCrush, config.DialectMcpServers,
}

// configOptions are the flags of mcphub config.
type configOptions struct {
	origins originFlags
	verbose bool
	json    bool
	try     bool    // --start: start the servers
	answers answers // answers to the questions of these starts
}

func (o *configOptions) flags() *pflag.FlagSet {
	set := newFlags("config")
	o.origins.register(set)
	set.BoolVar(&o.verbose, "verbose", false, "check: tell where each field comes from")
	set.BoolVar(&o.try, "start", false, "check: then start each server that nothing keeps from it, and stop it again")
	o.answers.registerStart(set)
	set.BoolVar(&o.json, "json", false, "print one JSON object on one line")
	return set
}

var errNoConfigCommand = errors.New("what of it? config check, places, add, set, remove or undo")

// runConfigCheck prints a verdict on config files. It spawns no hub, and neither runs nor connects to anything that a
// file names. Only if a program is not found, it asks the login shell for its PATH, as a start does.
func runConfigCheck(env environment, o *configOptions, files []string) int {
	if err := o.origins.check(); err != nil {
		return usageError(env, "config check", err)
	}
	if len(files) == 0 && (o.origins.scope != "" || o.origins.dialect != "") {
		return usageError(env, "config check", errors.New("--scope and --dialect say what a FILE is, and none is named"))
	}
	if err := o.answers.inputs.check(); err != nil {
		return usageError(env, "config check", err)
	}
	return o.check(env, files)
}

// runConfigPlaces lists the places where applications keep their config files.
func runConfigPlaces(env environment, o *configOptions) int {
	if err := o.origins.check(); err != nil {
		return usageError(env, "config places", err)
	}
	if o.origins.scope != "" || o.origins.dialect != "" || o.verbose || o.try {
		return usageError(env, "config places", errors.New("config places takes --folder and --json alone"))
	}
	return o.places(env)
}

// originFlags hold what a config file itself does not say: its scope, its dialect, and the folder that it belongs to.
type originFlags struct {
	folder, scope, dialect string
}

func (o *originFlags) register(set *pflag.FlagSet) {
	set.StringVar(&o.folder, "folder", "",
		"DIR\tworkspace folder of the config files, for ${workspaceFolder} say; default: the current one")
	choiceFlag(set, &o.scope, "scope", "user|workspace|host",
		"whose the config files are; the servers of a workspace start only after a yes; default: host")
	set.StringVar(&o.dialect, "dialect", "", "NAME\tdialect of the config files: "+strings.Join(dialects, ", ")+
		"; default: found out")
}

func (o *originFlags) check() error {
	if o.dialect != "" && !slices.Contains(dialects, o.dialect) {
		return fmt.Errorf("--dialect %q: it is one of %s", o.dialect, strings.Join(dialects, ", "))
	}
	if o.folder != "" {
		if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
			return fmt.Errorf("--folder %s: there is no such folder", o.folder)
		}
	}
	return nil
}

// workspace returns the folder as an absolute path, "" if not even the current folder is known.
func (o *originFlags) workspace() string {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return ""
	}
	return folder
}

// knownPlaces returns where this user's applications keep their servers, and those for the folder.
func (o *originFlags) knownPlaces() config.Places {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	p := config.Places{Home: home, Environ: os.Environ(), GOOS: runtime.GOOS}
	if folder := o.workspace(); folder != "" {
		p.Folders = []string{folder}
	}
	return p
}

// sources returns the files to check. A named file that is in a known place is read as the file of that place, except
// for what the flags say.
func (o *originFlags) sources(files []string) []config.Source {
	known := o.knownPlaces()
	if len(files) == 0 {
		return config.Known(known)
	}
	candidates := config.Candidates(known)
	sources := make([]config.Source, len(files))
	for i, file := range files {
		src := config.Source{Scope: "host", Folder: o.workspace()}
		if path, err := filepath.Abs(file); err == nil {
			for _, c := range candidates {
				if c.Path == path {
					src.Scope, src.Dialect, src.Folder = c.Scope, c.Dialect, cmp.Or(c.Folder, src.Folder)
				}
			}
		}
		src.Path, src.Scope, src.Dialect = file, cmp.Or(o.scope, src.Scope), cmp.Or(o.dialect, src.Dialect)
		sources[i] = src
	}
	return sources
}
