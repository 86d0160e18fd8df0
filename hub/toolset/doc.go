// Package toolset makes tools fit for models: names and schemas that every provider takes, a search over many tools,
// and results of a bounded length.
//
// It works on what it is given, definitions and results as servers wrote them, and keeps nothing but the search
// index. All of that is text of strangers: the work on it is bounded (package bounds), and what is shown of it is
// printable.
//
// One bad tool makes a provider refuse the whole request. So a tool that cannot be made legal is set aside with its
// reason, and what was changed in another is said.
//
// What must not live here: servers, requests, files and profiles; which tools a client is shown (ipc/gateway);
// whether arguments fit a schema (hub/schema).
package toolset
