// Command mcphub is the MCP backend of a code editor, and a command line over it.
//
// Spawned by a host as a go-plugin it serves the contract of proto/mcphub/v1. Everything else here is itself a host:
// each subcommand spawns this same executable as the plugin, opens the door as an editor would, and speaks gRPC with
// it. So what works here works in an editor, and nothing here reaches around the contract: this package must not import
// hub or ipc.
package main
