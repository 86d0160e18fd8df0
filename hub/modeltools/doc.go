// Package modeltools gives models the tools of all servers: named, fitted to a provider, and searched, and it makes
// views of results, whose rest is kept.
//
// A [Catalog] works on the tools as they are known, and starts no server. It takes no lock of the hub's; its methods
// are safe for concurrent use.
//
// What must not live here: what names, schemas and views look like (hub/toolset), how lists of tools are got
// (hub/offers), calls (package hub), and files (hub/results).
package modeltools
