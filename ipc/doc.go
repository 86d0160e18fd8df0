// Package ipc is the gRPC services of the contract over the domain of package hub.
//
// A message walks straight through: it is validated (the methods are in package mcphubv1), converted once (the convert
// files), carried out by the hub, and its answer or error is converted back (status.go is the one place that knows gRPC
// codes). A window has an outbox, which never blocks the hub and decides what a slow reader may miss.
//
// What must not live here: decisions about requests, prompts or servers (package hub), and how the process is started,
// found and stopped (package plugin).
package ipc
