package ipc

import (
	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// enum pairs the words of the hub with those of the contract. Neither side relies on the numbers of the other.
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

// proto gives the contract's word, UNSPECIFIED for one that the hub does not say.
func (e enum[H, P]) proto(h H) P { return e.to[h] }

// hub gives the hub's word, its zero value for UNSPECIFIED.
func (e enum[H, P]) hub(p P) H { return e.from[p] }

var directions = pairs(map[hub.Direction]mcphubv1.RequestDirection{
	hub.Outgoing: mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING,
	hub.Incoming: mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING,
})

var requestStates = pairs(map[hub.RequestState]mcphubv1.RequestState{
	hub.StateQueued:           mcphubv1.RequestState_REQUEST_STATE_QUEUED,
	hub.StateAwaitingApproval: mcphubv1.RequestState_REQUEST_STATE_AWAITING_APPROVAL,
	hub.StateConnecting:       mcphubv1.RequestState_REQUEST_STATE_CONNECTING,
	hub.StateRunning:          mcphubv1.RequestState_REQUEST_STATE_RUNNING,
	hub.StateAwaitingInput:    mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT,
	hub.StateCancelling:       mcphubv1.RequestState_REQUEST_STATE_CANCELLING,
	hub.StateDone:             mcphubv1.RequestState_REQUEST_STATE_DONE,
	hub.StateFailed:           mcphubv1.RequestState_REQUEST_STATE_FAILED,
	hub.StateCancelled:        mcphubv1.RequestState_REQUEST_STATE_CANCELLED,
	hub.StateTaskWorking:      mcphubv1.RequestState_REQUEST_STATE_TASK_WORKING,
})

var origins = pairs(map[hub.Origin]mcphubv1.Origin{
	hub.OriginUser:      mcphubv1.Origin_ORIGIN_USER,
	hub.OriginHost:      mcphubv1.Origin_ORIGIN_HOST,
	hub.OriginServer:    mcphubv1.Origin_ORIGIN_SERVER,
	hub.OriginTimeout:   mcphubv1.Origin_ORIGIN_TIMEOUT,
	hub.OriginParent:    mcphubv1.Origin_ORIGIN_PARENT,
	hub.OriginTransport: mcphubv1.Origin_ORIGIN_TRANSPORT,
	hub.OriginPolicy:    mcphubv1.Origin_ORIGIN_POLICY,
	hub.OriginShutdown:  mcphubv1.Origin_ORIGIN_SHUTDOWN,
})

var outcomes = pairs(map[hub.Outcome]mcphubv1.CancelOutcome{
	hub.OutcomeCancelling:      mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING,
	hub.OutcomeAlreadyFinished: mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED,
	hub.OutcomeUnknown:         mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN,
})

var deliveries = pairs(map[hub.CancelDelivery]mcphubv1.CancelDelivery{
	hub.DeliveryNotNeeded: mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED,
	hub.DeliveryPending:   mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING,
	hub.DeliveryDelivered: mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
	hub.DeliveryFailed:    mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED,
})

var eras = pairs(map[hub.Era]mcphubv1.Era{
	hub.EraLegacy: mcphubv1.Era_ERA_LEGACY,
	hub.EraModern: mcphubv1.Era_ERA_MODERN,
})

var promptKinds = pairs(map[hub.PromptKind]mcphubv1.PromptKind{
	hub.PromptToolApproval:    mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
	hub.PromptSampling:        mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
	hub.PromptElicitationForm: mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	hub.PromptElicitationURL:  mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
	hub.PromptSignIn:          mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
	hub.PromptServerLaunch:    mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	hub.PromptConfigInput:     mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT,
})

var promptCauses = pairs(map[hub.PromptCause]mcphubv1.PromptCause{
	hub.CauseAnswered:   mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED,
	hub.CauseDeclined:   mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED,
	hub.CauseDismissed:  mcphubv1.PromptCause_PROMPT_CAUSE_DISMISSED,
	hub.CauseWithdrawn:  mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN,
	hub.CauseParent:     mcphubv1.PromptCause_PROMPT_CAUSE_PARENT,
	hub.CauseTimeout:    mcphubv1.PromptCause_PROMPT_CAUSE_TIMEOUT,
	hub.CauseServerGone: mcphubv1.PromptCause_PROMPT_CAUSE_SERVER_GONE,
	hub.CauseShutdown:   mcphubv1.PromptCause_PROMPT_CAUSE_SHUTDOWN,
	hub.CauseSuperseded: mcphubv1.PromptCause_PROMPT_CAUSE_SUPERSEDED,
})

// UNSPECIFIED is ScopeOnce, the hub's zero value.
var approvalScopes = pairs(map[hub.ApprovalScope]mcphubv1.ApprovalScope{
	hub.ScopeOnce:      mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE,
	hub.ScopeWindow:    mcphubv1.ApprovalScope_APPROVAL_SCOPE_WINDOW,
	hub.ScopeAlways:    mcphubv1.ApprovalScope_APPROVAL_SCOPE_ALWAYS,
	hub.ScopeWorkspace: mcphubv1.ApprovalScope_APPROVAL_SCOPE_WORKSPACE,
})

var serverStates = pairs(map[hub.ServerState]mcphubv1.ServerState{
	hub.ServerStopped:    mcphubv1.ServerState_SERVER_STATE_STOPPED,
	hub.ServerConnecting: mcphubv1.ServerState_SERVER_STATE_CONNECTING,
	hub.ServerReady:      mcphubv1.ServerState_SERVER_STATE_READY,
	hub.ServerStopping:   mcphubv1.ServerState_SERVER_STATE_STOPPING,
	hub.ServerFailed:     mcphubv1.ServerState_SERVER_STATE_FAILED,
	hub.ServerDisabled:   mcphubv1.ServerState_SERVER_STATE_DISABLED,
	hub.ServerBroken:     mcphubv1.ServerState_SERVER_STATE_BROKEN,
	hub.ServerGivenUp:    mcphubv1.ServerState_SERVER_STATE_GIVEN_UP,
})

var serverStarts = pairs(map[hub.ServerStart]mcphubv1.ServerStart{
	hub.StartLazy:  mcphubv1.ServerStart_SERVER_START_LAZY,
	hub.StartEager: mcphubv1.ServerStart_SERVER_START_EAGER,
})

var launchConsents = pairs(map[hub.LaunchConsent]mcphubv1.LaunchConsent{
	hub.LaunchNeeded:   mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED,
	hub.LaunchAsking:   mcphubv1.LaunchConsent_LAUNCH_CONSENT_ASKING,
	hub.LaunchGiven:    mcphubv1.LaunchConsent_LAUNCH_CONSENT_GIVEN,
	hub.LaunchDeclined: mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED,
})

var rememberedKinds = pairs(map[hub.RememberedKind]mcphubv1.RememberedKind{
	hub.RememberedApproval: mcphubv1.RememberedKind_REMEMBERED_KIND_TOOL_APPROVAL,
	hub.RememberedLaunch:   mcphubv1.RememberedKind_REMEMBERED_KIND_SERVER_LAUNCH,
	hub.RememberedInput:    mcphubv1.RememberedKind_REMEMBERED_KIND_CONFIG_INPUT,
})

var serverTransports = pairs(map[hub.Transport]mcphubv1.ServerTransport{
	hub.TransportStdio: mcphubv1.ServerTransport_SERVER_TRANSPORT_STDIO,
	hub.TransportHTTP:  mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP,
	hub.TransportSSE:   mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE,
})

var signInStates = pairs(map[hub.SignInState]mcphubv1.SignInState{
	hub.SignInNeeded:   mcphubv1.SignInState_SIGN_IN_STATE_NEEDED,
	hub.SignInAsking:   mcphubv1.SignInState_SIGN_IN_STATE_ASKING,
	hub.SignInSignedIn: mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN,
})

var policies = pairs(map[hub.Policy]mcphubv1.ApprovalPolicy{
	hub.PolicyAllow: mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ALLOW,
	hub.PolicyAsk:   mcphubv1.ApprovalPolicy_APPROVAL_POLICY_ASK,
	hub.PolicyDeny:  mcphubv1.ApprovalPolicy_APPROVAL_POLICY_DENY,
})
