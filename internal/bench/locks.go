package main

import "context"

// measureLocks counts how often a warm call without questions takes the hub's lock, which everything waits for.
func measureLocks(ctx context.Context, o options) ([]row, error) {
	client, err := openHub(ctx, o, o.bin.self, []string{probedHub}, "echo")
	if err != nil {
		return nil, err
	}
	defer closeHub(client)
	const calls = 100
	call := func() error {
		_, err := callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
		return err
	}
	if err := call(); err != nil {
		return nil, err
	}
	before, err := probe(ctx, client)
	if err != nil {
		return nil, err
	}
	for range calls {
		if err := call(); err != nil {
			return nil, err
		}
	}
	after, err := probe(ctx, client)
	if err != nil {
		return nil, err
	}
	return []row{number("hub-wide lock, taken by a warm call", float64(after.Locks-before.Locks-1)/calls, "times", "").
		atMost(4)}, nil
}
