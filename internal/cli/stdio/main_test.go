package stdio_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
)

func TestMain(m *testing.M) { doortest.Main(m) }
