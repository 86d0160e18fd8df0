// Package door opens hubs for commands: in a process of its own, or in this process. Its Factory is what commands get;
// its windows show what a hub does, and answer its questions.
//
// What must not live here: what commands ask a hub, and how its events are described.
package door
