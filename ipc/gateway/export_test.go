package gateway

// LimitBodies is limitBodies, for tests.
var LimitBodies = limitBodies

// Serve is serve, for tests.
var Serve = serve

// SameInHeaders is sameInHeaders, for tests.
var SameInHeaders = sameInHeaders

// NameOf is nameOf, for tests.
func NameOf(server, name string) string { return nameOf(origin{server, name}) }
