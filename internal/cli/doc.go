// Package cli is the command line of mcphub: it finds the command of a process and runs it.
//
// Each command, or family of commands, has a folder with New...Cmd, its flags, its help and its tests. A command gets
// what it shares with others from a door.Factory. The rooms that commands share import one way: console, exit, cmd,
// door, then source, toolargs and questions, then events, session, browser and proposals. Commands import no other
// command.
//
// The commands that need a hub are hosts: they spawn this same executable as the plugin, as an editor would, and call
// it by gRPC. So what works here works in an editor. mcp is an exception: it has the hub and the gateway in its own
// process, but calls the hub by the same services. Commands that need no hub, such as those for config files,
// registries and doctor, use the packages below hub directly. No command bypasses the contract to reach a hub.
//
// What must not live here: what a command does, besides serve, guard and version.
package cli
