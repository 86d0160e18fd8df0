// Command mcphub is the MCP backend of a code editor, and a command line over it.
//
// If a host spawns it as a go-plugin, it serves the contract of proto/mcphub/v1. The other commands that need a hub are
// hosts themselves: they spawn this same executable as the plugin, as an editor would, and call it by gRPC. So what
// works here works in an editor. The mcp command is an exception: it has the hub and the gateway in its own process,
// but calls the hub by the same services. Commands that need no hub, such as those for config files, registries and
// doctor, use the packages below hub directly. No command bypasses the contract to reach a hub.
package main
