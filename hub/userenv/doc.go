// Package userenv determines the environment of the person whose servers the hub starts, and finds their programs in
// it.
//
// A hub under a graphical editor has the environment of a desktop: a short PATH, and nothing of what the person has set
// in the files of a shell. So a [User] asks the login shell, once, if a command is not found or if the host says that
// it was started from a desktop. After that it looks into the folders of version and package managers. The shell's own
// files can do no harm while the shell is asked: its time and its output are bounded, it has no terminal and no input,
// and everything that it has started is ended with it.
//
// What must not live here: which variables a server inherits, and how a program is searched in one PATH
// (hub/transport); who may start what (hub/grants).
package userenv
