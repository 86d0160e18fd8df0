package ipc

import (
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestReadRequestAnswers: a host and a window ask for the same piece and get the same answer, or error.
func TestReadRequestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		conn := serve(t, h, Options{})
		client := mcphubv1.NewMcpHubServiceClient(conn)
		ask := &mcphubv1.ReadRequestRequest{RequestId: "r", Part: mcphubv1.RequestPart_REQUEST_PART_RESULT, Offset: 3,
			Limit: 7}
		want := &mcphubv1.ReadRequestResponse{Text: "r 1 3 7", Offset: 3, NextOffset: 4, Size: 99}
		if got, err := client.ReadRequest(t.Context(), ask); err != nil || !proto.Equal(got, want) {
			t.Errorf("a host got %v, %v", got, err)
		}
		raw := openRaw(t, conn, &mcphubv1.Hello{})
		raw.send(callOf("m", ask))
		if got := raw.reply("m"); !proto.Equal(responseOf[*mcphubv1.ReadRequestResponse](got), want) {
			t.Errorf("a window got %v", got)
		}
		for name, bad := range map[string]*mcphubv1.ReadRequestRequest{
			"no id": {Part: 1}, "no part": {RequestId: "r"}, "an unknown part": {RequestId: "r", Part: 9},
			"a negative offset": {RequestId: "r", Part: 1, Offset: -1},
		} {
			if _, err := client.ReadRequest(t.Context(), bad); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
		h.failure = &event.Error{Code: event.CodeNotFound, Reason: event.ReasonRequestNotKept, Message: "gone"}
		if _, err := client.ReadRequest(t.Context(), ask); status.Code(err) != codes.NotFound {
			t.Errorf("what is gone: %v", err)
		}
		raw.send(callOf("n", ask))
		if got := raw.reply("n").GetError(); got.GetReason() != event.ReasonRequestNotKept {
			t.Errorf("what is gone: %v", got)
		}
		raw.close()
	})
}

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
