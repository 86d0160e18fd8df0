// Package preview makes one line of the arguments of a request, so that people can tell requests apart in a list.
//
// What must not live here: what an approval shows, which is all arguments (hub/prompts), and the secrets themselves
// (hub/redact).
package preview
