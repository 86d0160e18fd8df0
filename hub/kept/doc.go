// Package kept keeps the arguments and results of requests that are over, whole, for people who want to read them.
//
// Short texts stay in memory; others become private files. Strangers choose the content, so it is bounded in bytes and
// in number, for each server and for all servers. If there is too much, the oldest are dropped. All of it ends with the
// hub.
//
// What must not live here: what windows are told of a request that ends (hub/journal), and the files (hub/results).
package kept
