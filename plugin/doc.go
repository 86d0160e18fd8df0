// Package plugin is the door: it serves a hub to the host that spawned this process, as a go-plugin over gRPC, and sees
// to it that the process ends well.
//
// go-plugin gives the handshake, TLS, health and the relay of stray output. What it leaves out is here: a non-zero exit
// when the start failed, an orderly end on four roads (the Drain call, which the services answer; Serve returned;
// SIGTERM; orphaned), and logs that reach the host without ever holding up the hub.
//
// What must not live here: services and their conversion (package ipc), the domain (package hub), and anything that a
// host needs (plugin/host, plugin/handshake).
package plugin
