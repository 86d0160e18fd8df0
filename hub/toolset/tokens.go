package toolset

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
