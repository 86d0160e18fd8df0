package mcphubv1

import "fmt"

// This file is written by hand, as validate.go is: the checks of the requests about gateways.

// Validate implements the validator of the gRPC server.
func (x *OpenGatewayRequest) Validate() error {
	if x.GetPort() > 65535 {
		return fmt.Errorf("port is %d: a port is a number from 1 to 65535, or 0 for a free one", x.GetPort())
	}
	return first(
		atMost("title", x.GetTitle(), maxLabel),
		known("approval", x.GetApproval()),
		known("questions", x.GetQuestions()),
		known("tools", x.GetTools()),
		atMost("profile", x.GetProfile(), maxName),
		atMost("cancel_reason", x.GetCancelReason(), maxLabel),
	)
}

// Validate implements the validator of the gRPC server.
func (x *CloseGatewayRequest) Validate() error { return requiredID("gateway_id", x.GetGatewayId()) }
