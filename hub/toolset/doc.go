// Package toolset prepares tools for models: names and schemas that every provider accepts, a search over many tools,
// and results of a bounded length.
//
// Its input are definitions and results as servers wrote them, and it keeps nothing but the search index. All that text
// is untrusted: the work on it is bounded (package bounds), and what is shown of it is printable.
//
// One bad tool makes a provider refuse the whole request. So a tool that cannot be made legal is set aside with the
// reason, and the changes to another are reported.
//
// What must not live here: servers, requests, files and profiles; which tools a client is shown (ipc/gateway); whether
// arguments conform to a schema (hub/schema).
package toolset
