package offers

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Search selects entries of a list. The zero value selects all.
type Search struct {
	Query string // words that an entry must hold, in any case
	Limit int    // most entries that are returned; 0: all
}

const (
	// searchedBytes is how much of each text of an entry is searched.
	searchedBytes = 4 << 10
	// someBytes bounds what is returned of a list with a Limit, since a person looks at it.
	someBytes = 1 << 20
)

// Select returns the entries of all that s selects, and how many entries match. If too many match, it returns the first
// ones. texts returns what an entry is searched by, and its definition.
func Select[I any](s Search, all []I, texts func(I) (searched []string, definition string)) (some []I, matched int) {
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
			size += 2 * len(definition) // it is sent as a whole, and most of it again in fields
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

// ResourceTexts returns what a resource is searched by, and its definition, for Select.
func ResourceTexts(r event.ResourceInfo) ([]string, string) {
	return []string{r.URI, r.Name, r.Title, r.Description, r.MIMEType}, r.Definition
}

// TemplateTexts returns what a resource template is searched by, and its definition, for Select.
func TemplateTexts(t event.ResourceTemplateInfo) ([]string, string) {
	return []string{t.URITemplate, t.Name, t.Title, t.Description, t.MIMEType}, t.Definition
}

// PromptTexts returns what a prompt template is searched by, and its definition, for Select.
func PromptTexts(p event.McpPromptInfo) ([]string, string) {
	return []string{p.Name, p.Title, p.Description}, p.Definition
}
