package hub

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

func sameFilter(a, b config.ToolFilter) bool {
	return slices.Equal(a.Only, b.Only) && (a.Only == nil) == (b.Only == nil) && slices.Equal(a.Hidden, b.Hidden)
}
