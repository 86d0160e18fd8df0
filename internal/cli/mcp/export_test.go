package mcp

// ClientNames returns the clients of --print-config.
var ClientNames = clientNames

// ClientFile returns the file with the settings of a client.
func ClientFile(client string) string { return clients[client].file }
