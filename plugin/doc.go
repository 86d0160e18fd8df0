// Package plugin serves a hub to the host that spawned this process, as a go-plugin over gRPC, and makes sure that the
// process ends in order.
//
// go-plugin provides the handshake, TLS, health and the relay of stray output. This package adds what it leaves out: a
// non-zero exit status if the start failed, an orderly end for four reasons (the Drain call, which the services answer;
// the return of Serve; SIGTERM; a host that is gone), and logs that reach the host and never block the hub.
//
// What must not live here: services and their conversion (package ipc), the domain (package hub), and everything that a
// host needs (plugin/host, plugin/handshake).
package plugin
