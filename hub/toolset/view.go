package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// ViewOptions are the options of a view.
type ViewOptions struct {
	// MaxTokens bounds the text; 0 means no bound. A value below bounds.ViewTokens counts as that.
	MaxTokens int
	// Audience is "assistant" (also if it is empty) or "user": blocks that are annotated for the other one are withheld.
	Audience string
	// Images says that images are returned in View.Images, not only described in the text.
	Images bool
	// More is the text behind the counts of what was left out. It says how to read that.
	More string
}

// View is the result of a tool as a text for a model.
type View struct {
	Text    string
	Images  []json.RawMessage // content blocks as they came, slices of the result
	IsError bool
	// Cut says that something was left out of the text. The text says so at that place.
	Cut                  bool
	LeftBytes, LeftLines int
	Withheld             int    // blocks for another audience
	Odd                  string // what is wrong with the result, if anything
	// ID is for Catalog.ReadResult; it is "" if nothing was left out, or if the result could not be kept.
	ID string
}

// Within reports whether a result is to be passed on unchanged although there is a bound.
func Within(result json.RawMessage, maxTokens int) bool {
	return maxTokens <= 0 || Tokens(len(result)) <= max(maxTokens, bounds.ViewTokens)
}

// NewView makes a view of the result of tools/call, valid JSON or not. It never decodes a text that is longer than the
// bound as a whole. The bound also holds for the text in JSON quotes.
func NewView(result json.RawMessage, o ViewOptions) View {
	c := &collector{options: o}
	if c.options.Audience == "" {
		c.options.Audience = "assistant"
	}
	c.read(result)
	limit := -1
	if o.MaxTokens > 0 {
		limit = BytesFor(max(o.MaxTokens, bounds.ViewTokens)) - len(resultHead) - len(resultTail)
	}
	c.view.Text = c.compose(limit)
	return c.view
}

const (
	resultHead = `{"content":[{"type":"text","text":"`
	resultTail = `"}],"isError":false}`
)

// Result returns the view as the result of tools/call, images after the text. Without the images it is within the
// bound.
func (v *View) Result() json.RawMessage {
	b := append([]byte(nil), resultHead[:len(resultHead)-1]...)
	b = append(jsontext.AppendString(b, v.Text), '}')
	for _, image := range v.Images {
		b = append(append(b, ','), image...)
	}
	if v.IsError {
		return append(b, `],"isError":true}`...)
	}
	return append(b, "]}"...)
}

// collector collects the parts of a view.
type collector struct {
	options ViewOptions
	view    View
	pieces  []piece
}

func (c *collector) say(format string, args ...any) {
	c.pieces = append(c.pieces, piece{text: fmt.Sprintf(format, args...)})
}

func (c *collector) read(result json.RawMessage) {
	var content, structured json.RawMessage
	if !jsontext.Members(result, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "content":
			content = value
		case "structuredContent":
			structured = value
		case "isError":
			c.view.IsError = string(value) == "true"
		}
		return true
	}) {
		c.view.Odd = "the result is no JSON object"
		c.pieces = append(c.pieces, piece{raw: result})
		return
	}
	n, more, moreBytes := 0, 0, 0
	array := jsontext.Elements(content, func(block json.RawMessage) bool {
		if n++; n <= bounds.ViewBlocks {
			c.block(block)
		} else {
			more, moreBytes = more+1, moreBytes+len(block)
		}
		return true
	})
	if !array && content != nil && !jsontext.IsNull(content) {
		c.view.Odd = "its content is no array"
		c.pieces = append(c.pieces, piece{raw: content})
	}
	if more > 0 {
		c.say("[%d more content blocks of %d bytes left out]", more, moreBytes)
		c.view.Cut, c.view.LeftBytes = true, moreBytes
	}
	if structured != nil && !jsontext.IsNull(structured) && !c.said(structured) {
		c.pieces = append(c.pieces, piece{raw: structured})
	}
	if len(c.pieces) == 0 && c.view.Withheld == 0 {
		c.say("[the tool returned no content]")
	}
}

