// Package prompts has the parts of questions to people that need no state: how a server's question is shown, the words
// for each kind of question, which content an answer may have, and how a question closes when the operation that asked
// it ends.
//
// What must not live here: open questions, who may answer them, and the lock (package hub); which values an input may
// have (hub/inputs); how a form is compared with its schema (hub/schema).
package prompts
