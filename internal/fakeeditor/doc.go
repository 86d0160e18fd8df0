// Package fakeeditor is an editor window for tests, over any gRPC connection.
//
// It attaches, keeps a model of servers, requests and prompts from the snapshot and what follows, and offers what a
// user does: accept, decline, dismiss, cancel, close. All the while it checks what must hold on every stream: numbers
// rise strictly, each request ends once, each prompt opens once and closes once. It blocks on channels only, so it
// works inside a testing/synctest bubble.
//
// What must not live here: knowledge of the hub or of package ipc; it knows the contract alone.
package fakeeditor
