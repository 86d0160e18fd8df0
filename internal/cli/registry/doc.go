// Package registry has mcphub registry, which searches a registry for servers.
//
// What must not live here: adding a server (package config).
package registry
