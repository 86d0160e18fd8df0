package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// openTypeScript starts the client of the TypeScript SDK 2.x. The target is "stdio" and a command, or "http", a URL and
// an Authorization header. The calls are made in its Node process.
func openTypeScript(o options, name, tool string, target ...string) (subject, error) {
	script := filepath.Join(o.bin.root, "internal", "peers", "typescript2", "load.mjs")
	cmd := exec.Command("node", append([]string{"--no-warnings", script, tool, string(echoArguments)}, target...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return subject{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return subject{}, err
	}
	if err := cmd.Start(); err != nil {
		return subject{}, fmt.Errorf("%s: %w", name, err)
	}
	lines := bufio.NewReader(out)
	return subject{
		name: name,
		pump: func(parallel int, stop *atomic.Bool) (int, error) {
			if _, err := fmt.Fprintf(in, "run %d\n", parallel); err != nil {
				return 0, err
			}
			for !stop.Load() {
				time.Sleep(time.Millisecond)
			}
			if _, err := io.WriteString(in, "stop\n"); err != nil {
				return 0, err
			}
			line, err := lines.ReadString('\n')
			if err != nil {
				return 0, fmt.Errorf("the TypeScript client ended (is it installed? make peers): %w", err)
			}
			return strconv.Atoi(strings.TrimSpace(line))
		},
		close: func() {
			_ = in.Close()
			_ = cmd.Wait()
		},
	}, nil
}

const typeScriptClient = "the TypeScript SDK's client"

// measureGatewayClients measures the TypeScript SDK's client, connected directly and behind the gateway.
func measureGatewayClients(ctx context.Context, o options, through transport.Command) (rows []row, err error) {
	var subjects []subject
	defer func() { closeAll(subjects) }()
	for _, s := range [][]string{{"direct", "echo", "stdio", o.bin.echo},
		append([]string{"gateway", "e__echo", "stdio", through.Path}, through.Args...)} {
		opened, err := openTypeScript(o, s[0], s[1], s[2:]...)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, opened)
	}
	return compareGateway(ctx, o, subjects, typeScriptClient)
}

// compareGateway compares the subject "direct" with the same client as the subject "gateway".
func compareGateway(ctx context.Context, o options, subjects []subject, client string) ([]row, error) {
	d := pick(o, 400*time.Millisecond, 150*time.Millisecond)
	one, err := interleave(ctx, subjects, o.rounds, d, 1)
	if err != nil {
		return nil, err
	}
	many, err := interleave(ctx, subjects, o.rounds, d, together)
	if err != nil {
		return nil, err
	}
	more := ratio(o.rounds, func(i int) float64 { return (one["gateway"][i].latency - one["direct"][i].latency) / 1000 })
	rate := ratio(o.rounds, func(i int) float64 { return many["gateway"][i].rate / many["direct"][i].rate })
	latency, calls := func(s sample) float64 { return s.latency }, func(s sample) float64 { return s.rate }
	rows := []row{
		number("stdio, "+client+": a call through the gateway, more than directly", more, "ms",
			"us a call: direct %.1f, through %.1f", of(one["direct"], latency), of(one["gateway"], latency)),
	}
	if client != typeScriptClient { // whose own share of a call is as long as the gateway's
		rows[0] = rows[0].atMost(0.3)
	}
	direct := number("stdio, "+client+": through the gateway / directly, 64 at once", rate, "",
		"calls/s: direct %.0f, through %.0f", of(many["direct"], calls), of(many["gateway"], calls))
	if many[relayed] == nil {
		return append(rows, direct.atLeast(0.4)), nil
	}
	// On two cores, a third process cannot pass on as many calls as the bare client makes alone; see docs/adr/0048.
	return append(rows, direct, number("stdio, "+client+": through the gateway / through a relay, 64 at once",
		ratio(o.rounds, func(i int) float64 { return many["gateway"][i].rate / many[relayed][i].rate }), "",
		"calls/s: relay %.0f; us a call: relay %.1f", of(many[relayed], calls), of(one[relayed], latency)).
		atLeast(0.4)), nil
}

// startGatewayHTTP starts mcphub mcp with this config file over HTTP.
func startGatewayHTTP(o options, file string) (address, authorization string, end func(), err error) {
	return startHTTP(exec.Command(o.bin.mcphub, "mcp", file, "--http", "127.0.0.1:0"))
}

// startHTTP starts a program that prints its address and the value for the Authorization header of its clients.
func startHTTP(cmd *exec.Cmd) (address, authorization string, end func(), err error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	lines := bufio.NewReader(out)
	at, err1 := lines.ReadString('\n')
	allowed, err2 := lines.ReadString('\n')
	if err := errors.Join(err1, err2); err != nil {
		end()
		return "", "", nil, err
	}
	return strings.TrimSpace(at), strings.TrimSpace(strings.TrimPrefix(allowed, "Authorization:")), end, nil
}

// relayed is the name of the subject that runs the engine's two halves without the hub; see serveMCPRelay.
const relayed = "relay"

// measureGatewayHTTP compares clients of three endpoints over HTTP: of the scripted server itself, of a gateway with
// this config file, and of a relay. The gateway and the relay use the scripted server over stdio.
func measureGatewayHTTP(ctx context.Context, o options, file string) (rows []row, err error) {
	url, stop, err := startWeb(o)
	if err != nil {
		return nil, err
	}
	defer stop()
	address, token, end, err := startGatewayHTTP(o, file)
	if err != nil {
		return nil, err
	}
	defer end()
	relay := exec.Command(o.bin.self, mcpRelay)
	relay.Env = append(os.Environ(), envEcho+"="+o.bin.echo, envRelayHTTP+"=1")
	relayAddress, relayToken, endRelay, err := startHTTP(relay)
	if err != nil {
		return nil, err
	}
	defer endRelay()
	session := func(name, tool, url string, header http.Header) (subject, error) {
		session, err := mcp.Connect(ctx, mcp.Options{
			Server: "web", Open: mcp.HTTP(transport.HTTPOptions{URL: url, Header: header}), Era: mcp.EraLegacy,
			Client: mcp.Implementation{Name: "bench", Version: "1"}, Handler: mcp.NoHandler{},
		})
		return subject{
			name: name,
			call: func(ctx context.Context) error {
				_, err := session.CallTool(ctx, &mcp.CallRequest{Name: tool, Arguments: echoArguments})
				return err
			},
			close: func() { _ = session.Close(errBenchOver) },
		}, err
	}
	for _, client := range []struct {
		name                   string
		direct, through, relay func() (subject, error)
	}{
		{"the engine's client", func() (subject, error) { return session("direct", "echo", url, nil) },
			func() (subject, error) {
				return session("gateway", "e__echo", address, http.Header{"Authorization": {token}})
			}, func() (subject, error) {
				return session(relayed, "e__echo", relayAddress, http.Header{"Authorization": {relayToken}})
			}},
		{typeScriptClient,
			func() (subject, error) { return openTypeScript(o, "direct", "echo", "http", url, "none") },
			func() (subject, error) { return openTypeScript(o, "gateway", "e__echo", "http", address, token) },
			func() (subject, error) {
				return openTypeScript(o, relayed, "e__echo", "http", relayAddress, relayToken)
			}},
	} {
		compared, err := compareHTTP(ctx, o, client.name, client.direct, client.through, client.relay)
		if err != nil {
			return nil, err
		}
		rows = append(rows, compared...)
	}
	return rows, nil
}

func compareHTTP(ctx context.Context, o options, client string, open ...func() (subject, error)) ([]row, error) {
	var subjects []subject
	defer func() { closeAll(subjects) }()
	for _, open := range open {
		s, err := open()
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, s)
	}
	one, err := interleave(ctx, subjects, o.rounds, pick(o, 400*time.Millisecond, 150*time.Millisecond), 1)
	if err != nil {
		return nil, err
	}
	latency := func(s sample) float64 { return s.latency }
	than := func(other string) float64 {
		return ratio(o.rounds, func(i int) float64 { return one["gateway"][i].latency / one[other][i].latency })
	}
	direct := number("HTTP, "+client+": a call through the gateway / directly", than("direct"), "times",
		"us a call: direct %.1f, through %.1f", of(one["direct"], latency), of(one["gateway"], latency))
	if client == typeScriptClient { // for the bare client see docs/adr/0048
		direct = direct.atMost(1.3)
	}
	return []row{direct,
		number("HTTP, "+client+": a call through the gateway / through a relay", than(relayed), "times",
			"us a call: relay %.1f", of(one[relayed], latency)).atMost(1.7),
	}, nil
}
