package source

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
)

// Dialects are the names that --dialect accepts.
var Dialects = []string{
	config.DialectVSCode, config.DialectPortable, config.DialectRoo, config.DialectCline, config.DialectDesktop,
	config.DialectCursor,
	config.DialectGemini, config.DialectCodex, config.DialectOpencode, config.DialectCrush, config.DialectMcpServers,
}

// Origins hold what a config file itself does not say: its scope, its dialect, and the folder that it belongs to.
type Origins struct {
	folder, Scope, Dialect string
}

// Register defines the flags in a set of c.
func (o *Origins) Register(c *cobra.Command, set *pflag.FlagSet) {
	set.StringVar(&o.folder, "folder", "",
		"DIR\tworkspace folder of the config files, for ${workspaceFolder} say; default: the current one")
	cmd.ChoiceFlag(set, &o.Scope, "scope", "user|workspace|host",
		"whose the config files are; the servers of a workspace start only after a yes; default: host")
	set.StringVar(&o.Dialect, "dialect", "", "NAME\tdialect of the config files: "+strings.Join(Dialects, ", ")+
		"; default: found out")
	cmd.CompleteFlag(c, "dialect", func([]string) []string { return Dialects }, cobra.ShellCompDirectiveNoFileComp)
}

// Check returns an error if the flags are wrong.
func (o *Origins) Check() error {
	if o.Dialect != "" && !slices.Contains(Dialects, o.Dialect) {
		return fmt.Errorf("--dialect %q: it is one of %s", o.Dialect, strings.Join(Dialects, ", "))
	}
	if o.folder != "" {
		if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
			return fmt.Errorf("--folder %s: there is no such folder", o.folder)
		}
	}
	return nil
}

// Workspace returns the folder as an absolute path, "" if not even the current folder is known.
func (o *Origins) Workspace() string {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return ""
	}
	return folder
}

// KnownPlaces returns where this user's applications keep their servers, and those for the folder.
func (o *Origins) KnownPlaces() config.Places {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	p := config.Places{Home: home, Environ: os.Environ(), GOOS: runtime.GOOS}
	if folder := o.Workspace(); folder != "" {
		p.Folders = []string{folder}
	}
	return p
}

// Sources returns the files to check. A named file that is in a known place is read as the file of that place, except
// for what the flags say.
func (o *Origins) Sources(files []string) []config.Source {
	known := o.KnownPlaces()
	if len(files) == 0 {
		return config.Known(known)
	}
	candidates := config.Candidates(known)
	sources := make([]config.Source, len(files))
	for i, file := range files {
		src := config.Source{Scope: "host", Folder: o.Workspace()}
		if path, err := filepath.Abs(file); err == nil {
			for _, c := range candidates {
				if c.Path == path {
					src.Scope, src.Dialect, src.Folder = c.Scope, c.Dialect, cmp.Or(c.Folder, src.Folder)
				}
			}
		}
		src.Path, src.Scope, src.Dialect = file, cmp.Or(o.Scope, src.Scope), cmp.Or(o.Dialect, src.Dialect)
		sources[i] = src
	}
	return sources
}
