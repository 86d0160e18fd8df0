package ipc

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestModelTools: a host lists the tools for models, finds one, calls it by its name for models, and reads a long
// result in pieces.
func TestModelTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("0123456789 ñandú\n", 1000)
		server := fakeserver.New()
		server.ToolWith(`{"name":"read file","description":"Reads a file","inputSchema":{"type":"object",
			"properties":{"path":{"type":"string","$ref":"#/$defs/p"}},"$defs":{"p":{"minLength":1}}}}`,
			func(c *fakeserver.CallContext) { c.Text(long) })
		_, conn := realHub(t, server)
		models, hub := mcphubv1.NewModelToolServiceClient(conn), mcphubv1.NewMcpHubServiceClient(conn)
		ctx := t.Context()
		// Nothing is known before the server has been connected once.
		nothing, err := models.ListModelTools(ctx, &mcphubv1.ListModelToolsRequest{})
		if err != nil || len(nothing.GetTools()) != 0 {
			t.Fatalf("known before: %v, %v", nothing, err)
		}
		if _, err := mcphubv1.NewMcpServerServiceClient(conn).StartServer(ctx,
			&mcphubv1.StartServerRequest{Server: "s"}); err != nil {
			t.Fatal(err)
		}
		listed, err := models.ListModelTools(ctx, &mcphubv1.ListModelToolsRequest{})
		if err != nil || len(listed.GetTools()) != 1 {
			t.Fatalf("listed: %v, %v", listed, err)
		}
		tool := listed.GetTools()[0]
		if tool.GetServer() != "s" || tool.GetTool() != "read file" || !strings.HasPrefix(tool.GetName(), "s__read_file_") ||
			!json.Valid([]byte(tool.GetInputSchemaJson())) || strings.Contains(tool.GetInputSchemaJson(), "$ref") ||
			tool.GetTokens() == 0 || int64(tool.GetTokens()) != listed.GetTokens() {
			t.Errorf("the tool is %v", tool)
		}
		found, err := models.SearchTools(ctx, &mcphubv1.SearchToolsRequest{Query: "path of a file"})
		if err != nil || len(found.GetTools()) != 1 || found.GetTools()[0].GetName() != tool.GetName() {
			t.Errorf("found: %v, %v", found, err)
		}

		resp, err := hub.CallTool(ctx, &mcphubv1.CallToolRequest{ModelName: tool.GetName(), Preapproved: true,
			View: &mcphubv1.ViewRequest{MaxTokens: 500}})
		if err != nil {
			t.Fatal(err)
		}
		view := resp.GetView()
		if !view.GetCut() || view.GetResultId() == "" || len(view.GetText()) > 1600 ||
			!strings.Contains(view.GetText(), "kept as result "+view.GetResultId()) ||
			!strings.Contains(resp.GetResultJson(), strings.TrimSuffix(mustQuote(t, long), `"`)[1:]) {
			t.Errorf("the view is %.200v", view)
		}
		read := ""
		for r := (&mcphubv1.ReadResultRequest{ResultId: view.GetResultId(), Limit: 1001}); ; {
			piece, err := models.ReadResult(ctx, r)
			if err != nil || piece.GetSize() != int64(len(long)) || piece.GetOffset() != r.Offset {
				t.Fatalf("piece: %v, %v", piece, err)
			}
			read += piece.GetText()
			if r.Offset = piece.GetNextOffset(); r.Offset == 0 {
				break
			}
		}
		if read != long {
			t.Errorf("%d bytes were read, not what came", len(read))
		}
		original, err := models.ReadResult(ctx, &mcphubv1.ReadResultRequest{ResultId: view.GetResultId(), Original: true})
		if err != nil || original.GetText() != resp.GetResultJson() {
			t.Errorf("the original: %.80v, %v", original, err)
		}
		short, err := hub.CallTool(ctx, &mcphubv1.CallToolRequest{ModelName: tool.GetName(), Preapproved: true,
			View: &mcphubv1.ViewRequest{}})
		if err != nil || short.GetView().GetText() != long || short.GetView().GetResultId() != "" {
			t.Errorf("a view without a bound: %.80v, %v", short.GetView(), err)
		}
	})
}

func mustQuote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
