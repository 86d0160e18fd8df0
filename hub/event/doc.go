// Package event is the vocabulary of the hub: what windows are told (the bodies of an [Event]), how requests, prompts,
// servers and timelines are shown, the words for who did what and why, and the one [Error] with its codes.
//
// What must not live here: state, locks, and what hosts order (package hub); protobuf (package ipc).
package event
