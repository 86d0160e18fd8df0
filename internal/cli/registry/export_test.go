package registry

import (
	"github.com/mcphub-go/mcphub/hub/catalog"
)

// What the tests see of the registry commands.
type (
	ShownServer = foundServer
	ShownWay    = offeredWay
)

const MostPages = maxFound/catalog.MaxPage + barePages
