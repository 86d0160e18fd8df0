package toolset

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

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
