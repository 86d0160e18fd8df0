// Package browse decides which URLs of servers may be opened in a browser, for all hosts alike. A host passes a URL to
// the system, and the system passes it to the program that is registered for its scheme: an editor for vscode:, a file
// manager for file:.
//
// See MCP 2026-07-28 client/elicitation, "URL Mode Security", and the security best practices, "authorization URLs".
package browse
