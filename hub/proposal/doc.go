// Package proposal describes a way to add a server that somebody else proposes: a registry, or a bundle. What people
// have to fill in is an input at its place, and Fill makes an entry from the proposal and the values that they typed.
//
// Other packages make proposals, and package config/edit writes the entry. Nothing here uses files or the network.
package proposal
