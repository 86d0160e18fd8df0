// Package proposals shows servers that somebody else has published, from registries and bundles, before they are added.
//
// What must not live here: where they are found (hub/catalog).
package proposals

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// EnvRegistry names the variable with the registry for commands without --registry.
const EnvRegistry = "MCPHUB_REGISTRY"

// RegisterRegistry defines --registry for a command that asks a registry.
func RegisterRegistry(set *pflag.FlagSet, to *string) {
	set.StringVar(to, "registry", os.Getenv(EnvRegistry),
		"URL\taddress of the registry, before /v0.1; default: the environment variable "+EnvRegistry)
	set.Lookup("registry").DefValue = ""
}

// NewCatalog returns a catalog that keeps its state with that of the command line.
func NewCatalog() *catalog.Catalog {
	return catalog.New(catalog.Options{StateDir: door.StateDir("command-line")})
}

// ErrorOf returns an error of a catalog or of a change for the person at the command line.
func ErrorOf(err error) error {
	if _, said := errors.AsType[*exit.Error](err); said {
		return err
	}
	e := event.AsError(err)
	if e.Reason == event.ReasonRegistryNotSet {
		return exit.Wrongf("no registry is chosen: say --registry URL or set %s", EnvRegistry)
	}
	return &exit.Error{Status: exit.Broken, Err: errors.New(e.Message)}
}

// InputName returns the name of an input for --input.
func InputName(in proposal.Input) string { return in.ID[strings.IndexByte(in.ID, '.')+1:] }

// PrintEntry prints everything that an entry would start or connect to.
func PrintEntry(w io.Writer, e proposal.Entry) {
	line := func(format string, args ...any) { fmt.Fprint(w, console.ForReading(w, fmt.Sprintf(format, args...))) }
	if e.Command != "" {
		line("  runs: %s", console.Escape(console.ShellLine(append([]string{e.Command}, e.Args...))))
	} else if e.URL != "" {
		line("  connects to: %s", console.Escape(e.URL))
	}
	for what, values := range map[string]map[string]string{"variable": e.Env, "header": e.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line("  %s: %s=%s", what, console.Escape(name), console.Escape(values[name]))
		}
	}
}
