// Package prompts is what is known of a question to a person without its state: what a server's question is shown as,
// what each kind is called where it is told of, which content an answer may have, and what the end of who asked means.
//
// What must not live here: open questions, who may answer them, and the lock (package hub); what a right value of an
// input is (hub/inputs); how a form is compared with its schema (hub/schema).
package prompts
