// Package ipc implements the gRPC services of the contract with package hub.
//
// Each message is checked (mcphubv1.Check), converted once (the convert files) and carried out by the hub, and its
// answer or error is converted back. Only status.go knows the codes of errors. Each window has an outbox, which never
// blocks the hub, and decides what a slow reader may miss.
//
// What must not live here: decisions about requests, prompts or servers (package hub), and how the process is started,
// found and stopped (package plugin).
package ipc
