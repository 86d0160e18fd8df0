// Package web serves the editor's page to a browser on this machine: the files of the page over HTTP on loopback, and a
// WebSocket for each tab, which is one window of a hub. With it, mcphub shows the page without an editor.
//
// Every program on this machine can reach a loopback port and, through a browser, so can every web page in the world.
// So no window is opened without a session, a session begins with a link that is valid once, and each request must name
// this server as its host and its origin (docs/adr/0022-page-without-editor.md). The page keeps its session for its own
// origin, and sends it in the first message on its socket alone (docs/adr/0061-proof-of-a-page.md).
//
// The messages are those of docs/protocol.md, as proto3 JSON, one in each text frame. What must not live here:
// knowledge of the content of the messages, and the page itself.
package web
