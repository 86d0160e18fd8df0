// Command driver is the host that the conformance suite starts for each scenario, as `driver URL`. It opens the mcphub
// that MCPHUB_BINARY names by its gRPC contract, as an editor does, gives it one server with that URL, attaches a
// window that answers prompts as a willing user would, and does what the scenario asks for.
//
// What must not live here: anything that makes up for the hub. The hub negotiates, retries, signs in and resumes by
// itself.
package main
