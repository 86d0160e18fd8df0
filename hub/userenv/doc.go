// Package userenv knows the environment of the person whose servers the hub starts, and finds their programs in it.
//
// A hub under a graphical editor has the environment of a desktop: a short PATH, and nothing of what a person has
// written into the files of a shell. So a [User] asks the login shell, once, when a command is not found or when the
// host says that it was started from a desktop, and then looks into the folders of version and package managers. What a
// shell's own files do while it is asked costs nobody anything: it has a time, a bound, no terminal and no input, and
// all that it has started is ended with it.
//
// What must not live here: which variables a server inherits, and how a program is looked for in one PATH
// (hub/transport); who may start what (hub/launch, hub/grants).
package userenv
