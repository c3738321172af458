package mcpserver

import "github.com/mark3labs/mcp-go/server"

// Protocol is what fixtures are added to.
func (s *Server) Protocol() *server.MCPServer { return s.mcp }
