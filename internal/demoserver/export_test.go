package demoserver

// ServeHTTP is RunHTTP on a listener of the test's.
var ServeHTTP = serveHTTP
