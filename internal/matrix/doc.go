// Package matrix checks the table of cancellations: every protocol revision, over every transport that it has, in every
// situation in which a request can end before its answer. Each cell runs the real hub against the scriptable fake
// server and compares all messages on the wire, and what callers and the window are told, with a transcript in
// testdata/<transport>/<situation>.txtar. There revisions that behave the same share a section, and what is always the
// same is left out: the revision in headers where it has to be, the metadata of a modern request, and how the hub ends.
//
// The package contains only tests. A cell is deterministic because it waits until nothing changes (in a
// testing/synctest bubble, where time is fake), or, over real sockets, until the transcript is as expected. `go test
// -update` writes the transcripts; a person must then review them.
//
// # Situations
//
// A situation is an entry of testdata/*.txtar. Lines with "#" say what it shows, "on" names the bindings in which it is
// played, "with" what servers or hub have then (cell_test.go). Every other line is a step. It can begin with a selector
// in parentheses, and consist of several actions, with "; " between them.
//
// A selector is made of words that must all hold (stdio, sse, http, a revision, legacy, modern, link for any transport
// but Streamable HTTP, everywhere), and of alternatives of these, with "|" between them. "loose" marks a step whose
// exchanges are independent of each other: the protocol does not fix their order.
//
//	call TOOL                            a call, r1, r2 and so on; the server answers "echo", and keeps others open
//	cancel ID REASON                     as the user does
//	accept | decline | dismiss [PROMPT]  the only prompt that is open, also of a kind; or one by name
//	stop REASON, connect, again          the server is stopped; started; needed again after its end
//	after DURATION                       time passes
//	release                              what was held goes on
//
//	NAME progresses N/M TEXT             in the course of the newest open request of a tool, or a method
//	NAME asks [KIND] [of TASK]           a question: of a legacy server a request, of a modern one a result
//	NAME notifies METHOD PARAMS, NAME withdraws ID REASON
//	NAME answers TEXT | gives JSON | becomes STATUS | replies REPLY
//	server asks [ID again] [KIND] [of TASK], server notifies, server withdraws, server sends LINE
//	server listening is answered | is cancelled | fails | hears of tools
//	server disconnects, server expires   its connection, or its session, ends
//	ACTION when NAME is cancelled        the server hears of the cancel, and then does this
//
// Preparations are no steps, and have no part in the transcript:
//
//	http [each] VERB METHOD: ACT         held, silent, status N, end N or cut N (after N events)
//	server keeps METHOD, server replies METHOD REPLY, server pauses
//
// A reply to a request about a task is "ok", an error ("-32602 gone"), or a status with what belongs to it: a message,
// or the kinds of its questions.
//
// What must not live here: knowledge of the hub's internals, and tests of only one package.
package matrix
