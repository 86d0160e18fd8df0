package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// configServers is the number of servers in the measured config.
const configServers = 200

// measureConfig lets a real hub read a file with many servers: for the first time, again without a change, and again
// with one changed entry. It measures the whole call, from the host to the hub and back.
func measureConfig(ctx context.Context, o options) ([]row, error) {
	dir, err := os.MkdirTemp("", "mcphub-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mcp.json")
	var first, same, changed []time.Duration
	for round := range o.rounds {
		client, err := openHub(ctx, o, o.bin.mcphub, nil)
		if err != nil {
			return nil, err
		}
		err = func() error {
			defer closeHub(client)
			for _, step := range []struct {
				into  *[]time.Duration
				value int
			}{{&first, 2 * round}, {&same, 2 * round}, {&changed, 2*round + 1}} {
				if err := os.WriteFile(path, manyServers(step.value), 0o600); err != nil {
					return err
				}
				took, err := reloadFile(ctx, client, path)
				if err != nil {
					return err
				}
				*step.into = append(*step.into, took)
			}
			return nil
		}()
		if err != nil {
			return nil, err
		}
	}
	return []row{
		number(fmt.Sprintf("config of %d servers read and reconciled, median", configServers), median(first, millis), "ms",
			"through the door, from a file, by a new hub; worst %.1f ms of %d",
			percentile(first, 100, millis), len(first)).atMost(50),
		number("the same file once more, nothing changed, median", median(same, millis), "ms", "worst %.1f ms",
			percentile(same, 100, millis)).atMost(50),
		number("one of them changed, median", median(changed, millis), "ms", "worst %.1f ms",
			percentile(changed, 100, millis)).atMost(50),
	}, nil
}

// manyServers returns a typical config. The environment of the last server depends on value.
func manyServers(value int) []byte {
	entries := map[string]any{}
	for i, name := range serverNames(configServers) {
		env := map[string]string{"LOG_LEVEL": "info", "TOKEN": "${env:TOKEN}"}
		if i == configServers-1 {
			env["VALUE"] = fmt.Sprint(value)
		}
		entries[name] = map[string]any{
			"type": "stdio", "command": "npx", "args": []string{"-y", "@scope/server-" + name, "--verbose",
				"${workspaceFolder}"}, "env": env,
			"approvals": map[string]string{"read_*": "allow", "delete_*": "deny"}, "timeouts": map[string]string{"total": "90s"},
		}
	}
	text, err := json.MarshalIndent(map[string]any{"servers": entries}, "", "  ")
	if err != nil {
		panic(err) // maps of strings marshal
	}
	return text
}

func reloadFile(ctx context.Context, client *host.Client, path string) (time.Duration, error) {
	start := time.Now()
	r, err := client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: path, Folder: filepath.Dir(path)}}, WatchedByHost: true,
	})
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	if len(r.GetServers()) != configServers {
		return 0, fmt.Errorf("%d servers came of %d: %v", len(r.GetServers()), configServers, r.GetProblems())
	}
	return took, nil
}
