// Package grants keeps what a person has agreed to: that a tool may be called, and that a server may be started.
//
// Both are one thing, a [Grant]: a yes for a [Key], which names a subject in just the form that was shown (by its
// hash), for a scope (once, a window, a set of workspace folders, always), with the text that was shown, so that the
// next question can say what has changed. A third kind is given by the config and no person: the definition of a tool
// that was let through last, so that a tool of an allowed name cannot become another one unseen.
//
// # What lives here
//
// The [Store] of all three kinds, in memory and in files that all hubs of the user share; what there is to agree to for
// a launch (a [Sight] of it, made into a [Form]) and for a tool, and how two of them differ; names that look alike.
//
// # What does not
//
// Who is asked, and whether a request may go: that is package hub's. The package calls nobody back.
//
// # Locks
//
// The hub's lock comes first, then [Store]'s own, then those of its lists. None of the last two is held over a file.
// The methods that read or write files say so; they are never called with the hub's lock.
package grants
