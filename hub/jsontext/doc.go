// Package jsontext is the one reader of JSON that somebody else has written: what servers say, in all of its forms.
//
// It works on the text and decodes nothing on its own. A text is passed over once, without recursion and to a bounded
// depth; names are compared exactly, "URL" is not "url" (encoding/json takes the one for the other, so that a text can
// mean two things to two readers); values are slices of the text that came. Of several members with one name the last
// one counts, as in encoding/json and in JavaScript; where a person decides by what is shown, Repeated finds them, and
// the text is refused.
//
// What does not belong here: what a message means, and any limit but that of the depth.
package jsontext
