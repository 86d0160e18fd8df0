// Package toolset prepares tools for models: names and schemas that every provider accepts, a search over many tools,
// and results of a bounded length. A [Catalog] does so for the lists of tools that the hub has; it starts no server,
// does not take the hub's lock, and its methods are safe for concurrent use.
//
// All input are definitions and results as servers wrote them. That text is untrusted: the work on it is bounded
// (package bounds), and what is shown of it is printable. One bad tool makes a provider refuse the whole request. So a
// tool that cannot be made legal is set aside with the reason, and the changes to another are reported.
//
// What must not live here: servers, requests and files; how lists of tools are fetched (package hub); which tools a
// client is shown (ipc/gateway); how results are kept (hub/journal); whether arguments conform to a schema
// (hub/schema).
package toolset
