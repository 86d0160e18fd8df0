package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// ViewOptions say what a view is for.
type ViewOptions struct {
	// MaxTokens bounds the text, 0 is no bound. Less than bounds.ViewTokens counts as that.
	MaxTokens int
	// Audience is "assistant", also when it is empty, or "user": blocks that are annotated for others are withheld.
	Audience string
	// Images: pictures are handed over beside the text, which otherwise describes them.
	Images bool
	// More says, after what was left out has been counted, how to get it.
	More string
}

// View is the result of a tool as a text for a model.
type View struct {
	Text    string
	Images  []json.RawMessage // content blocks as they came, parts of the result
	IsError bool
	// Cut: something was left out of the text, which says so where it was.
	Cut                  bool
	LeftBytes, LeftLines int
	Withheld             int    // blocks that are for another audience
	Odd                  string // what is wrong with the result, if anything
}

// Within tells whether a result is to cross unchanged although there is a bound.
func Within(result json.RawMessage, maxTokens int) bool {
	return maxTokens <= 0 || Tokens(len(result)) <= max(maxTokens, bounds.ViewTokens)
}

// NewView reads the result of tools/call, valid JSON or not. Its texts are never decoded as a whole when they are
// longer than the bound. The text within JSON quotes is within the bound, too.
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

// Result is the view as the result of tools/call, pictures behind the text. But for these it is within the bound.
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

// collector brings together what a view is made of.
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

// said tells whether a text says the same as structuredContent, as servers do for older clients.
func (c *collector) said(structured json.RawMessage) bool {
	for _, p := range c.pieces {
		if p.token != nil && sameJSON(p.token, structured) {
			return true
		}
	}
	return false
}

// block reads one content block.
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

// resource reads an embedded resource.
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

// isFor: no annotation, and one that cannot be read, is for everybody.
func (c *collector) isFor(annotations json.RawMessage) bool {
	listed, ours := false, false
	jsontext.Elements(jsontext.Get(annotations, "audience"), func(v json.RawMessage) bool {
		listed = true
		ours = ours || jsontext.String(v) == c.options.Audience
		return true
	})
	return ours || !listed
}

// printable is a foreign string that stands in a line of ours. Long ones are not decoded.
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

// sameJSON tells whether the text in a JSON string is the JSON value structured. Blanks between tokens do not count;
// of short ones neither does the order of members nor how strings and numbers are spelled.
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

// jsonLike: what begins so and is cut is no JSON any more.
func jsonLike(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}
