package mcphubv1

import "errors"

// This file is written by hand, as validate.go is: the checks of the requests about tools for models.

const maxQuery = 1024

// Validate implements the validator of the gRPC server.
func (x *ListModelToolsRequest) Validate() error {
	return atMost("profile", x.GetProfile(), maxName)
}

// Validate implements the validator of the gRPC server.
func (x *SearchToolsRequest) Validate() error {
	return first(required("query", x.GetQuery(), maxQuery), atMost("profile", x.GetProfile(), maxName))
}

// Validate implements the validator of the gRPC server.
func (x *ReadResultRequest) Validate() error {
	if x.GetOffset() < 0 {
		return errors.New("offset: must not be negative")
	}
	return requiredID("result_id", x.GetResultId())
}
