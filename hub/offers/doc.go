// Package offers lists what servers offer (tools, resources, resource templates, prompt templates), subscribes to
// resources, and asks for values of arguments. No person is asked about any of it, and nothing of it can be cancelled
// by an id: the end of the caller's context ends it.
//
// What must not live here: requests (package hub), what is kept of a list (hub/servers), names and schemas for models.
package offers
