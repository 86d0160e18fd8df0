// Package fakeeditor is an editor window for tests, over any gRPC connection, such as that of Serve in memory.
//
// It attaches, keeps a model of servers, requests and prompts from the snapshot and the later events, and offers the
// actions of a user: accept, decline, dismiss, cancel, close. It checks the invariants of every stream: sequences rise
// strictly, each request ends once, each prompt opens once and closes once. It blocks only on channels, so it works
// inside a testing/synctest bubble.
//
// What must not live here: knowledge of the hub or of package ipc. It knows only the contract.
package fakeeditor
