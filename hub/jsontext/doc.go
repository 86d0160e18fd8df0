// Package jsontext is the one parser for JSON that comes from other programs, such as the messages of servers.
//
// It works on the text and decodes nothing unless asked. It passes over a text once, without recursion and to a bounded
// depth. It compares names exactly: "URL" is not "url" (encoding/json treats them as equal, so that two readers may
// find different meanings in one text). Values are slices of the text. If an object has several members with one name,
// the last one counts, as in encoding/json and in JavaScript. Where a person decides on the basis of what is shown,
// Repeated finds such names, and the text is refused.
//
// What does not belong here: the meaning of a message, and any limit except the one on depth.
package jsontext
