package toolset

// Tokens estimates how many tokens a text of so many bytes is: ceil(bytes / 3.2). JSON and code have 3 to 3.5
// characters a token, and text in Chinese or Japanese about one character, of 3 bytes. No tokenizer is asked: each
// model has another, and the hub does not know which one reads the text.
func Tokens(bytes int) int {
	return bytes/16*5 + (bytes%16*5+15)/16
}

// BytesFor is the most bytes that are within so many tokens.
func BytesFor(tokens int) int {
	return tokens/5*16 + tokens%5*16/5
}
