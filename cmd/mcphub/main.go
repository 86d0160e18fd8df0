// Command mcphub is the MCP backend of a code editor, and a command line over it, which package internal/cli has.
package main

import (
	"os"

	"github.com/mcphub-go/mcphub/internal/cli"
)

// version is the version of the program. `mcphub version` prints it, and GetInfo returns it to hosts. A release sets it
// by the linker, without the -dev. A rule keeps the packages under editors/ at the same number.
var version = "0.1.0-dev"

func main() { os.Exit(cli.Main(version, os.Args[1:])) }
