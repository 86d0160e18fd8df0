// Package list has the commands that list: servers, tools, resources and prompts.
//
// What must not live here: the hub that they use (package session).
package list

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/session"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// serversOptions are the flags of mcphub servers.
type serversOptions struct {
	session.Options
	start, watch bool
}

// NewServersCmd returns mcphub servers.
func NewServersCmd(f *door.Factory) *cobra.Command {
	o := &serversOptions{Options: session.Options{Factory: f}}
	c := &cobra.Command{
		Use: "servers [FILE...] [SERVER...] [--start] [--watch] [FLAGS]", Short: "list the configured servers",
		GroupID: cmd.GroupLook,
		Long: `Lists every configured server, or those that are named, broken entries with what is wrong with them included.
With --watch it goes on and tells what changes, the config files among it. Exit status 6: a config file could not be
read, or with --start a server did not start.

` + source.Help,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, words []string) error { return o.run(o.Take(words)) },
	}
	o.Register(c)
	c.Flags().BoolVar(&o.start, "start", false, "start each server first")
	c.Flags().BoolVar(&o.watch, "watch", false, "then tell each change as it comes, until interrupted")
	o.Complete(c, nil)
	c.ValidArgsFunction = cmd.CompleteWords(o.ServersAfter)
	return c
}

func (o *serversOptions) run(names []string) error {
	one := ""
	if len(names) == 1 {
		one = names[0]
	}
	if o.watch {
		if len(names) > 0 {
			return exit.Wrongf("--watch tells of all servers: leave out their names")
		}
		o.Changed = o.printsChanges()
	}
	return o.With("mcphub servers", one, func(ctx context.Context, client *door.Client) error {
		r, err := listServers(ctx, client, names)
		if err != nil {
			return err
		}
		failed := false
		if o.start {
			for _, t := range session.StartAll(ctx, client, startable(r.GetServers(), len(names) > 0), nil) {
				failed = failed || t.Err != nil
			}
			if r, err = listServers(ctx, client, names); err != nil {
				return err
			}
		}
		if o.JSON {
			console.PrintJSON(o.Out, r)
		} else {
			console.Table{Header: []string{"NAME", "STATE", "ERA", "REVISION", "OVER", "AT", "CONFIG", "PROBLEM"},
				Rows: serverRows(r.GetServers(), time.Now()), Colour: colourOfState}.Write(o.Out)
		}
		if o.watch {
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, door.ErrInterrupted) {
				return cause
			}
		}
		if failed {
			return exit.Server
		}
		return nil
	})
}

// printsChanges returns a function that prints the changes of --watch.
func (o *serversOptions) printsChanges() func(*mcphubv1.AttachResponse) {
	teller := events.NewTeller("")
	return func(event *mcphubv1.AttachResponse) {
		switch event.GetEvent().(type) {
		case *mcphubv1.AttachResponse_ServerChanged, *mcphubv1.AttachResponse_ConfigReloaded,
			*mcphubv1.AttachResponse_ToolsChanged:
		default:
			return
		}
		if o.JSON {
			console.PrintJSON(o.Out, event)
			return
		}
		for _, line := range teller.Lines(event) {
			fmt.Fprintln(o.Out, line)
		}
	}
}

// listServers returns the servers of the hub, or those that are named.
func listServers(ctx context.Context, client *door.Client, names []string) (*mcphubv1.ListServersResponse, error) {
	r, err := client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
	if err == nil {
		err = pick(r, names)
	}
	return r, err
}

// pick removes the servers that are not named; without names it keeps all.
func pick(r *mcphubv1.ListServersResponse, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var all []string
	var picked []*mcphubv1.Server
	met := map[string]bool{} // the names that were found
	for _, s := range r.GetServers() {
		all = append(all, s.GetName())
		address := config.Address(s.GetConfigName(), config.Origin{Scope: s.GetConfigScope()}.Holder())
		i := slices.IndexFunc(names, func(n string) bool { return n == s.GetName() || n == address })
		if i < 0 {
			continue
		}
		met[s.GetName()], met[address] = true, true
		picked = append(picked, s)
	}
	for _, n := range names {
		if !met[n] {
			return &exit.Failure{Code: "NOT_FOUND", Reason: "SERVER_NOT_FOUND",
				Message: fmt.Sprintf("there is no server %q in the config%s", console.ShortName(n), event.Hint(n, all))}
		}
	}
	r.Servers = picked
	return nil
}

// colourOfState returns the colour for the second column of the list of servers: green for a server that works, red for
// one that does not.
func colourOfState(column int, cell string) string {
	if column != 1 {
		return ""
	}
	switch state, _, _ := strings.Cut(cell, ","); state {
	case "ready":
		return console.Green
	case "failed", "broken", "given up":
		return console.Red
	case "stopped", "disabled":
		return console.Dim
	}
	return console.Yellow
}

