// Package host lets a Go program use a hub: it spawns a hub as a go-plugin, calls it by gRPC over AutoMTLS, and ends it
// in order and in bounded time.
//
//	hub, err := host.Open(ctx, host.Options{Command: "mcphub"})
//	if err != nil {
//		return err // says what happened and what to do
//	}
//	defer hub.Close(context.Background())
//	answer, err := hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "files", Tool: "list"})
//	if failure, ok := host.ErrorOf(err); ok { ... failure.Reason ... }
//
// go-plugin does the handshake and TLS. This package manages the process itself: go-plugin's Kill may wait for ever for
// a hub that hangs, its log parser panics on a line in an unexpected format, and it passes the host's own standard
// input to the process.
//
// What must not live here: the hub or its services. This package is linked into other people's programs, and depends
// only on the contract, gRPC and go-plugin.
package host
