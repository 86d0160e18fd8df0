package main

import (
	"context"
	"flag"
	"os"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

func demoServerFlags() (set *flag.FlagSet, record *string) {
	set = newFlags("demo-server")
	return set, set.String("record", "", "FILE\tappend a JSON line for each event to this file")
}

// runDemoServer serves MCP on the process's own standard streams. It ends with its input, as the stdio transport wants it
// (MCP 2025-11-25, basic/lifecycle: shutdown), and dies of SIGTERM as any server does.
func runDemoServer(env environment, args []string) int {
	set, record := demoServerFlags()
	if _, status, done := parse(env, set, args, 0); done {
		return status
	}
	err := demoserver.Run(context.Background(), demoserver.Options{
		In: os.Stdin, Out: os.Stdout, Log: env.stderr, Record: *record, Version: version,
	})
	if err != nil {
		env.say("mcphub demo-server: %v", err)
		return exitServer
	}
	return exitOK
}
