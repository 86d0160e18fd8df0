// Package modeltools prepares the tools of all servers for models: it names them, fits their schemas and searches
// them, and it makes views of results and keeps the whole of those that are cut.
//
// A [Catalog] uses the lists of tools that the hub has, and starts no server. It does not take the hub's lock. Its
// methods are safe for concurrent use.
//
// What must not live here: the form of names, schemas and views (hub/toolset), how lists of tools are fetched
// (hub/offers), calls (package hub), and files (hub/results).
package modeltools
