package ipc

import (
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// enum maps the hub's constants to those of the contract. Neither side relies on the numbers of the other.
type enum[H, P comparable] struct {
	to   map[H]P
	from map[P]H
}

func pairs[H, P comparable](to map[H]P) enum[H, P] {
	e := enum[H, P]{to: to, from: make(map[P]H, len(to))}
	for h, p := range to {
		e.from[p] = h
	}
	return e
}

// proto returns the contract's constant, or UNSPECIFIED if h has no counterpart.
func (e enum[H, P]) proto(h H) P { return e.to[h] }

// hub returns the hub's constant, or its zero value for UNSPECIFIED.
func (e enum[H, P]) hub(p P) H { return e.from[p] }

var directions = pairs(map[event.Direction]mcphubv1.RequestDirection{
	event.Outgoing: mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING,
	event.Incoming: mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING,
})

var requestStates = pairs(map[event.RequestState]mcphubv1.RequestState{
	event.StateQueued:           mcphubv1.RequestState_REQUEST_STATE_QUEUED,
	event.StateAwaitingApproval: mcphubv1.RequestState_REQUEST_STATE_AWAITING_APPROVAL,
	event.StateConnecting:       mcphubv1.RequestState_REQUEST_STATE_CONNECTING,
	event.StateRunning:          mcphubv1.RequestState_REQUEST_STATE_RUNNING,
	event.StateAwaitingInput:    mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT,
	event.StateCancelling:       mcphubv1.RequestState_REQUEST_STATE_CANCELLING,
	event.StateDone:             mcphubv1.RequestState_REQUEST_STATE_DONE,
	event.StateFailed:           mcphubv1.RequestState_REQUEST_STATE_FAILED,
	event.StateCancelled:        mcphubv1.RequestState_REQUEST_STATE_CANCELLED,
	event.StateTaskWorking:      mcphubv1.RequestState_REQUEST_STATE_TASK_WORKING,
})

var origins = pairs(map[event.Origin]mcphubv1.Origin{
	event.OriginUser:      mcphubv1.Origin_ORIGIN_USER,
	event.OriginHost:      mcphubv1.Origin_ORIGIN_HOST,
	event.OriginServer:    mcphubv1.Origin_ORIGIN_SERVER,
	event.OriginTimeout:   mcphubv1.Origin_ORIGIN_TIMEOUT,
	event.OriginParent:    mcphubv1.Origin_ORIGIN_PARENT,
	event.OriginTransport: mcphubv1.Origin_ORIGIN_TRANSPORT,
	event.OriginPolicy:    mcphubv1.Origin_ORIGIN_POLICY,
	event.OriginShutdown:  mcphubv1.Origin_ORIGIN_SHUTDOWN,
})

var outcomes = pairs(map[event.Outcome]mcphubv1.CancelOutcome{
	event.OutcomeCancelling:      mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING,
	event.OutcomeAlreadyFinished: mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED,
	event.OutcomeUnknown:         mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN,
})

var deliveries = pairs(map[event.CancelDelivery]mcphubv1.CancelDelivery{
	event.DeliveryNotNeeded: mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED,
	event.DeliveryPending:   mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING,
	event.DeliveryDelivered: mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
	event.DeliveryFailed:    mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED,
})

var eras = pairs(map[event.Era]mcphubv1.Era{
	event.EraLegacy: mcphubv1.Era_ERA_LEGACY,
	event.EraModern: mcphubv1.Era_ERA_MODERN,
})

var promptKinds = pairs(map[event.PromptKind]mcphubv1.PromptKind{
	event.PromptToolApproval:    mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
	event.PromptSampling:        mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
	event.PromptElicitationForm: mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	event.PromptElicitationURL:  mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
	event.PromptSignIn:          mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
	event.PromptServerLaunch:    mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	event.PromptConfigInput:     mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT,
})

var promptCauses = pairs(map[event.PromptCause]mcphubv1.PromptCause{
	event.CauseAnswered:   mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED,
	event.CauseDeclined:   mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED,
	event.CauseDismissed:  mcphubv1.PromptCause_PROMPT_CAUSE_DISMISSED,
	event.CauseWithdrawn:  mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN,
	event.CauseParent:     mcphubv1.PromptCause_PROMPT_CAUSE_PARENT,
	event.CauseTimeout:    mcphubv1.PromptCause_PROMPT_CAUSE_TIMEOUT,
	event.CauseServerGone: mcphubv1.PromptCause_PROMPT_CAUSE_SERVER_GONE,
	event.CauseShutdown:   mcphubv1.PromptCause_PROMPT_CAUSE_SHUTDOWN,
	event.CauseSuperseded: mcphubv1.PromptCause_PROMPT_CAUSE_SUPERSEDED,
})

// UNSPECIFIED is ScopeOnce, the hub's zero value.
var approvalScopes = pairs(map[event.ApprovalScope]mcphubv1.ApprovalScope{
	event.ScopeOnce:      mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE,
	event.ScopeWindow:    mcphubv1.ApprovalScope_APPROVAL_SCOPE_WINDOW,
	event.ScopeAlways:    mcphubv1.ApprovalScope_APPROVAL_SCOPE_ALWAYS,
	event.ScopeWorkspace: mcphubv1.ApprovalScope_APPROVAL_SCOPE_WORKSPACE,
})

var serverStates = pairs(map[event.ServerState]mcphubv1.ServerState{
	event.ServerStopped:    mcphubv1.ServerState_SERVER_STATE_STOPPED,
	event.ServerConnecting: mcphubv1.ServerState_SERVER_STATE_CONNECTING,
	event.ServerReady:      mcphubv1.ServerState_SERVER_STATE_READY,
	event.ServerStopping:   mcphubv1.ServerState_SERVER_STATE_STOPPING,
	event.ServerFailed:     mcphubv1.ServerState_SERVER_STATE_FAILED,
	event.ServerDisabled:   mcphubv1.ServerState_SERVER_STATE_DISABLED,
	event.ServerBroken:     mcphubv1.ServerState_SERVER_STATE_BROKEN,
	event.ServerGivenUp:    mcphubv1.ServerState_SERVER_STATE_GIVEN_UP,
})

var serverStarts = pairs(map[event.ServerStart]mcphubv1.ServerStart{
	event.StartLazy:  mcphubv1.ServerStart_SERVER_START_LAZY,
	event.StartEager: mcphubv1.ServerStart_SERVER_START_EAGER,
})

var launchConsents = pairs(map[event.LaunchConsent]mcphubv1.LaunchConsent{
	event.LaunchNeeded:   mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED,
	event.LaunchAsking:   mcphubv1.LaunchConsent_LAUNCH_CONSENT_ASKING,
	event.LaunchGiven:    mcphubv1.LaunchConsent_LAUNCH_CONSENT_GIVEN,
	event.LaunchDeclined: mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED,
})

var rememberedKinds = pairs(map[event.RememberedKind]mcphubv1.RememberedKind{
	event.RememberedApproval: mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL,
	event.RememberedLaunch:   mcphubv1.RememberedKind_REMEMBERED_KIND_SERVER_LAUNCH,
	event.RememberedInput:    mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT,
})

var serverTransports = pairs(map[event.Transport]mcphubv1.ServerTransport{
	event.TransportStdio: mcphubv1.ServerTransport_SERVER_TRANSPORT_STDIO,
	event.TransportHTTP:  mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP,
	event.TransportSSE:   mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE,
})

var signInStates = pairs(map[event.SignInState]mcphubv1.SignInState{
	event.SignInNeeded:   mcphubv1.SignInState_SIGN_IN_STATE_NEEDED,
	event.SignInAsking:   mcphubv1.SignInState_SIGN_IN_STATE_ASKING,
	event.SignInSignedIn: mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN,
})

var policies = pairs(map[event.Policy]mcphubv1.ApprovalPolicy{
	event.PolicyAllow: mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ALLOW,
	event.PolicyAsk:   mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ASK,
	event.PolicyDeny:  mcphubv1.ApprovalPolicy_APPROVAL_POLICY_DENY,
})
