// Package hub is the shell of McpHub: it turns what happens into events of the core (hub/core), and carries out what
// the core orders.
//
// A [Hub] owns every request that can be cancelled, in both directions. One lock guards one state (lock.go). What the
// hub decides about requests, questions, windows and servers is decided in the core: apply.go is the only place that
// applies events and carries out effects, in order, under the lock, and never waits while holding it. All that may wait
// runs without the lock, on goroutines that Close waits for.
//
// # The map
//
//	hub.go lock.go apply.go                        a hub, its lock, and its way to the core
//	call.go outgoing.go gate.go request.go         a call: what is asked for, its way to a session, what is kept of it
//	cancel.go delivery.go callerror.go trace.go    a cancel, what became of it on the wire, ends in words, timelines
//	ask.go caller.go aboutserver.go sharedask.go   questions: of a server, to a client, of the hub about a server
//	prompt.go answer.go answercheck.go approve.go  an open question, its answers, which fit, the consent to a call
//	promptwords.go inputs.go                       what questions say; values that configs leave to people
//	window.go windowtable.go windowwork.go windoworders.go gateway.go   windows, what each is told, what runs for them
//	server.go serverlife.go serverstart.go serveracquire.go serverorders.go servererrors.go   a server's life
//	launch.go launchprepare.go signin.go era.go    what may run under a name, sign-ins, eras, capabilities
//	config.go reconcile.go watching.go             what the config says, brought to the servers in steps
//	tools.go offers.go offerbooks.go subscriptions.go template.go   what servers offer, now and when they were last up
//	allowance.go notices.go                        what one server may cost, say unasked, and ask of people
//
// # Secrets
//
// A server that a workspace brings starts only after the user has agreed to what would run. References in a config are
// resolved when the server starts, and the values are not kept. A redactor that knows the secrets processes what the
// hub says itself, what it quotes of a server in errors, stderr lines and the log, and a server's log messages. Results
// and prompts of a server are passed on as they came.
//
// What must not live here: what is decided (hub/core); gRPC, protobuf, go-plugin (package ipc converts), JSON-RPC
// framing (hub/jsonrpc), protocol revisions (hub/mcp), processes (hub/process), config syntax (hub/config), what people
// have agreed to (hub/grants).
package hub
