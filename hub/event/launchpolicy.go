package event

import "fmt"

// LaunchPolicy is one managed policy: what an organisation lets servers be launched as. The rules of all policies hold
// together. A policy is not changed once it was read.
type LaunchPolicy struct {
	From string // for people: the path of its file, or what the host calls it
	// Unreadable says why the policy cannot be used, "" if it can. Nothing starts under one that cannot.
	Unreadable string
	Line       int // of what is wrong with it, from 1; 0 = it has no place
	Denied     []LaunchRule
	Only       []LaunchList // a launch must be in each of those that concern it
}

// LaunchList is a list of the launches that are allowed.
type LaunchList struct {
	Name  string // of the rule, such as "allowedServers"
	Line  int    // of the rule, from 1
	Rules []LaunchRule
	// Processes and Remotes say which launches it concerns: of a program, and of a URL.
	Processes, Remotes bool
	// Personal says that it concerns no server of the host.
	Personal bool
	// Why ends the sentence "server X is not started: ...", for a launch that is not in the list.
	Why string
}

// LaunchKind is what a rule names.
type LaunchKind uint8

// Kinds of rules.
const (
	LaunchCommand LaunchKind = iota + 1 // a program and its arguments
	LaunchPackage                       // a package of a package registry
	LaunchURL
)

// LaunchRule names launches.
type LaunchRule struct {
	Name string // such as "deniedServers[2]"
	Line int    // from 1
	Text string // what it names, for people: of a package, TYPE:NAME or TYPE:NAME@VERSION
	Kind LaunchKind
	// Command is the program and its arguments. A last argument "*" stands for any further ones.
	Command []string
	Package LaunchPackageName // core.CheckPolicy makes it of Text
	URL     string
	// Listed says that the rule is from the list of a registry, which may have what cannot be compared: that names
	// nothing.
	Listed bool
	Of     string // the server of the registry that it is of, "" = none
	// AnyVersion says that the version in Text does not count.
	AnyVersion bool
}

// LaunchPackageName is a package.
type LaunchPackageName struct {
	Type    string // npm, pypi or oci
	Name    string
	Version string // or tag, or digest ("sha256:..."); "" = any
}

// LaunchIdentity is what a server is launched as, with all references replaced that can be: what a policy judges.
// References without a value yet, such as those to inputs, stay as they are spelled. A name is no part of it, since
// whoever writes an entry chooses it.
type LaunchIdentity struct {
	Command string // as the entry has it
	Args    []string
	Program string // the absolute path of what would be executed; "" = unknown
	Target  string // Program with all links followed
	// Loading are the names of the variables that the entry sets, or takes from elsewhere, and that can make a program
	// load or fetch other code. LoadingArgs are the arguments "NAME" and "NAME=value" with such a name.
	Loading, LoadingArgs []string
	// Around are the values of the variables that the entry sets, which may be secret, and the directory if it is within
	// a package.
	Around []string
	// Nearby is what can make Command mean something else where it runs: the program lies in a folder of the workspace, or
	// a file there may take the place of the package. "" = nothing does.
	Nearby string
	URL    string // of a server that is no process
	Host   bool   // the entry is the host's
}

// LaunchRefusal says which rule of a policy refuses a launch.
type LaunchRefusal struct {
	From string // the policy
	Line int
	Rule string // "" = the policy cannot be used
	Why  string // ends the sentence "server X is not started: ..."
}

// Error returns the error for a server whose launch is refused.
func (r LaunchRefusal) Error(server string) *Error {
	return Fail(CodeFailedPrecondition, ReasonLaunchNotAllowed,
		[]string{"server", server, "policy", r.From, "rule", r.Rule},
		"server %q is not started: %s; ask your administrator", server, r.Text())
}

// Text returns the reason as a part of a sentence.
func (r LaunchRefusal) Text() string {
	from := r.From
	if r.Line > 0 {
		from = fmt.Sprintf("%s:%d", r.From, r.Line)
	}
	if r.Rule == "" {
		return fmt.Sprintf("the policy %s cannot be used, so that no server starts: %s", from, r.Why)
	}
	return fmt.Sprintf("the rule %s of %s %s", r.Rule, from, r.Why)
}
