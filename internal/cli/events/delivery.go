package events

import (
	"github.com/mcphub-go/mcphub/internal/cli/console"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// SentText returns what is known about the delivery of a cancel to the server, "" if there is nothing to say. No text
// says that the server has stopped.
func SentText(delivery mcphubv1.CancelDelivery, failure string) string {
	switch delivery {
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED:
		return "sent to the server"
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING:
		return "being sent to the server"
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED:
		return "could not be sent to the server: " + console.OrDash(failure)
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED:
		return "not needed: nothing was open at the server"
	}
	return ""
}

// cancelSentText is SentText for the end of a request. It also says whether the server may go on.
func cancelSentText(e *mcphubv1.McpRequestCancelled) string {
	delivery := e.GetDelivery()
	switch {
	case e.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING:
		return ""
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED && e.GetWireIdJson() == "":
		return "nothing had been sent"
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED:
		return "nothing was open at the server"
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_UNSPECIFIED && e.GetServerNotified():
		delivery = mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED
	}
	text := SentText(delivery, e.GetDeliveryError())
	switch {
	case !e.GetServerMayContinue():
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED:
		text += "; it may still work on it"
	case text == "":
		text = "the server may still work on it"
	default:
		text += ", which may still work on it"
	}
	return text
}
