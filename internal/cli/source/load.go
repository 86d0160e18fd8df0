package source

import (
	"context"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Load gives the hub its config and prints the problems; with server, only those of this server and of the files.
// whole is false if a file could not be read.
func Load(ctx context.Context, s console.Streams, servers mcphubv1.McpServerServiceClient,
	sources []*mcphubv1.ConfigSource, server string) (whole bool, err error) {
	r, err := servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: sources})
	if err != nil {
		return false, exit.FailureOf(err)
	}
	whole = true
	for _, p := range r.GetProblems() {
		whole = whole && (!p.GetFatal() || p.GetServer() != "")
		if server == "" || p.GetServer() == "" || p.GetServer() == server {
			s.Tell("%s", ProblemLineOf(p))
		}
	}
	return whole, nil
}

// ProblemLineOf is ProblemLine for a problem that the hub reports.
func ProblemLineOf(p *mcphubv1.ConfigProblem) string {
	return ProblemLine(config.Problem{File: p.GetFile(), Line: int(p.GetLine()), Column: int(p.GetColumn()),
		Server: p.GetServer(), Key: p.GetKey(), Message: p.GetMessage(), Fatal: p.GetFatal()})
}

// ProblemLine returns a config problem in the format of compilers, so that editors can jump to its place.
func ProblemLine(p config.Problem) string {
	s := console.OrDash(p.File)
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			s += fmt.Sprintf(":%d", p.Column)
		}
	}
	kind := "warning"
	if p.Fatal {
		kind = "error"
	}
	s += ": " + kind
	if p.Server != "" {
		s += fmt.Sprintf(": server %q", p.Server)
	}
	if p.Key != "" {
		s += fmt.Sprintf(": key %q", p.Key)
	}
	return console.Escape(s + ": " + p.Message)
}
