// Package ports opens TCP ports and serves HTTP on them. Its servers use Open, NewServer, Serve and Health. Guard
// admits only requests with a token, and refuses requests from a web page of another origin. HTTPServer serves MCP
// on a limited number of connections.
package ports
