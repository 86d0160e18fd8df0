// Package outcome describes how a request has ended: it converts what the engine and the transport report to errors for
// people and programs, and says what is known of a cancel, and whether the server may go on. For reports, it says what
// is wrong with a server.
//
// What must not live here: the states of a request, and what ends it (package hub); what may be sent again
// (hub/transport).
package outcome
