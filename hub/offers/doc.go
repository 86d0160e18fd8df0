// Package offers lists and reads what servers offer: tools, resources, resource templates, prompt templates, values for
// their arguments. It is nothing that a person is asked about or that can be cancelled by an id: the end of the
// caller's context ends it.
//
// What must not live here: requests (package hub), what is kept of a list (hub/servers), names and schemas for models.
package offers
