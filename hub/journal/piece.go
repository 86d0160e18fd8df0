package journal

import (
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Piece is a part of a text.
type Piece struct {
	Text   string
	Offset int64 // in bytes
	Next   int64 // where the next piece begins; 0 if there is none
	Size   int64 // bytes of the whole text
}

// PieceOf returns a piece of at most limit bytes of a text. It begins and ends between characters, and has at least one
// character, so that a reader comes to the end. A limit of 0, or of more than bounds.PieceBytes, means
// bounds.PieceBytes.
func PieceOf[T ~string | ~[]byte](text T, offset int64, limit int) Piece {
	limit = atMost(limit)
	size := len(text)
	from := int(min(max(offset, 0), int64(size)))
	from = beginning(text, from)
	to := max(beginning(text, min(from+limit, size)), from)
	if to == from && from < size {
		_, n := utf8.DecodeRuneInString(string(text[from:min(from+utf8.UTFMax, size)]))
		to = from + n
	}
	p := Piece{Text: string(text[from:to]), Offset: int64(from), Size: int64(size)}
	if to < size {
		p.Next = int64(to)
	}
	return p
}

// atMost returns the limit that counts if limit was asked for.
func atMost(limit int) int {
	if limit <= 0 || limit > bounds.PieceBytes {
		return bounds.PieceBytes
	}
	return limit
}

// Cut returns the beginning of p, at most limit bytes of it, but at least one character.
func (p Piece) Cut(limit int) Piece {
	text := PieceOf(p.Text, 0, max(limit, 1)).Text
	if len(text) < len(p.Text) {
		p.Text, p.Next = text, p.Offset+int64(len(text))
	}
	return p
}

// beginning returns where the character at i begins, or i if the text there is not UTF-8.
func beginning[T ~string | ~[]byte](text T, i int) int {
	for at := i; at >= 0 && at > i-utf8.UTFMax && at < len(text); at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return i
}
