// Package web serves the editor's page to a browser on this machine: the files of the page over HTTP on loopback, and a
// WebSocket for each tab, which is one window of a hub. With it, mcphub shows the page without an editor.
//
// Every program on this machine can reach a loopback port and, through a browser, so can every web page in the world.
// So nothing is served without a session, a session is given for a link that is valid once, and each request must name
// this server as its host and its origin (docs/adr/0022-page-without-editor.md).
//
// The messages are those of docs/protocol.md, as proto3 JSON, one in each text frame. What must not live here:
// knowledge of the content of the messages, and the page itself.
package web
