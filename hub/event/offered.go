package event

// ResourceInfo shows one resource. All of it is untrusted.
type ResourceInfo struct {
	Server, URI, Name, Title, Description, MIMEType string
	Size                                            *int64 // nil if the server does not say
	Definition                                      string // JSON text
}

// ResourceTemplateInfo shows one template for the URIs of further resources. All of it is untrusted.
type ResourceTemplateInfo struct {
	Server, URITemplate, Name, Title, Description, MIMEType string
	Definition                                              string   // JSON text
	Variables                                               []string // each name once, in the template's order
	Problem                                                 string   // why it is not a URI template; "" = it is one
}

// McpPromptInfo shows one prompt template of a server, which MCP calls a prompt. All of it is untrusted.
type McpPromptInfo struct {
	Server, Name, Title, Description string
	Arguments                        []McpPromptArgument
	Definition                       string // JSON text
}

// McpPromptArgument is one argument of a prompt template.
type McpPromptArgument struct {
	Name, Title, Description string
	Required                 bool
}
