// Package sources has the config files of a hub: which there are, which one a server is added to or changed in, and
// changes of them, one at a time, of which the last can be undone.
//
// [Files] takes no lock of the hub. The command line uses it without a hub.
//
// What must not live here: the syntax of config files (hub/config), how their text is changed (hub/config/edit), how
// they are watched (hub/config/watch), what follows from what they say (package hub).
package sources
