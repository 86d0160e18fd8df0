package demoserver

// ServeHTTP is RunHTTP with a listener of the test.
var ServeHTTP = serveHTTP
