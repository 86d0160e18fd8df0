package ipc

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestWindowReadsAnyResult: a window reads the result of a host's call, which is too long for events, in pieces.
func TestWindowReadsAnyResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("0123456789 ñandú ", 200_000)
		server := fakeserver.New()
		server.Tool("long", func(c *fakeserver.CallContext) { c.Text(long) })
		_, conn := realHub(t, server)
		resp, err := mcphubv1.NewMcpHubServiceClient(conn).CallTool(t.Context(), &mcphubv1.CallToolRequest{RequestId: "r",
			Server: "s", Tool: "long", Preapproved: true})
		if err != nil {
			t.Fatal(err)
		}
		raw := openRaw(t, conn, &mcphubv1.Hello{MaxHistory: 1})
		end := raw.snapshot().GetHistory()[0].GetFinished()
		if end.GetResultJson() != "" || end.GetResultSizeBytes() != int64(len(resp.GetResultJson())) {
			t.Errorf("the history tells %d bytes of %d", len(end.GetResultJson()), end.GetResultSizeBytes())
		}
		var read strings.Builder
		for offset := int64(0); ; {
			raw.send(callOf("m", &mcphubv1.ReadRequestRequest{RequestId: "r", Part: mcphubv1.RequestPart_REQUEST_PART_RESULT,
				Offset: offset}))
			piece := responseOf[*mcphubv1.ReadRequestResponse](raw.reply("m"))
			if piece == nil {
				t.Fatal("no piece")
			}
			read.WriteString(piece.GetText())
			if offset = piece.GetNextOffset(); offset == 0 {
				break
			}
		}
		if read.String() != resp.GetResultJson() {
			t.Errorf("%d bytes were read, not what came", read.Len())
		}
		raw.close()
	})
}
