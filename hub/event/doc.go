// Package event defines the vocabulary of the hub: the events that windows are sent (the bodies of an [Event]), the
// form in which requests, prompts, servers and timelines are shown, the words for who did what and why, and [Error],
// the hub's only error type, with its codes. Constants have the numbers of the contract.
//
// What must not live here: state, locks, and the orders of hosts (package hub); protobuf (package ipc).
package event
