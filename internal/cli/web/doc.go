// Package web has mcphub web: the editor's page in a browser, over the user's own servers.
//
// What must not live here: how the page is served (package browser).
package web
