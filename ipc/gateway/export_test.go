package gateway

import (
	"net"
	"net/http"
)

// LimitBodies is limitBodies, for tests.
var LimitBodies = limitBodies

// SameInHeaders is sameInHeaders, for tests.
var SameInHeaders = sameInHeaders

// NameOf is nameOf, for tests.
func NameOf(server, name string) string { return nameOf(origin{server, name}) }

// LimitConnections is the ConnState of an HTTP server that may have so many connections.
func LimitConnections(most int) func(net.Conn, http.ConnState) { return newConnections(most).noted }
