// Package browse decides which URLs of servers may be handed to a browser, for every host alike. A host gives a URL to
// the system, and the system gives it to whatever program is registered for its scheme: an editor for vscode:, a file
// manager for file:.
//
// MCP 2026-07-28 client/elicitation, "URL Mode Security", and the security best practices, "authorization URLs".
package browse
