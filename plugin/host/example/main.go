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
		log.Printf("%s:%d: %s %s", p.GetFile(), p.GetLine(), p.GetKey(), p.GetMessage())
	}
	window, prompts, err := attach(ctx, hub)
	if err != nil {
		return err
	}
	calling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { // runs until the window ends, at the latest with the hub
		if err := ask(window, prompts); err != nil {
			stop(err)
		}
	}()

	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts // the reason is sent to the server
		_, _ = hub.Hub.CancelRequest(ctx, &pb.CancelRequestRequest{RequestId: "example-1", Reason: "Ctrl+C"})
	}()
	res, err := hub.Hub.CallTool(calling, &pb.CallToolRequest{
		RequestId: "example-1", Server: server, Tool: tool, ArgumentsJson: arguments,
	})
	if calling.Err() != nil {
		return context.Cause(calling)
	}
	if failure, ok := host.ErrorOf(err); ok {
		return fmt.Errorf("%s: %s", failure.Reason, failure.Message)
	} else if err != nil {
		return err
	}
	fmt.Println(res.GetResultJson())
	return nil
}

// attach opens a window, and returns when the hub can ask questions in it, with those that are open already.
func attach(ctx context.Context, hub *host.Client) (pb.EditorService_AttachClient, []*pb.Prompt, error) {
	window, err := hub.Editor.Attach(ctx)
	if err != nil {
		return nil, nil, err
	}
	hello := &pb.Hello{Title: "example", PromptKinds: []pb.PromptKind{
		pb.PromptKind_PROMPT_KIND_TOOL_APPROVAL, pb.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	}}
	if err := window.Send(&pb.AttachRequest{Message: &pb.AttachRequest_Hello{Hello: hello}}); err != nil {
		return nil, nil, err
	}
	for {
		message, err := window.Recv()
		if err != nil || message.GetSnapshot() != nil {
			return window, message.GetSnapshot().GetPrompts(), err
		}
	}
}

// ask shows the hub's questions, and answers with what the user types. It returns an error if the hub refuses an
// answer: then the question is still open, and whoever waits for it would wait for ever.
func ask(window pb.EditorService_AttachClient, prompts []*pb.Prompt) error {
	typed := bufio.NewScanner(os.Stdin)
	for {
		for _, prompt := range prompts {
			if approval := prompt.GetToolApproval(); approval != nil {
				fmt.Printf("May %s be called with %s? y or n\n", approval.GetTool(), approval.GetArgumentsJson())
			} else {
				fmt.Printf("May this be started? y or n\n%v\n", prompt.GetServerLaunch())
			}
			answer := host.Decline(prompt, "")
			if typed.Scan() && typed.Text() == "y" {
				answer = host.Accept(prompt)
			}
			_ = window.Send(&pb.AttachRequest{MessageId: prompt.GetPromptId(), // without an id there is no reply
				Message: &pb.AttachRequest_AnswerPrompt{AnswerPrompt: answer}})
		}
		message, err := window.Recv()
		if err != nil {
			return nil
		}
		if refused := message.GetReply().GetError(); refused != nil {
			return fmt.Errorf("the answer was refused: %s: %s", refused.GetReason(), refused.GetMessage())
		}
		prompts = nil
		if opened := message.GetPromptOpened().GetPrompt(); opened != nil {
			prompts = []*pb.Prompt{opened}
		}
	}
}