// said reports whether a text of the result has the same content as structuredContent, as servers send it for older
// clients.
func (c *collector) said(structured json.RawMessage) bool {
	for _, p := range c.pieces {
		if p.token != nil && sameJSON(p.token, structured) {
			return true
		}
	}
	return false
}

// block adds one content block.
func (c *collector) block(raw json.RawMessage) {
	var b struct{ kind, text, data, mime, uri, name, annotations, resource json.RawMessage }
	if !jsontext.Members(raw, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "type":
			b.kind = value
		case "text":
			b.text = value
		case "data", "blob":
			b.data = value
		case "mimeType":
			b.mime = value
		case "uri":
			b.uri = value
		case "name":
			b.name = value
		case "annotations":
			b.annotations = value
		case "resource":
			b.resource = value
		}
		return true
	}) {
		c.pieces = append(c.pieces, piece{raw: raw})
		return
	}
	if !c.isFor(b.annotations) {
		c.view.Withheld++
		return
	}
	kind := jsontext.String(b.kind)
	switch {
	case kind == "text" && jsontext.IsString(b.text):
		c.pieces = append(c.pieces, piece{token: b.text})
	case kind == "image" && c.options.Images && jsontext.IsString(b.data):
		c.view.Images = append(c.view.Images, raw)
		c.say("[image %d: %s]", len(c.view.Images), pictured(b.mime, b.data))
	case kind == "image" && jsontext.IsString(b.data):
		c.say("[image: %s]", pictured(b.mime, b.data))
	case kind == "resource_link":
		c.say("[resource %s: %s%s]", printable(b.name), printable(b.uri), described(", ", b.mime))
	case kind == "resource":
		c.resource(b.resource, raw)
	case jsontext.IsString(b.data):
		c.say("[%s: %s]", printable(b.kind), pictured(b.mime, b.data))
	default:
		c.pieces = append(c.pieces, piece{raw: raw})
	}
}

// resource adds an embedded resource.
func (c *collector) resource(raw, block json.RawMessage) {
	text, blob := jsontext.Get(raw, "text"), jsontext.Get(raw, "blob")
	uri, mime := jsontext.Get(raw, "uri"), jsontext.Get(raw, "mimeType")
	switch {
	case jsontext.IsString(text):
		c.say("[resource %s%s]", printable(uri), described(", ", mime))
		c.pieces = append(c.pieces, piece{token: text})
	case jsontext.IsString(blob):
		c.say("[resource %s: %s]", printable(uri), pictured(mime, blob))
	default:
		c.pieces = append(c.pieces, piece{raw: block})
	}
}

// isFor reports whether a block is for the audience. A block without annotation, or with one that cannot be parsed, is
// for everyone.
func (c *collector) isFor(annotations json.RawMessage) bool {
	listed, ours := false, false
	jsontext.Elements(jsontext.Get(annotations, "audience"), func(v json.RawMessage) bool {
		listed = true
		ours = ours || jsontext.String(v) == c.options.Audience
		return true
	})
	return ours || !listed
}

// printable returns a string of the server for use within a line of the view. It decodes only the beginning of a long
// one.
func printable(token json.RawMessage) string {
	text, _, _ := piece{token: token}.head(4 * bounds.PrintableRunes)
	return bounds.Printable(text)
}

func described(before string, token json.RawMessage) string {
	if !jsontext.IsString(token) || len(token) == 2 {
		return ""
	}
	return before + printable(token)
}

// sameJSON reports whether the text in a JSON string is the JSON value structured. White space between tokens is
// ignored. In short values the order of members and the notation of strings and numbers are ignored, too.
func sameJSON(token, structured json.RawMessage) bool {
	if len(structured) > bounds.ViewCompared || len(token) > 8*bounds.ViewCompared {
		return sameTokens(newUnquoter(token), newUnquoter(structured))
	}
	text := []byte(jsontext.String(token))
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] != structured[0] || !jsontext.Valid(trimmed) {
		return false
	}
	a, b := appendCanonical(nil, bytes.TrimSpace(text), 0), appendCanonical(nil, structured, 0)
	return a != nil && bytes.Equal(a, b)
}

// jsonLike reports whether text begins like JSON: if it was cut, it is no valid JSON any more.
func jsonLike(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}
