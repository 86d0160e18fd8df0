package main

import "context"

// measurePath measures the whole way of a call: host -> gRPC over the door -> hub -> server and back. It compares that
// with a relay, which has the same door and session but no hub in between (docs/adr/0042).
func measurePath(ctx context.Context, o options, f figures) error {
	const whole, relayed = "whole path", "relay"
	one, many, err := compare(ctx, o, openDoor(whole, serversJSON(o, "echo"), o.bin.mcphub),
		openDoor(relayed, "", o.bin.self, relay))
	if err != nil {
		return err
	}
	f.put("time of the whole path / of a relay, sequential", 1/one.against(whole, relayed), "%v", one)
	f.put("time of the whole path / of a relay, 64 at once", 1/many.against(whole, relayed), "%v", many)
	return nil
}

// openDoor opens a plugin as a subject that calls through the door.
func openDoor(name, config, command string, args ...string) opener {
	return func(ctx context.Context, _ options) (subject, error) {
		client, err := openHub(ctx, config, command, args...)
		if err != nil {
			return subject{}, err
		}
		return subject{
			name: name,
			call: func(ctx context.Context) error {
				return callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
			},
			close: func() { closeHub(client) },
		}, nil
	}
}
