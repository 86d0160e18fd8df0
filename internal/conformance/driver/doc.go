// Command driver is the host that the conformance suite starts for each scenario, as `driver URL`. Like an editor, it
// opens the mcphub named by MCPHUB_BINARY by its gRPC contract. It configures one server with that URL, attaches a
// window that answers prompts like a cooperative user, and does what the scenario asks for.
//
// What must not live here: anything that compensates for the hub. The hub negotiates, retries, signs in and resumes by
// itself.
package main
