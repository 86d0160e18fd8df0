package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// envBinary is the variable that names the hub's binary.
	envBinary = "MCPHUB_BINARY"
	// peer is the name of the suite's server in the hub's config.
	peer = "peer"
	// limit is shorter than that of the suite, so that the error says what did not end.
	limit = 50 * time.Second
	// closeLimit bounds the end of the hub.
	closeLimit = 5 * time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	s, err := scenario.Parse(os.Args[1:], os.Getenv)
	if err != nil {
		return err
	}
	binary := os.Getenv(envBinary)
	if binary == "" {
		return errors.New(envBinary + " must name the hub to test")
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the scenario took longer than "+
		limit.String()))
	defer cancel()

	// No state is kept: each scenario starts like a first use.
	hub, err := host.Open(ctx, host.Options{Command: binary, Env: []string{handshake.EnvStateDir + "="},
		Stderr: os.Stderr})
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeoutCause(context.Background(), closeLimit,
			errors.New("the hub took too long to end"))
		defer cancel()
		err = errors.Join(err, hub.Close(closing))
	}()
	if err := configure(ctx, hub, s); err != nil {
		return err
	}
	// The window comes first: the hub does not offer a server capabilities for which no window can be asked.
	w, err := attach(ctx, hub.Editor)
	if err != nil {
		return err
	}
	err = scenario.Run(ctx, s, hubClient{hub})
	return errors.Join(err, w.close())
}

func configure(ctx context.Context, hub *host.Client, s scenario.Scenario) error {
	text, err := config(s)
	if err != nil {
		return err
	}
	r, err := hub.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "conformance.json", Json: text}},
	})
	if err != nil {
		return fmt.Errorf("configuring: %w", err)
	}
	var problems []error
	for _, p := range r.GetProblems() {
		problems = append(problems, fmt.Errorf("config: key %q: %s", p.GetKey(), p.GetMessage()))
	}
	return errors.Join(problems...)
}
