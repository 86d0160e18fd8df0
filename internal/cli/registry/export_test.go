package registry

import (
	"github.com/mcphub-go/mcphub/hub/catalog"
)

// MostPages is how many pages are asked for at most.
const MostPages = maxFound/catalog.MaxPage + barePages
