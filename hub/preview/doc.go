// Package preview makes one line of the arguments of a request, by which people tell it from others in a list.
//
// What must not live here: what an approval shows, which is the whole of the arguments (hub/prompts), and secrets
// themselves (hub/redact).
package preview
