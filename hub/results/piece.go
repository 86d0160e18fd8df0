package results

import (
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Piece is a part of a text.
type Piece struct {
	Text   string
	Offset int64 // in bytes
	Next   int64 // where the next one begins; 0: there is none
	Size   int64 // of the whole text
}

// PieceOf cuts a piece of at most limit bytes out of a text, between characters; at least one character, so that who
// reads on comes to the end. A limit of 0, or of more than bounds.PieceBytes, counts as that.
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

// atMost is the limit that counts for one that was asked for.
func atMost(limit int) int {
	if limit <= 0 || limit > bounds.PieceBytes {
		return bounds.PieceBytes
	}
	return limit
}

// Cut is the beginning of p, of at most limit bytes; at least one character.
func (p Piece) Cut(limit int) Piece {
	text := PieceOf(p.Text, 0, max(limit, 1)).Text
	if len(text) < len(p.Text) {
		p.Text, p.Next = text, p.Offset+int64(len(text))
	}
	return p
}

// beginning is where the character at i begins; i itself, where no UTF-8 text is.
func beginning[T ~string | ~[]byte](text T, i int) int {
	for at := i; at >= 0 && at > i-utf8.UTFMax && at < len(text); at-- {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	return i
}
