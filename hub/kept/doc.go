// Package kept keeps what requests that are over were given and have brought: arguments and results, whole, for people
// who want to read them.
//
// Short ones stay in memory, others become private files. All of it is of strangers: it is bounded in bytes and in
// number for each server and for all, and where there is too much, the oldest of the server that holds the most go. It
// ends with the hub.
//
// What must not live here: what the windows are told of a request that ends (hub/journal), and the files (hub/results).
package kept
