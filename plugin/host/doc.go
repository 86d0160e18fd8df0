// Package host is how a Go program opens the door: it spawns a hub as a go-plugin, speaks gRPC with it over AutoMTLS,
// and ends it in order and in bounded time.
//
//	hub, err := host.Open(ctx, host.Options{Command: "mcphub"})
//	if err != nil {
//		return err // says what happened and what to do
//	}
//	defer hub.Close(context.Background())
//	answer, err := hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "files", Tool: "list"})
//	if failure, ok := host.ErrorOf(err); ok { ... failure.Reason ... }
//
// go-plugin does the handshake and TLS. The process is ours: go-plugin's Kill has no bound against a hub that hangs,
// its log parser panics on a line of the wrong shape, and it hands down the host's own standard input.
//
// What must not live here: the hub or its services; this package is linked into other people's programs and
// depends on the contract, gRPC and go-plugin alone.
package host
