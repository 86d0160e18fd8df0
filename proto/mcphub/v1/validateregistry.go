package mcphubv1

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// This file is written by hand, as validate.go is: the checks of the requests that look for servers.

const (
	maxAddress     = 2048
	maxSearch      = 200 // characters
	maxCursor      = 4096
	maxPageSize    = 100
	maxGivenInputs = 200
	maxGivenBytes  = 1 << 20
)

// Validate implements the validator of the gRPC server.
func (x *SearchRegistryRequest) Validate() error {
	err := first(atMost("registry_url", x.GetRegistryUrl(), maxAddress), atMost("cursor", x.GetCursor(), maxCursor))
	if utf8.RuneCountInString(x.GetQuery()) > maxSearch {
		err = first(err, fmt.Errorf("query: longer than %d characters", maxSearch))
	}
	if x.GetPageSize() < 0 || x.GetPageSize() > maxPageSize {
		err = first(err, fmt.Errorf("page_size: must be between 0 and %d", maxPageSize))
	}
	return err
}

// Validate implements the validator of the gRPC server.
func (x *GetRegistryServerRequest) Validate() error {
	return first(atMost("registry_url", x.GetRegistryUrl(), maxAddress), required("name", x.GetName(), maxLabel),
		atMost("version", x.GetVersion(), maxLabel))
}

// Validate implements the validator of the gRPC server.
func (x *ReadBundleRequest) Validate() error {
	switch from := x.GetFrom().(type) {
	case *ReadBundleRequest_Path:
		return required("path", from.Path, maxURI)
	case *ReadBundleRequest_ProposalId:
		return requiredID("proposal_id", from.ProposalId)
	}
	return errors.New("from: set one of path and proposal_id")
}

// Validate implements the validator of the gRPC server.
func (x *FillProposalRequest) Validate() error {
	err := requiredID("proposal_id", x.GetProposalId())
	size := 0
	for id, values := range x.GetValues() {
		size += len(id)
		for _, v := range values.GetValues() {
			size += len(v) + 1
		}
	}
	if size > maxGivenBytes || len(x.GetValues()) > maxGivenInputs {
		err = first(err, fmt.Errorf("values: more than %d, or longer than %d bytes together", maxGivenInputs, maxGivenBytes))
	}
	return err
}
