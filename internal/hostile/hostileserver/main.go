// Command hostileserver runs a hostile server on stdin and stdout, as `hostileserver BEHAVIOUR`. Without arguments it
// lists the behaviours. Use it only for measurements.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mcphub-go/mcphub/internal/hostile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostileserver:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		for _, name := range hostile.Names() {
			fmt.Printf("%-18s %s\n", name, hostile.About(name))
		}
		return nil
	}
	s, err := hostile.New(args[0])
	if err != nil {
		return err
	}
	if s.Stderr != nil {
		go s.Stderr(os.Stderr, nil)
	}
	return s.Serve(context.Background(), os.Stdin, os.Stdout)
}
