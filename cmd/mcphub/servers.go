package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func runServers(env environment, o *listOptions, words []string) int {
	names, one := o.take(words), ""
	if len(names) == 1 {
		one = names[0]
	}
	if len(names) > 0 && o.watch {
		return usageError(env, "servers", errors.New("--watch tells of all servers: leave out their names"))
	}
	return o.withHub(env, "servers", one, func(ctx context.Context, client *hubClient) int {
		r, err := client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
		if err == nil {
			err = pick(r, names)
		}
		status := exitOK
		if err == nil && o.start {
			for _, t := range startAll(ctx, client, startable(r.GetServers(), len(names) > 0), nil) {
				if t.err != nil {
					status = exitServer
				}
			}
			if r, err = client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{}); err == nil {
				err = pick(r, names)
			}
		}
		if err != nil {
			return o.fail(env, "servers", ctx, err)
		}
		if o.json {
			printJSON(env.stdout, r)
		} else {
			table{header: []string{"NAME", "STATE", "ERA", "REVISION", "OVER", "AT", "CONFIG", "PROBLEM"},
				rows: serverRows(r.GetServers(), time.Now()), colour: colourOfState}.write(env.stdout)
		}
		if o.watch { // the doorman prints the changes
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
				return o.fail(env, "servers", context.WithoutCancel(ctx), cause)
			}
		}
		return status
	})
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
			return &failure{Code: "NOT_FOUND", Reason: "SERVER_NOT_FOUND",
				Message: fmt.Sprintf("there is no server %q in the config%s", shortName(n), nearmiss.Hint(n, all))}
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
		return green
	case "failed", "broken", "given up":
		return red
	case "stopped", "disabled":
		return dim
	}
	return yellow
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

// startsAtOnce bounds how many servers are started at the same time, since each may be a package that must be
// downloaded first.
const startsAtOnce = 8

// tried is the result of the start of a server.
type tried struct {
	name   string
	server *mcphubv1.Server // nil if the start failed
	err    error
	took   time.Duration
}

// startAll starts servers, several at once, each within its own connect timeout, and returns the results. An error is
// also in the server's last_error. If look is not nil, it is called for each server that is ready, and the server is
// then stopped again. Otherwise the servers keep running.
func startAll(ctx context.Context, client *hubClient, names []string, look func(server string)) []tried {
	var group sync.WaitGroup
	turns := make(chan struct{}, startsAtOnce)
	came := make([]tried, len(names))
	for i, name := range names {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			began := time.Now()
			r, err := client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: name})
			came[i] = tried{name, r.GetServer(), err, time.Since(began)}
			if err == nil && look != nil {
				look(name)
				// If this fails, the end of the hub stops the server.
				_, _ = client.Servers.StopServer(ctx, &mcphubv1.StopServerRequest{Server: name, Reason: "it was tried"})
			}
		})
	}
	group.Wait()
	return came
}

func serverRows(servers []*mcphubv1.Server, now time.Time) [][]string {
	rows := make([][]string, len(servers))
	for i, s := range servers {
		rows[i] = []string{
			s.GetName(), serverState(s, now), word(s.GetEra(), "ERA_"), orDash(s.GetProtocolRevision()),
			word(s.GetTransport(), "SERVER_TRANSPORT_"), serverPlace(s), configPlace(s), orDash(serverProblem(s)),
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
	parts := []string{word(s.GetState(), "SERVER_STATE_")}
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
		parts = append(parts, "another entry waits for a yes: "+place(waiting[0].GetFile(), waiting[0].GetLine()))
	}
	if s.GetStart() == mcphubv1.ServerStart_SERVER_START_EAGER {
		parts = append(parts, "eager")
	}
	if n := s.GetFailures(); n > 0 {
		parts = append(parts, plural(int(n), "failure"))
	}
	if next := s.GetNextStartTime(); next != nil {
		parts = append(parts, "next start in "+shortDuration(max(0, next.AsTime().Sub(now))))
	}
	return strings.Join(parts, ", ")
}

// configPlace returns the place of the entry, and the dialect and scope of the file if they are not the usual ones.
func configPlace(s *mcphubv1.Server) string {
	at := place(s.GetConfigFile(), s.GetConfigLine())
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

func place(file string, line int32) string {
	if file == "" {
		return "-"
	}
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(int(line))
}

// serverProblem returns what a person should know first: a fatal problem of the entry, else the last failure, else a
// warning.
func serverProblem(s *mcphubv1.Server) string {
	var texts []string
	for _, fatal := range []bool{true, false} {
		if !fatal && s.GetLastError() != "" {
			texts = append(texts, firstLine(withoutTerminal(s.GetLastError(), nil)))
		}
		if !fatal && s.GetLastExit() != "" && !strings.Contains(s.GetLastError(), s.GetLastExit()) {
			texts = append(texts, "last exit: "+firstLine(s.GetLastExit()))
		}
		for _, p := range s.GetProblems() {
			if p.GetFatal() == fatal {
				text := p.GetMessage()
				if p.GetKey() != "" {
					text = p.GetKey() + ": " + text
				}
				texts = append(texts, firstLine(text))
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
