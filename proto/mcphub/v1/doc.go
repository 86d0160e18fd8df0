// Package mcphubv1 is the contract of McpHub: the gRPC services and messages between a hub and its host, generated from
// the .proto files beside it, whose comments are the documentation.
//
// By hand are this file, call.go, and check.go, which says what a well-formed message is. No behaviour lives here.
package mcphubv1
