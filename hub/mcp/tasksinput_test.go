package mcp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/protocol"
)

// askingTaskInput returns the members of an answer to a poll that asks these questions.
func askingTaskInput(entries ...string) string {
	return `"status":"input_required","pollIntervalMs":100,"inputRequests":{` + strings.Join(entries, ",") + `}`
}

// TestTaskModernInputUndeclared: a call fails, and its task is cancelled, if it is asked for what it did not declare.
func TestTaskModernInputUndeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"llm":`+samplingInput))
		h := &recorder{}
		s := connect(t, f.Server, h, func(o *Options) {
			o.Capabilities = func() Capabilities { return Capabilities{ElicitationForm: true} }
		})
		if _, err := s.CallTool(background, (&told{}).request()); !isProtocolError(err) || len(h.questions()) != 0 {
			t.Errorf("got %v after %d questions", err, len(h.questions()))
		}
		synctest.Wait()
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}

// TestTaskModernInputTrouble: an error of the Handler ends the call, and the task with it.
func TestTaskModernInputTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput))
		trouble := errors.New("the page is gone")
		s := connect(t, f.Server, &recorder{ask: func(context.Context, *Question) (Answer, error) {
			return Answer{}, trouble
		}})
		if _, err := s.CallTool(background, (&told{}).request()); !errors.Is(err, trouble) {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}
