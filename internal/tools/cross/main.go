// Cross checks the types of all packages and tests for systems that the tests do not run on. It reads what the packages
// import from source, without the bodies of functions, where go vet compiles all of it for each system: a tenth of the
// time.
//
//	cross FOLDER GOOS...
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: cross FOLDER GOOS...")
		os.Exit(2)
	}
	failed := 0
	for _, system := range os.Args[2:] {
		fmt.Println("GOOS=" + system)
		pkgs, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax |
				packages.NeedTypesInfo,
			Dir: os.Args[1], Tests: true, Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, "cross:", err)
			os.Exit(2)
		}
		failed += packages.PrintErrors(pkgs)
	}
	if failed > 0 {
		os.Exit(1)
	}
}
