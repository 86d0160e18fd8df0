// Package outbound guards addresses that others name: in the metadata of a server that asks for a sign-in, in the
// redirects and downloads of a registry, in a question that wants a page opened.
//
// A [Guard] prevents requests to what these others could not reach themselves, and bounds the answers. The callers know
// what is requested, and what the answer means. [CheckPage] decides which URLs may be opened in a browser, for all
// hosts alike: a host passes a URL to the system, and the system passes it to the program that is registered for its
// scheme, an editor for vscode:, a file manager for file:. See MCP 2026-07-28 client/elicitation, "URL Mode Security",
// and the security best practices, "authorization URLs".
package outbound
