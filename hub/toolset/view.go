package toolset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
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
	// Images says that images are returned in View.Images, not only described in the text.
	Images bool
	// More is the text behind the counts of what was left out. It says how to read that.
	More string
}

// View is the result of a tool as a text for a model, without the blocks that are annotated for the user alone.
type View struct {
	Text    string
	Images  []json.RawMessage // content blocks as they came, slices of the result
	IsError bool
	// Cut says that something was left out of the text. The text says so at that place.
	Cut                  bool
	LeftBytes, LeftLines int
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
	options  ViewOptions
	view     View
	pieces   []piece
	withheld bool // a block is not for models
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
		c.pieces = append(c.pieces, piece{raw: content})
	}
	if more > 0 {
		c.say("[%d more content blocks of %d bytes left out]", more, moreBytes)
		c.view.Cut, c.view.LeftBytes = true, moreBytes
	}
	if structured != nil && !jsontext.IsNull(structured) && !c.said(structured) {
		c.pieces = append(c.pieces, piece{raw: structured})
	}
	if len(c.pieces) == 0 && !c.withheld {
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
	if !forModels(b.annotations) {
		c.withheld = true
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

// forModels reports whether a block is for models. A block without annotation, or with one that cannot be parsed, is
// for everyone.
func forModels(annotations json.RawMessage) bool {
	listed, ours := false, false
	jsontext.Elements(jsontext.Get(annotations, "audience"), func(v json.RawMessage) bool {
		listed = true
		ours = ours || jsontext.String(v) == "assistant"
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

// pictured describes data in base64 without decoding all of it: its type, its size, and its width and height if the
// first bytes contain them.
func pictured(mime, data json.RawMessage) string {
	bytes := max(len(data)-2, 0)
	padding := 0
	for padding < 2 && bytes > padding && data[len(data)-2-padding] == '=' {
		padding++
	}
	text := fmt.Sprintf("%d bytes", max(bytes*3/4-padding, 0))
	start, _, _ := piece{token: data}.head(40)
	if width, height := pixels(start); width > 0 {
		text = fmt.Sprintf("%d x %d pixels, %s", width, height, text)
	}
	return strings.TrimPrefix(described("", mime)+", ", ", ") + text
}

// pixels returns the size of a PNG or GIF image from its first bytes, or zeros.
func pixels(start string) (width, height int) {
	b, err := base64.StdEncoding.DecodeString(start[:len(start)/4*4])
	switch {
	case err != nil:
	case len(b) >= 24 && string(b[:8]) == "\x89PNG\r\n\x1a\n":
		return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case len(b) >= 10 && string(b[:4]) == "GIF8":
		return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	}
	return 0, 0
}

// Tokens estimates the number of tokens of a text of a number of bytes: ceil(bytes / 3.2). JSON and code have 3 to 3.5
// characters a token, and text in Chinese or Japanese about one character, of 3 bytes. No tokenizer is used: each model
// has another, and the hub does not know which model reads the text.
func Tokens(bytes int) int {
	return bytes/16*5 + (bytes%16*5+15)/16
}

// BytesFor returns the largest number of bytes that Tokens estimates at most at a number of tokens.
func BytesFor(tokens int) int {
	return tokens/5*16 + tokens%5*16/5
}
