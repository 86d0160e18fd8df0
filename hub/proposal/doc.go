// Package proposal is how a server could be added, as somebody else describes it: a registry, a bundle. What people are
// to fill in stands as an input where it belongs, and Fill makes an entry of that and of what they typed.
//
// Where a proposal comes from is a matter of who makes it, and writing the entry one of package config/edit. Nothing
// here reads a file or the network.
package proposal