// startable returns the names of the servers that can be started. named says that the user has named the servers.
func startable(servers []*mcphubv1.Server, named bool) (names []string) {
	for _, s := range servers {
		if !named && beside(s) != "" {
			continue // it is started only if the user names it
		}
		switch s.GetState() {
		case mcphubv1.ServerState_SERVER_STATE_DISABLED, mcphubv1.ServerState_SERVER_STATE_BROKEN:
		default:
			names = append(names, s.GetName())
		}
	}
	return names
}

func serverRows(servers []*mcphubv1.Server, now time.Time) [][]string {
	rows := make([][]string, len(servers))
	for i, s := range servers {
		rows[i] = []string{
			s.GetName(), serverState(s, now), console.Word(s.GetEra(), "ERA_"), console.OrDash(s.GetProtocolRevision()),
			console.Word(s.GetTransport(), "SERVER_TRANSPORT_"), serverPlace(s), configPlace(s),
			console.OrDash(serverProblem(s)),
		}
	}
	return rows
}

// beside returns the name that this server would have if no other server had it, and "" if it has that name.
func beside(s *mcphubv1.Server) string {
	if of := s.GetConfigName(); of != s.GetName() {
		return of
	}
	return ""
}

// serverState returns the state and what else is of interest: the sign-in, the consent, and what the hub will do by
// itself.
func serverState(s *mcphubv1.Server, now time.Time) string {
	parts := []string{console.Word(s.GetState(), "SERVER_STATE_")}
	switch s.GetSignIn() {
	case mcphubv1.SignInState_SIGN_IN_STATE_NEEDED, mcphubv1.SignInState_SIGN_IN_STATE_ASKING:
		parts = append(parts, "not signed in")
	case mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN:
		parts = append(parts, "signed in")
	}
	switch s.GetLaunchConsent() {
	case mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED, mcphubv1.LaunchConsent_LAUNCH_CONSENT_ASKING:
		parts = append(parts, "asks before it starts")
	case mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED:
		parts = append(parts, "start declined")
	}
	if of := beside(s); of != "" {
		parts = append(parts, "beside "+of)
	}
	if waiting := s.GetWaitingForConsent(); len(waiting) > 0 {
		parts = append(parts, "another entry waits for a yes: "+console.Place(waiting[0].GetFile(), waiting[0].GetLine()))
	}
	if s.GetStart() == mcphubv1.ServerStart_SERVER_START_EAGER {
		parts = append(parts, "eager")
	}
	if n := s.GetFailures(); n > 0 {
		parts = append(parts, console.Plural(int(n), "failure"))
	}
	if next := s.GetNextStartTime(); next != nil {
		parts = append(parts, "next start in "+console.Duration(max(0, next.AsTime().Sub(now))))
	}
	return strings.Join(parts, ", ")
}

// configPlace returns the place of the entry, and the dialect and scope of the file if they are not the usual ones.
func configPlace(s *mcphubv1.Server) string {
	at := console.Place(s.GetConfigFile(), s.GetConfigLine())
	var what []string
	if d := s.GetConfigDialect(); d != "" && d != config.DialectMcpServers {
		what = append(what, d)
	}
	if scope := s.GetConfigScope(); scope != "" && scope != "host" {
		what = append(what, scope)
	}
	if len(what) > 0 {
		at += " (" + strings.Join(what, ", ") + ")"
	}
	return at
}

// serverPlace returns the server's program, or its URL.
func serverPlace(s *mcphubv1.Server) string {
	switch {
	case s.GetUrl() != "":
		return s.GetUrl()
	case s.GetCommand() != "":
		return filepath.Base(s.GetCommand())
	}
	return "-"
}

// serverProblem returns what a person should know first: a fatal problem of the entry, else the last failure, else a
// warning.
func serverProblem(s *mcphubv1.Server) string {
	var texts []string
	for _, fatal := range []bool{true, false} {
		if !fatal && s.GetLastError() != "" {
			texts = append(texts, console.FirstLine(exit.Advised(s.GetLastError(), nil)))
		}
		if !fatal && s.GetLastExit() != "" && !strings.Contains(s.GetLastError(), s.GetLastExit()) {
			texts = append(texts, "last exit: "+console.FirstLine(s.GetLastExit()))
		}
		for _, p := range s.GetProblems() {
			if p.GetFatal() == fatal {
				text := p.GetMessage()
				if p.GetKey() != "" {
					text = p.GetKey() + ": " + text
				}
				texts = append(texts, console.FirstLine(text))
			}
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	return fmt.Sprintf("%s (and %d more)", texts[0], len(texts)-1)
}
