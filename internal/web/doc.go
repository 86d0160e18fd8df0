// Package web serves the editor's page to a browser of this machine: the files of the page over HTTP on loopback, and a
// WebSocket for each tab that is one window of a hub. It is how mcphub shows the page without an editor.
//
// A loopback port can be reached by every program of this machine and, through a browser, by every web page in the
// world. So nothing is served without a session, a session is had for a link that is good once, and each request must
// name this server as its host and its origin (docs/adr/0022-page-without-editor.md).
//
// The messages are those of docs/protocol.md, as proto3 JSON, one in each text frame. What must not live here: any
// knowledge of what the messages say, and the page itself.
package web
