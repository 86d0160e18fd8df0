package offers

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Search says which entries of a list somebody wants to see. The zero value is all.
type Search struct {
	Query string // words that each entry has, whatever the case
	Limit int    // most entries that are given; 0: all
}

const (
	// searchedBytes is how much of each text of an entry is looked through.
	searchedBytes = 4 << 10
	// someBytes bounds what is given of a list with a Limit: a person looks at it.
	someBytes = 1 << 20
)

// Of gives the entries of a list that are wanted, and how many there are of them; of too many the first ones.
func Of[I any](s Search, all []I, texts func(I) (searched []string, definition string)) (some []I, matched int) {
	if s == (Search{}) {
		return all, len(all)
	}
	words := strings.Fields(strings.ToLower(bounds.Cut(s.Query, searchedBytes)))
	size, full := 0, false
	for _, info := range all {
		searched, definition := texts(info)
		if !hasAll(searched, words) {
			continue
		}
		matched++
		if s.Limit > 0 && !full {
			size += 2 * len(definition) // the parts of it that have fields, and the whole
			full = len(some) == s.Limit || size > someBytes && len(some) > 0
		}
		if !full {
			some = append(some, info)
		}
	}
	return some, matched
}

func hasAll(texts, words []string) bool {
	if len(words) == 0 {
		return true
	}
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(strings.ToLower(bounds.Cut(text, searchedBytes)))
		all.WriteByte('\n')
	}
	for _, word := range words {
		if !strings.Contains(all.String(), word) {
			return false
		}
	}
	return true
}

// ResourceTexts are what a resource is found by.
func ResourceTexts(r event.ResourceInfo) ([]string, string) {
	return []string{r.URI, r.Name, r.Title, r.Description, r.MIMEType}, r.Definition
}

// TemplateTexts are what a resource template is found by.
func TemplateTexts(t event.ResourceTemplateInfo) ([]string, string) {
	return []string{t.URITemplate, t.Name, t.Title, t.Description, t.MIMEType}, t.Definition
}

// PromptTexts are what a prompt template is found by.
func PromptTexts(p event.McpPromptInfo) ([]string, string) {
	return []string{p.Name, p.Title, p.Description}, p.Definition
}
