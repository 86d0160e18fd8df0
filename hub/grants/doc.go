// Package grants keeps what a person has agreed to: that a tool may be called, and that a server may be started.
//
// Both are a [Grant]: the consent to a [Key], which names a subject in exactly the form that was shown (by its hash). A
// grant has a scope (once, a window, a set of workspace folders, always), and keeps the text that was shown, so that
// the next question can say what has changed. A third kind is given by the config and not by a person: the definition
// of a tool that was let through last. With it, a tool of an allowed name cannot change its meaning unnoticed.
//
// # What lives here
//
// The [Store] of all three kinds, in memory and in files that all hubs of the user share. What there is to agree to for
// a launch (a [Sight] of it, from which a [Form] is made) and for a tool, and the differences between two of them.
// Names that look alike.
//
// # What does not
//
// Package hub decides who is asked, and whether a request may go. This package calls nobody back.
//
// # Locks
//
// The hub's lock is taken first, then the lock of the [Store], then those of its lists. The last two are never held
// while a file is read or written. The comments of methods that read or write files say so; such a method is never
// called with the hub's lock held.
package grants
