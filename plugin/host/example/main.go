// Command example is a complete host: it starts a hub, gives it a config file, asks the hub's questions on the
// terminal, and calls one tool. It ends when the call has ended. Ctrl+C cancels the call.
//
//	example .mcp.json SERVER TOOL '{"key":"value"}'
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/mcphub-go/mcphub/plugin/host"
	pb "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: example FILE SERVER TOOL ARGUMENTS")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file, server, tool, arguments string) error {
	hub, err := host.Open(ctx, host.Options{Command: "mcphub"}) // searched in PATH
	if err != nil {
		return err
	}
	defer func() { _ = hub.Close(ctx) }() // drains the hub, stops its servers, and ends its process

	// Use the scope "user" for a file of the user, and "host" for entries that your program wrote itself.
	config := &pb.ReloadConfigRequest{Sources: []*pb.ConfigSource{{Path: file, Scope: "workspace"}}}
	read, err := hub.Servers.ReloadConfig(ctx, config)
	if err != nil {
		return err
	}
	for _, p := range read.GetProblems() {
		log.Printf("%s:%d: %s", p.GetFile(), p.GetLine(), p.GetMessage())
	}
	window, err := attach(ctx, hub)
	if err != nil {
		return err
	}
	go ask(window) // runs until the window ends, at the latest with the hub

	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts // the reason is sent to the server
		_, _ = hub.Hub.CancelRequest(ctx, &pb.CancelRequestRequest{RequestId: "example-1", Reason: "Ctrl+C"})
	}()
	res, err := hub.Hub.CallTool(ctx, &pb.CallToolRequest{
		RequestId: "example-1", Server: server, Tool: tool, ArgumentsJson: arguments,
	})
	if failure, ok := host.ErrorOf(err); ok {
		return fmt.Errorf("%s: %s", failure.Reason, failure.Message)
	} else if err != nil {
		return err
	}
	fmt.Println(res.GetResultJson())
	return nil
}

// attach opens a window, and returns when the hub can ask questions in it.
func attach(ctx context.Context, hub *host.Client) (pb.EditorService_AttachClient, error) {
	window, err := hub.Editor.Attach(ctx)
	if err != nil {
		return nil, err
	}
	hello := &pb.Hello{Title: "example", PromptKinds: []pb.PromptKind{
		pb.PromptKind_PROMPT_KIND_TOOL_APPROVAL, pb.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	}}
	if err := window.Send(&pb.AttachRequest{Message: &pb.AttachRequest_Hello{Hello: hello}}); err != nil {
		return nil, err
	}
	for {
		message, err := window.Recv()
		if err != nil || message.GetSnapshot() != nil {
			return window, err
		}
	}
}

// ask shows the hub's questions, and answers with what the user types.
func ask(window pb.EditorService_AttachClient) {
	typed := bufio.NewScanner(os.Stdin)
	for {
		message, err := window.Recv()
		if err != nil {
			return
		}
		prompt := message.GetPromptOpened().GetPrompt()
		if prompt == nil {
			continue
		}
		if approval := prompt.GetToolApproval(); approval != nil {
			fmt.Printf("May %s be called with %s? y or n\n", approval.GetTool(), approval.GetArgumentsJson())
		} else {
			fmt.Printf("May this be started? y or n\n%v\n", prompt.GetServerLaunch())
		}
		answer := &pb.PromptAnswer{PromptId: prompt.GetPromptId(), Action: &pb.PromptAnswer_Decline{}}
		if typed.Scan() && typed.Text() == "y" {
			answer.Action = &pb.PromptAnswer_Accept{}
		}
		_ = window.Send(&pb.AttachRequest{Message: &pb.AttachRequest_AnswerPrompt{AnswerPrompt: answer}})
	}
}
