// Package browser serves the editor's page over a hub to the browsers of this machine.
//
// What must not live here: the page (editors/webview), and its server (internal/web).
package browser
