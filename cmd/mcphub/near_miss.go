package main

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/nearmiss"
)

// didYouMean is the end of a message about a word that names nothing: "; did you mean A or B?", "" when none of the
// words is near.
func didYouMean(word string, words []string) string {
	near := nearmiss.Of(word, words)
	if len(near) == 0 {
		return ""
	}
	for i, n := range near {
		near[i] = shortName(n)
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
