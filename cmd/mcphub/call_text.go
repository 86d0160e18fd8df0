package main

import (
	"encoding/json"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// answerText gives the text of a result, and how many other parts there are.
func answerText(r answer) (text string, others int) {
	switch r.(type) {
	case *mcphubv1.ReadResourceResponse:
		return resourceText(r.GetResultJson())
	case *mcphubv1.GetMcpPromptResponse:
		return templateText(r.GetResultJson())
	}
	return resultText(r.GetResultJson())
}

// block is a content block of MCP, as far as its text goes.
type block struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// resultText gives the text blocks of a tools/call result, one after the other, and the number of the other blocks. A
// result without text is given as the JSON that it is.
func resultText(result string) (text string, others int) {
	var r struct {
		Content []block `json:"content"`
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return result, 0
	}
	var texts []string
	for _, b := range r.Content {
		if b.Type == "text" && b.Text != nil {
			texts = append(texts, *b.Text)
		} else {
			others++
		}
	}
	return joined(texts, others, result)
}

// resourceText gives the texts of a resources/read result. A blob is none, whatever its type says.
func resourceText(result string) (text string, others int) {
	var r struct {
		Contents []block `json:"contents"`
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return result, 0
	}
	var texts []string
	for _, c := range r.Contents {
		if c.Text != nil {
			texts = append(texts, *c.Text)
		} else {
			others++
		}
	}
	return joined(texts, others, result)
}

// templateText gives the messages of a prompts/get result, each with who says it.
func templateText(result string) (text string, others int) {
	var r struct {
		Messages []struct {
			Role    string `json:"role"`
			Content block  `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return result, 0
	}
	var texts []string
	for _, m := range r.Messages {
		if m.Content.Type == "text" && m.Content.Text != nil {
			texts = append(texts, m.Role+": "+*m.Content.Text)
		} else {
			others++
		}
	}
	return joined(texts, others, result)
}

// joined gives texts as one; without any, the JSON says more than nothing.
func joined(texts []string, others int, result string) (string, int) {
	if texts == nil {
		return result, 0
	}
	return strings.Join(texts, "\n"), others
}
