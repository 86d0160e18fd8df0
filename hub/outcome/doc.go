// Package outcome says what became of a request: how what the engine and the transport give as its end reads for people
// and programs, what is known of a cancel, and whether the server may go on; and, for reports, what is wrong with a
// server.
//
// What must not live here: what ends a request, and its states (package hub); what may be sent again (hub/transport).
package outcome
