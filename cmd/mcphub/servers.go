package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func runServers(env environment, args []string) int {
	var o listOptions
	if _, status, done := parse(env, o.flags("servers"), args, 0); done {
		return status
	}
	return o.withHub(env, "servers", "", func(ctx context.Context, client *hubClient) int {
		r, err := client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
		status := exitOK
		if err == nil && o.start {
			if startAll(ctx, client, r.GetServers()) > 0 {
				status = exitServer
			}
			r, err = client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
		}
		if err != nil {
			return o.fail(env, "servers", ctx, err)
		}
		if o.json {
			printJSON(env.stdout, r)
			return status
		}
		writeTable(env.stdout, terminalWidth(env.stdout),
			[]string{"NAME", "STATE", "ERA", "REVISION", "OVER", "AT", "CONFIG", "PROBLEM"}, serverRows(r.GetServers()))
		return status
	})
}

// startAll starts every server that can be started, all at once, and gives the number that failed.
// What went wrong stands in the server's last_error.
func startAll(ctx context.Context, client *hubClient, servers []*mcphubv1.Server) int {
	var group sync.WaitGroup
	failed := make([]bool, len(servers))
	for i, s := range servers {
		switch s.GetState() {
		case mcphubv1.ServerState_SERVER_STATE_DISABLED, mcphubv1.ServerState_SERVER_STATE_BROKEN:
			continue
		}
		group.Go(func() {
			_, err := client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: s.GetName()})
			failed[i] = err != nil
		})
	}
	group.Wait()
	n := 0
	for _, f := range failed {
		if f {
			n++
		}
	}
	return n
}

func serverRows(servers []*mcphubv1.Server) [][]string {
	rows := make([][]string, len(servers))
	for i, s := range servers {
		rows[i] = []string{
			s.GetName(), serverState(s), word(s.GetEra(), "ERA_"), orDash(s.GetProtocolRevision()),
			word(s.GetTransport(), "SERVER_TRANSPORT_"), serverPlace(s), place(s.GetConfigFile(), s.GetConfigLine()), orDash(serverProblem(s)),
		}
	}
	return rows
}

// serverState gives the state, and how the sign-in stands where there is one.
func serverState(s *mcphubv1.Server) string {
	state := word(s.GetState(), "SERVER_STATE_")
	switch s.GetSignIn() {
	case mcphubv1.SignInState_SIGN_IN_STATE_NEEDED, mcphubv1.SignInState_SIGN_IN_STATE_ASKING:
		return state + ", not signed in"
	case mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN:
		return state + ", signed in"
	}
	return state
}

// serverPlace gives the program that is the server, or its address.
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

// serverProblem gives the one thing that a person should know first: what breaks the entry, else what went wrong last, else what
// is odd.
func serverProblem(s *mcphubv1.Server) string {
	var texts []string
	for _, fatal := range []bool{true, false} {
		if !fatal && s.GetLastError() != "" {
			texts = append(texts, firstLine(s.GetLastError()))
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
